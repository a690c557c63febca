/** What is backed up is there again: rows, refs, objects, files, and the numbers that come next. */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, expect, inject, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import {
  backUpApp,
  digestTables,
  folderFor,
  listening,
  makePlace,
  type RestoreSite,
} from '../../../test/support/backups.ts';
import { bodyOf, makeProject } from '../../../test/support/factories.ts';
import { projectRepository } from '../../domain/repositories/index.ts';
import { packageFolder } from '../../package.ts';
import { blobPath } from '../../platform/blobs/blob-files.ts';
import { schemaSnapshot } from '../../platform/db/snapshot.ts';
import { allRefs } from '../../platform/git/copies/copy.ts';
import { folderOf } from './cut.ts';
import { restoreBackup } from './restore.ts';
import { tableRules } from './rules.ts';
import { verifyBackup } from './verify.ts';

// No job runs: rows can be compared.
const t = useApp({ still: true });

const files = folderFor('backups');
const fileOf = (name: string): string => join(files, `${name}.backup`);
const places: RestoreSite[] = [];
async function place(env: Record<string, string> = {}): Promise<RestoreSite> {
  const made = await makePlace(env);
  places.push(made);
  return made;
}
afterEach(async () => {
  for (const each of places.splice(0)) await each.remove();
});

let project: number;

const commit = async (branch: string, path: string, content: string, start?: string) =>
  bodyOf(
    await t.root(`POST /projects/${project}/repository/commits`, {
      body: {
        branch,
        ...(start && { start_branch: start }),
        commit_message: `Write ${path}`,
        actions: [{ action: 'create', file_path: path, content }],
      },
    }),
    201,
  );

beforeAll(async () => {
  const { id: empty } = await makeProject(t);
  await t.app.services.repositories.write(projectRepository(empty), 'main', async () => undefined);
  project = (await makeProject(t)).id;
  await commit('main', 'README.md', '# One');
  await commit('feature', 'feature.txt', 'more', 'main');
  bodyOf(
    await t.root(`POST /projects/${project}/issues`, { body: { title: 'Broken \\ tab\t "quote" ☃\n' } }),
    201,
  );
  bodyOf(
    await t.root(`POST /projects/${project}/merge_requests`, {
      body: { source_branch: 'feature', target_branch: 'main', title: 'Merge it' },
    }),
    201,
  );
  bodyOf(await t.root(`POST /projects/${project}/wikis`, { body: { title: 'Home', content: 'Here' } }), 201);
  bodyOf(
    await t.root('POST /snippets', {
      body: { title: 'Snippet', files: [{ file_path: 'a.txt', content: 'a' }], visibility: 'public' },
    }),
    201,
  );
  bodyOf(
    await t.root(`POST /projects/${project}/secure_files`, {
      form: [
        '--x',
        'content-disposition: form-data; name="name"',
        '',
        'key.jks',
        '--x',
        'content-disposition: form-data; name="file"; filename="key.jks"',
        '',
        'bytes of a key',
        '--x--',
        '',
      ].join('\r\n'),
      headers: { 'content-type': 'multipart/form-data; boundary=x' },
    }),
    201,
  );
});

const storedIn = async (each: RestoreSite | undefined) => {
  const { sql } = each ?? t.app.services.database;
  return sql<
    { id: string; kind: 'project' | 'snippet' | 'group'; container: string; wiki: boolean; storage: string }[]
  >`
    select r.id::text as id, r.container as kind, r.container_id::text as container, r.wiki, 'default' as storage
    from repositories r order by r.id`;
};

/** All refs of all repositories. */
async function refsIn(each: RestoreSite | undefined): Promise<Record<string, string>> {
  const { storages } = each?.config ?? t.app.services.config;
  const refs: Record<string, string> = {};
  for (const stored of await storedIn(each)) refs[stored.id] = await allRefs(folderOf(stored, storages));
  return refs;
}

/** Rows that are another's after a restore, by rules.ts or by their nature. */
const others = new Set([...Object.keys(tableRules), 'processes', 'outbox', 'repository_uses']);
const ofBoth = (digests: Record<string, string>) =>
  Object.fromEntries(Object.entries(digests).filter(([name]) => !others.has(name)));

test('rows, refs and the schema are those that were backed up; what was told and not heard goes on, but for what sends', async () => {
  const facts = await t.app.services.database.sql<{ fact: string }[]>`select distinct fact from outbox`;
  expect(facts.map(({ fact }) => fact)).toEqual(
    expect.arrayContaining(['issue_created', 'repository_pushed']),
  );
  expect(await backUpApp(t, fileOf('all'))).toEqual([]);
  const before = await digestTables(t.app.services.database.sql);
  const to = await place();
  expect(await to.restore(fileOf('all'))).toEqual([]);
  const after = await digestTables(to.sql);
  expect(ofBoth(after)).toEqual(ofBoth(before));
  expect(Object.keys(before).length).toBeGreaterThan(150);
  expect(after.issues).toMatch(/^1 /);
  expect(await refsIn(to)).toEqual(await refsIn(undefined));
  expect(Object.values(await refsIn(to)).join('')).toMatch(/refs\/merge-requests\/1\/head/);
  expect(await schemaSnapshot(to.sql)).toBe(readFileSync(join(packageFolder, 'schema.sql'), 'utf8'));
  expect(await to.sql`select from outbox`).toEqual([]);
  const rows = await to.sql<{ task: string }[]>`
    select distinct task_identifier as task from graphile_worker.jobs`;
  const tasks = rows.map(({ task }) => task);
  expect(tasks).toEqual(expect.arrayContaining(['merge_requests.follow_push', 'ci.follow_push']));
  expect(tasks.filter((task) => /^(hooks|notifications|mail)\./.test(task))).toEqual([]);
});

test('a restored program serves it, and its numbers go on', async () => {
  await backUpApp(t, fileOf('served'));
  const to = await place();
  await to.restore(fileOf('served'));
  const app = await to.serve();
  const ask = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`${app.services.baseUrl()}/api/v4${path}`, {
      ...init,
      headers: { 'private-token': 'glpat-root-token-of-the-tests', 'content-type': 'application/json' },
    });
    // biome-ignore lint/suspicious/noExplicitAny: the test says what it expects of a body by reading it.
    const body: any = await response.json().catch(() => undefined);
    return { status: response.status, body };
  };
  const made = await ask(`/projects/${project}/issues`, {
    method: 'POST',
    body: JSON.stringify({ title: 'Next' }),
  });
  expect(made.body).toMatchObject({ iid: 2 });
  const [request] = (await ask(`/projects/${project}/merge_requests`)).body;
  await expect
    .poll(
      async () =>
        (await ask(`/projects/${project}/merge_requests/${request.iid}`)).body.detailed_merge_status,
    )
    .toBe('mergeable');
  const merged = await ask(`/projects/${project}/merge_requests/${request.iid}/merge`, {
    method: 'PUT',
    body: '{}',
  });
  expect(merged).toMatchObject({ status: 200, body: { state: 'merged' } });
  const [file] = (await ask(`/projects/${project}/secure_files`)).body;
  const bytes = await fetch(
    `${app.services.baseUrl()}/api/v4/projects/${project}/secure_files/${file.id}/download`,
    { headers: { 'private-token': 'glpat-root-token-of-the-tests' } },
  );
  expect(await bytes.text()).toBe('bytes of a key');
});

/** No transaction of before goes on, in any database of the server. */
async function earlierEnded(): Promise<void> {
  const { sql } = t.app.services.database;
  const [now] = await sql<{ id: string }[]>`select pg_current_xact_id()::text as id`;
  const oldest = async () => {
    const [row] = await sql<{ id: string }[]>`select pg_snapshot_xmin(pg_current_snapshot())::text as id`;
    return BigInt(row?.id ?? 0);
  };
  await expect.poll(oldest).toBeGreaterThan(BigInt(now?.id ?? 0));
}

test('a later backup borrows what has not changed, over several', async () => {
  await earlierEnded();
  await backUpApp(t, fileOf('first'));
  await commit(`more-${Date.now()}`, 'second.txt', 'second', 'main');
  await backUpApp(t, fileOf('second'), { base: fileOf('first') });
  bodyOf(await t.root(`POST /projects/${project}/labels`, { body: { name: 'late', color: '#112233' } }), 201);
  await backUpApp(t, fileOf('third'), { base: fileOf('second') });
  const verified = await verifyBackup(fileOf('third'), { identity: undefined }, listening());
  expect(verified.files).toEqual([fileOf('third'), fileOf('second'), fileOf('first')]);
  const tables = [...verified.borrowed.keys()].filter((name) => name.startsWith('tables/'));
  expect(tables).toContain('tables/issues/000000');
  // Its rows are kept by a condition.
  expect(tables).not.toContain('tables/instance_facts/000000');
  expect(tables).not.toContain('tables/labels/000000');
  expect(verified.borrowed.size - tables.length).toBeGreaterThan(3);
  const to = await place();
  expect(await to.restore(fileOf('third'))).toEqual([]);
  expect(await refsIn(to)).toEqual(await refsIn(undefined));
  expect(ofBoth(await digestTables(to.sql))).toEqual(ofBoth(await digestTables(t.app.services.database.sql)));
  // Another backup under the base's name.
  await backUpApp(t, fileOf('first'));
  await expect(verifyBackup(fileOf('third'), { identity: undefined }, listening())).rejects.toThrow(
    /first\.backup: it is another backup than the one that was borrowed from/,
  );
  rmSync(fileOf('first'));
  await expect((await place()).restore(fileOf('third'))).rejects.toThrow(/first\.backup: it cannot be read/);
  rmSync(`${fileOf('second')}.index`);
  await expect(backUpApp(t, fileOf('fourth'), { base: fileOf('second') })).rejects.toThrow(
    /second\.backup\.index is missing/,
  );
  const index = (rows: unknown): string =>
    `${JSON.stringify({ format: 1, id: '0'.repeat(32), rows, base: null })}\nend\n`;
  for (const text of ['none', index({}), index({ database: '1', schema: 'a', before: 'x' })]) {
    writeFileSync(`${fileOf('second')}.index`, text);
    await expect(backUpApp(t, fileOf('fourth'), { base: fileOf('second') })).rejects.toThrow(
      /index is damaged/,
    );
  }
  expect(existsSync(fileOf('fourth'))).toBe(false);
});

test('one that is encrypted opens with its key alone', async () => {
  const { generateIdentity, identityToRecipient } = await import('age-encryption');
  const [mine, another] = [await generateIdentity(), await generateIdentity()];
  const recipients = [await identityToRecipient(mine)];
  await backUpApp(t, fileOf('sealed'), { recipients });
  const keyFile = (name: string, text: string): string => {
    writeFileSync(join(files, name), text);
    return join(files, name);
  };
  const right = keyFile('right', `# created: today\n${mine}\n`);
  const to = await place();
  await expect(to.restore(fileOf('sealed'))).rejects.toThrow(/encrypted: name the file of the key/);
  await expect(to.restore(fileOf('sealed'), keyFile('wrong', another))).rejects.toThrow(/does not open it/);
  await expect(to.restore(fileOf('sealed'), keyFile('none', 'hello'))).rejects.toThrow(/has no key of age/);
  await expect(to.restore(fileOf('sealed'), join(files, 'missing'))).rejects.toThrow(/key cannot be read/);
  expect(existsSync(to.config.data)).toBe(false);
  const opened = await verifyBackup(fileOf('sealed'), { identity: right }, listening());
  expect(opened.end.entries).toBeGreaterThan(20);
  await expect(backUpApp(t, fileOf('bad'), { recipients: ['age1nobody'] })).rejects.toThrow(
    /no recipient of age/,
  );
  const bytes = readFileSync(fileOf('sealed'));
  bytes[bytes.length - 40] = (bytes[bytes.length - 40] ?? 0) ^ 1;
  writeFileSync(fileOf('sealed'), bytes);
  await expect(verifyBackup(fileOf('sealed'), { identity: right }, listening())).rejects.toThrow(
    /cannot be decrypted/,
  );
});

test('a restore goes into an empty place alone', async () => {
  await backUpApp(t, fileOf('place'));
  const full = await place();
  await full.sql`create table things ()`;
  await expect(full.restore(fileOf('place'))).rejects.toThrow(/has tables already \(public\.things\)/);
  expect(existsSync(full.config.data)).toBe(false);
  const used = await place();
  mkdirSync(used.config.data);
  writeFileSync(join(used.config.data, 'photo'), 'x');
  await expect(used.restore(fileOf('place'))).rejects.toThrow(/is not empty/);
  const other = await place({ ASHLAR_SECRET_KEY: 'another key, which is long enough for one' });
  await expect(other.restore(fileOf('place'))).rejects.toThrow(/another ASHLAR_SECRET_KEY/);
  expect(existsSync(other.config.data)).toBe(false);
});

test('two backups at once are one, or one after the other', async () => {
  const runs = await Promise.allSettled(['one', 'two'].map((name) => backUpApp(t, fileOf(name))));
  const failed = runs.flatMap((run) => (run.status === 'rejected' ? [String(run.reason)] : []));
  expect(failed.length).toBeLessThan(2);
  for (const each of failed) expect(each).toMatch(/another backup of this database runs/);
});

test('a base is there, and a backup that borrows takes the place of none', async () => {
  await backUpApp(t, fileOf('ground'));
  const before = readFileSync(fileOf('ground'));
  await expect(backUpApp(t, fileOf('ground'), { base: fileOf('ground') })).rejects.toThrow(
    /ground\.backup is there already/,
  );
  expect(readFileSync(fileOf('ground')).equals(before)).toBe(true);
  await backUpApp(t, fileOf('upper'), { base: fileOf('ground') });
  rmSync(fileOf('ground'));
  await expect(backUpApp(t, fileOf('roof'), { base: fileOf('upper') })).rejects.toThrow(
    /ground\.backup is missing/,
  );
});

test('what is damaged is lent to no later backup, and lets no earlier one go', async () => {
  const folder = folderFor('kept');
  await backUpApp(t, folder, { keep: 1 });
  const [first = ''] = readdirSync(folder).filter((name) => name.endsWith('.backup'));
  const [row] = await t.app.services.database.sql<{ name: string }[]>`
    select encode(sha256, 'hex') as name from blobs limit 1`;
  const path = blobPath(join(t.app.services.config.files, 'blobs'), row?.name ?? '');
  const bytes = readFileSync(path);
  chmodSync(path, 0o600);
  writeFileSync(path, Buffer.alloc(bytes.length, 'x'));
  try {
    expect(await backUpApp(t, fileOf('damaged'))).toEqual([expect.stringMatching(/is damaged/)]);
    // Names have seconds.
    await expect
      .poll(() => backUpApp(t, folder, { keep: 1 }).catch(String), { timeout: 10_000, interval: 500 })
      .toEqual([expect.stringMatching(/is damaged/)]);
    expect(readdirSync(folder)).toContain(first);
  } finally {
    writeFileSync(path, bytes);
  }
  expect(await backUpApp(t, fileOf('mended'), { base: fileOf('damaged') })).toEqual([]);
  const to = await place();
  expect(await to.restore(fileOf('mended'))).toEqual([]);
  expect(readFileSync(blobPath(join(to.config.files, 'blobs'), row?.name ?? '')).equals(bytes)).toBe(true);
});

test('a user who is no superuser restores into a database of their own', async () => {
  await backUpApp(t, fileOf('plain'));
  const to = await place();
  const [row] = await to.sql<{ name: string }[]>`select current_database() as name`;
  const { sql } = t.app.services.database;
  const role = `plain_${process.pid}`;
  await sql.unsafe(`create role ${role} login password 'plain'`);
  try {
    await sql.unsafe(`alter database ${row?.name} owner to ${role}`);
    const { host } = inject('postgres');
    const config = { ...to.config, databaseUrl: `postgres://${role}:plain@/${row?.name}?host=${host}` };
    expect(await restoreBackup(config, fileOf('plain'), { identity: undefined }, listening())).toEqual([]);
    expect(ofBoth(await digestTables(to.sql))).toEqual(ofBoth(await digestTables(sql)));
  } finally {
    await to.remove();
    places.splice(0);
    await sql.unsafe(`drop role ${role}`);
  }
});
