/** What the cut stands on: whoever writes to a repository changes the mark of its container, and who reads does not. */
import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import { folderFor } from '../../../test/support/backups.ts';
import { bodyOf, makeProject } from '../../../test/support/factories.ts';
import { mustGit } from '../../../test/support/git.ts';
import { projectRepository, WRITES_WAIT_UNTIL } from '../../domain/repositories/index.ts';
import { connectToCopy } from '../../platform/db/database.ts';
import type { CopyConnection } from '../../platform/db/driver/copy.ts';
import { type Cut, takeCut } from './cut.ts';
import { holdWrites, keepMarks, letWrites, selectMarks } from './cut-queries.ts';

const t = useApp({ still: true });

async function connected<T>(
  work: (...each: [CopyConnection, CopyConnection, CopyConnection]) => Promise<T>,
): Promise<T> {
  const [row] = await t.app.services.database.sql<{ name: string }[]>`select current_database() as name`;
  const target = { ...inject('postgres'), database: row?.name ?? '' };
  const connect = () => connectToCopy(target, 'test');
  const [one, two, three] = [await connect(), await connect(), await connect()];
  try {
    return await work(one, two, three);
  } finally {
    for (const each of [one, two, three]) await each.end();
  }
}

async function makeRepository(): Promise<number> {
  const { id } = await makeProject(t);
  await commit(id, 'main', 'first');
  return id;
}

const commit = async (project: number, branch: string, path: string) =>
  bodyOf(
    await t.root(`POST /projects/${project}/repository/commits`, {
      body: {
        branch,
        commit_message: path,
        actions: [{ action: 'create', file_path: path, content: path }],
      },
    }),
    201,
  );

test('a use for writing changes the mark, whether or not it writes; reads change nothing', async () => {
  const [written, read] = [await makeRepository(), await makeRepository()];
  const { repositories } = t.app.services;
  await connected(async (one) => {
    const before = await selectMarks(one);
    await repositories.write(projectRepository(written), 'main', async () => undefined);
    const lease = await repositories.lease(projectRepository(read), 'read');
    const during = await selectMarks(one);
    await lease.release();
    const after = await selectMarks(one);
    expect(during.get(`project ${written}`)).not.toBe(before.get(`project ${written}`));
    expect(before.get(`project ${read}`)).toMatch(/^\(\d+,\d+\) \d+ \d+$/);
    expect(after.get(`project ${read}`)).toBe(before.get(`project ${read}`));
    const pushing = await repositories.lease(projectRepository(written), 'write');
    const begun = await selectMarks(one);
    await pushing.confirm();
    const confirmed = await selectMarks(one);
    await pushing.release();
    expect(begun.get(`project ${written}`)).not.toBe(after.get(`project ${written}`));
    expect(confirmed.get(`project ${written}`)).not.toBe(begun.get(`project ${written}`));
  });
});

test('no vacuum clears the mark that a write left, while marks are kept', async () => {
  const project = await makeRepository();
  const marks = async (one: CopyConnection) => (await selectMarks(one)).get(`project ${project}`);
  const write = () =>
    t.app.services.repositories.write(projectRepository(project), 'main', async () => undefined);
  await connected(async (one, two, keeper) => {
    await two.ask('vacuum freeze projects');
    const cleared = await marks(one);
    await write();
    await two.ask('vacuum freeze projects');
    // So a write would not be seen.
    expect(await marks(one)).toBe(cleared);
    await keepMarks(keeper);
    await write();
    const written = await marks(one);
    expect(written).not.toBe(cleared);
    await two.ask('vacuum freeze projects');
    expect(await marks(one)).toBe(written);
    await keeper.ask('commit');
  });
});

/** Takes a cut; `onAsk` hears each statement of the other connection first, and `onSnapshot` each of the snapshot's after it. */
async function cutOf(
  hear: { onAsk?(text: string): unknown; onSnapshot?(text: string): unknown },
  look: (cut: Cut, snapshot: CopyConnection) => Promise<void>,
): Promise<void> {
  const spool = mkdtempSync(join(folderFor('spool'), 'x-'));
  const { presence, config } = t.app.services;
  await presence.announce();
  await connected(async (one, two, keeper) => {
    const others: CopyConnection = {
      ...two,
      async ask(text) {
        await hear.onAsk?.(text);
        return two.ask(text);
      },
    };
    const snapshot: CopyConnection = {
      ...one,
      async ask(text) {
        const rows = await one.ask<never>(text);
        await hear.onSnapshot?.(text);
        return rows;
      },
    };
    const cut = await takeCut(
      { snapshot, others, keeper },
      {
        ...{ storages: config.storages, spool, processId: presence.id },
        onDamage: (_, problem) => expect.unreachable(problem),
      },
    );
    await look(cut, one);
    await one.ask('commit');
    await two.ask(`delete from repository_uses where purpose = 'read'`);
  });
}

function refsIn(cut: Cut, project: number): string {
  const stored = cut.stored.find(({ kind, container }) => kind === 'project' && container === `${project}`);
  if (!stored) throw new Error('the repository is not in the cut');
  return readFileSync(cut.refsOf(stored), 'utf8');
}

const headIn = (cut: Cut, project: number): string =>
  /^([0-9a-f]{40}) refs\/heads\/main$/m.exec(refsIn(cut, project))?.[1] ?? 'none';

const lastPush = async (connection: CopyConnection): Promise<string> =>
  (
    await connection.ask<{ payload: string }>(
      `select payload::text as payload from outbox where fact = 'repository_pushed' order by id desc limit 1`,
    )
  )[0]?.payload ?? '';

test('what is written before the snapshot is in both, and what would be written behind it waits', async () => {
  const project = await makeRepository();
  let early: Promise<unknown> | undefined;
  let late: Promise<unknown> | undefined;
  await cutOf(
    {
      async onAsk(text) {
        // The refs were read once.
        if (/writes_wait_until/.test(text) && early === undefined) {
          early = commit(project, 'main', 'early');
          await early;
        }
      },
      onSnapshot(text) {
        if (/from repositories r join/.test(text)) late ??= commit(project, 'main', 'late');
      },
    },
    async (cut, snapshot) => {
      expect(await lastPush(snapshot)).toContain(headIn(cut, project));
      await late;
      const { body } = await t.root(`GET /projects/${project}/repository/commits`);
      expect(body.map(({ title }: { title: string }) => title)).toEqual(['late', 'early', 'first']);
      expect(headIn(cut, project)).toBe(body[1].id);
    },
  );
});

test('a write that goes on is waited for: what it wrote is there, and it is over', async () => {
  const project = await makeRepository();
  const lease = await t.app.services.repositories.lease(projectRepository(project), 'write');
  let polls = 0;
  await cutOf(
    {
      async onAsk(text) {
        if (!/pushed is null/.test(text) || polls++ > 0) return;
        await mustGit(lease.git.folder, ['update-ref', 'refs/heads/late', 'refs/heads/main']);
        await lease.release();
      },
    },
    async (cut, snapshot) => {
      expect(refsIn(cut, project)).toMatch(/ refs\/heads\/late$/m);
      expect(await snapshot.ask(`select from repository_uses where purpose = 'write'`)).toEqual([]);
    },
  );
});

test('so is a write of a request that has said what it pushes', async () => {
  const project = await makeRepository();
  const ends = Promise.withResolvers<void>();
  let written: Promise<void> | undefined;
  await new Promise<void>((intended) => {
    written = t.app.services.repositories.write(projectRepository(project), 'main', async (_git, intend) => {
      await intend({ userId: 1, updates: [] });
      intended();
      await ends.promise;
    });
  });
  let polls = 0;
  await cutOf(
    {
      onAsk(text) {
        if (/pushed is null/.test(text) && polls++ === 3) ends.resolve();
      },
    },
    async (_, snapshot) => {
      expect(polls).toBeGreaterThan(3);
      expect(await snapshot.ask(`select from repository_uses where purpose = 'write'`)).toEqual([]);
    },
  );
  await written;
});

test('a push of git is not waited for, since the snapshot has what it is to record', async () => {
  const project = await makeRepository();
  const intent = { userId: 1, updates: [] };
  const lease = await t.app.services.repositories.lease(projectRepository(project), 'write', intent);
  let polls = 0;
  await cutOf(
    {
      onAsk(text) {
        if (/pushed is null/.test(text)) polls += 1;
      },
    },
    async (_, snapshot) => {
      expect(polls).toBe(1);
      const uses = await snapshot.ask(`select pushed from repository_uses where purpose = 'write'`);
      expect(uses).toEqual([{ pushed: intent }]);
    },
  );
  await lease.release();
});

test('writes that a dead backup holds go on when its time is over', async () => {
  const project = await makeRepository();
  await connected(async (one) => {
    await holdWrites(one, 200);
    await commit(project, 'main', 'waited');
    expect(await one.ask(`select from instance_facts where name = '${WRITES_WAIT_UNTIL}'`)).toHaveLength(1);
    await letWrites(one);
  });
});

test('a use that was being recorded when the marks were read is in the snapshot', async () => {
  const project = await makeRepository();
  const { presence, database } = t.app.services;
  const recording = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const recorded = database.sql.begin(async (tx) => {
    await tx`select from projects where id = ${project} for share`;
    await tx`
      insert into repository_uses (process_id, container, container_id, storage, purpose, began_at)
      values (${presence.id}::uuid, 'project', ${project}, 'default', 'write', clock_timestamp())`;
    begun.resolve();
    await recording.promise;
  });
  await begun.promise;
  let looks = 0;
  await cutOf(
    {
      onAsk(text) {
        if (/from pg_locks/.test(text) && looks++ === 1) recording.resolve();
      },
      // Too late: it is in no snapshot then.
      onSnapshot: () => recording.resolve(),
    },
    async (_, snapshot) => {
      const uses = await snapshot.ask(
        `select from repository_uses where purpose = 'write' and container_id = ${project}`,
      );
      expect(uses).toHaveLength(1);
    },
  );
  await recorded;
  await database.sql`delete from repository_uses`;
});
