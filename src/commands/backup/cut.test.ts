/** What the cut stands on: whoever writes to a repository changes the mark of its container, and who reads does not. */
import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import { folderFor } from '../../../test/support/backups.ts';
import { bodyOf, makeProject } from '../../../test/support/factories.ts';
import { mustGit } from '../../../test/support/git.ts';
import { projectRepository } from '../../domain/repositories/index.ts';
import { connectToCopy } from '../../platform/db/database.ts';
import type { CopyConnection } from '../../platform/db/driver/copy.ts';
import { takeCut } from './cut.ts';
import { selectMarks } from './cut-queries.ts';

const t = useApp({ still: true });

async function connected<T>(work: (...each: [CopyConnection, CopyConnection]) => Promise<T>): Promise<T> {
  const [row] = await t.app.services.database.sql<{ name: string }[]>`select current_database() as name`;
  const target = { ...inject('postgres'), database: row?.name ?? '' };
  const [one, two] = [await connectToCopy(target, 'test'), await connectToCopy(target, 'test')];
  try {
    return await work(one, two);
  } finally {
    await one.end();
    await two.end();
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

test('what is written between the snapshot and the refs makes another cut, which has both or neither', async () => {
  const project = await makeRepository();
  const spool = mkdtempSync(join(folderFor('spool'), 'x-'));
  const { storages } = t.app.services.config;
  await connected(async (one, two) => {
    let rounds = 0;
    /** Commits right after the first snapshot. */
    const snapshot: CopyConnection = {
      ...one,
      async ask(text) {
        const rows = await one.ask<never>(text);
        if (/from repositories r join/.test(text) && rounds++ === 0) await commit(project, 'main', 'between');
        return rows;
      },
    };
    await t.app.services.presence.announce();
    const cut = await takeCut(snapshot, two, {
      ...{ storages, spool, processId: t.app.services.presence.id },
      onDamage: (_, problem) => expect.unreachable(problem),
    });
    expect(rounds).toBe(2);
    const stored = cut.stored.find(({ kind, container }) => kind === 'project' && container === `${project}`);
    if (!stored) throw new Error('the repository is not in the cut');
    const [, head] =
      /^([0-9a-f]{40}) refs\/heads\/main$/m.exec(readFileSync(cut.refsOf(stored), 'utf8')) ?? [];
    const events = await snapshot.ask<{ payload: string }>(
      `select payload::text as payload from outbox where fact = 'repository_pushed' order by id desc limit 1`,
    );
    expect(events[0]?.payload).toContain(head);
    await snapshot.ask('commit');
    await two.ask(`delete from repository_uses where purpose = 'read'`);
  });
});

test('a write that goes on at the snapshot is waited for: what it wrote is there, and it is over', async () => {
  const project = await makeRepository();
  const spool = mkdtempSync(join(folderFor('spool'), 'x-'));
  const { presence, config, repositories } = t.app.services;
  const lease = await repositories.lease(projectRepository(project), 'write');
  await connected(async (one, two) => {
    let rounds = 0;
    const snapshot: CopyConnection = {
      ...one,
      async ask(text) {
        const rows = await one.ask<never>(text);
        if (/from repositories r join/.test(text) && rounds++ === 0) {
          await mustGit(lease.git.folder, ['update-ref', 'refs/heads/late', 'refs/heads/main']);
          await lease.release();
        }
        return rows;
      },
    };
    const cut = await takeCut(snapshot, two, {
      ...{ storages: config.storages, spool, processId: presence.id },
      onDamage: (_, problem) => expect.unreachable(problem),
    });
    expect(rounds).toBe(2);
    const stored = cut.stored.find(({ container }) => container === `${project}`);
    expect(readFileSync(stored ? cut.refsOf(stored) : '', 'utf8')).toMatch(/ refs\/heads\/late$/m);
    const uses = await snapshot.ask(`select from repository_uses where purpose = 'write'`);
    expect(uses).toEqual([]);
    await snapshot.ask('commit');
    await two.ask(`delete from repository_uses where purpose = 'read'`);
  });
});

test('a use that was being recorded when the marks were read is in the snapshot', async () => {
  const project = await makeRepository();
  const spool = mkdtempSync(join(folderFor('spool'), 'x-'));
  const { presence, config, database } = t.app.services;
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
  await connected(async (one, two) => {
    let looks = 0;
    const others: CopyConnection = {
      ...two,
      async ask(text) {
        if (/from pg_locks/.test(text) && looks++ === 1) recording.resolve();
        return two.ask(text);
      },
    };
    const snapshot: CopyConnection = {
      ...one,
      async ask(text) {
        const rows = await one.ask<never>(text);
        // Too late: it is in no snapshot then.
        if (/from repositories r join/.test(text)) recording.resolve();
        return rows;
      },
    };
    await takeCut(snapshot, others, {
      ...{ storages: config.storages, spool, processId: presence.id },
      onDamage: (_, problem) => expect.unreachable(problem),
    });
    const uses = await snapshot.ask(
      `select from repository_uses where purpose = 'write' and container_id = ${project}`,
    );
    expect(uses).toHaveLength(1);
    await snapshot.ask('commit');
  });
  await recorded;
  await database.sql`delete from repository_uses`;
});
