/** Cleanup policies of packages: who sets them, what goes when their time has come, and what stays. */
import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import { type TestApp, useApp } from '../../../../test/support/app.ts';
import { bodyOf } from '../../../../test/support/factories.ts';
import { makeTeam, own, type Team } from '../../../../test/support/packages.ts';
import { until } from '../../../../test/support/waiting.ts';
import { moveClock } from '../../../platform/clock.ts';
import { inTransaction } from '../../../platform/db/database.ts';
import { cleanBatch } from './actions.ts';
import { runCleaning, runCleanup } from './cleaning.ts';

const app: TestApp = useApp();
let { project, maintainer, developer } = {} as Team;
const HALF_DAY_MS = 12 * 3_600_000;

beforeEach(async () => {
  ({ project, maintainer, developer } = await makeTeam(app));
});

const change = (attributes: object, user = maintainer) =>
  app.as(user.token)(`PUT /projects/${project.id}`, {
    body: { packages_cleanup_policy_attributes: attributes },
  });
const policy = async () =>
  bodyOf(await app.as(maintainer.token)(`GET /projects/${project.id}`), 200).packages_cleanup_policy;
const keep = async (n: string) => bodyOf(await change({ keep_n_duplicated_package_files: n }), 200);

const put = async (path: string, content: string) => {
  const url = `${app.url}/api/v4/projects/${project.id}/packages/generic/${path}`;
  const response = await fetch(url, { method: 'PUT', headers: own(developer), body: content });
  expect(response.status).toBe(201);
};
const publish = async (path: string, times: number) => {
  for (let time = 1; time <= times; time += 1) await put(path, `${path} ${time}`);
};
const get = async (path: string) => {
  const url = `${app.url}/api/v4/projects/${project.id}/packages/generic/${path}`;
  return (await fetch(url, { headers: own(developer) })).text();
};

const files = async () => {
  const { rows } = await sql<{ file: string }>`
    select p.name || '/' || f.file_name || ' ' || f.id as file from package_files f
    join packages p on p.id = f.package_id where p.project_id = ${project.id} order by f.id`.execute(
    app.app.services.database.db,
  );
  return rows.map(({ file }) => file);
};

/** What the clock does so many half days from now. */
async function passHalfDays(count: number) {
  const back = moveClock(count * HALF_DAY_MS + 60_000);
  try {
    // Several processes do it once.
    await Promise.all([runCleanup(app.app.services), runCleanup(app.app.services)]);
  } finally {
    back();
  }
  const { db } = app.app.services.database;
  const isDone = async () => {
    const { rows } = await sql`
      select from graphile_worker.jobs where task_identifier = 'packages.clean'`.execute(db);
    return rows.length === 0;
  };
  await until(isDone, 'packages are being cleaned');
}

test('a project has a cleanup policy, which its maintainers change', async () => {
  expect(await policy()).toEqual({
    keep_n_duplicated_package_files: 'ALL_PACKAGE_FILES',
    next_run_at: null,
  });
  await keep('10');
  const set = await policy();
  expect(set.keep_n_duplicated_package_files).toBe('10');
  expect(Math.abs(Date.parse(set.next_run_at) - Date.now() - HALF_DAY_MS)).toBeLessThan(60_000);
  for (const n of ['7', '0', '-1', '1.0', 'all', '', null, [], '1 or 1=1'])
    expect([n, (await change({ keep_n_duplicated_package_files: n })).status]).toEqual([n, 400]);
  expect((await change({})).status).toBe(400);
  expect((await change({ keep_n_duplicated_package_files: '1' }, developer)).status).toBe(403);
  expect(await policy()).toEqual(set);
  const form = 'packages_cleanup_policy_attributes[keep_n_duplicated_package_files]=20';
  bodyOf(await app.as(maintainer.token)(`PUT /projects/${project.id}`, { form }), 200);
  expect((await policy()).keep_n_duplicated_package_files).toBe('20');
  await keep('ALL_PACKAGE_FILES');
  expect((await policy()).next_run_at).toBeNull();
});

test('the newest files of each name stay when its time has come, and all of them before', async () => {
  await publish('app/1.0/a.bin', 3);
  await publish('app/1.0/b.bin', 1);
  await publish('app/2.0/a.bin', 2);
  await keep('1');
  await passHalfDays(0.5);
  expect(await files()).toHaveLength(6);
  await passHalfDays(1);
  const left = await files();
  expect(left).toHaveLength(3);
  expect([await get('app/1.0/a.bin'), await get('app/1.0/b.bin'), await get('app/2.0/a.bin')]).toEqual([
    'app/1.0/a.bin 3',
    'app/1.0/b.bin 1',
    'app/2.0/a.bin 2',
  ]);
  // Their bytes are gone, too.
  const { rows } = await sql`
    select from blobs where sha256 = sha256('app/1.0/a.bin 1'::bytea)`.execute(app.app.services.database.db);
  expect(rows).toEqual([]);
  expect(Date.parse((await policy()).next_run_at)).toBeGreaterThan(Date.now() + HALF_DAY_MS);
  await passHalfDays(4);
  expect(await files()).toEqual(left);
});

test('what is protected from deletion stays, and what is protected from pushes goes', async () => {
  for (const name of ['held', 'pushed', 'free']) await publish(`${name}/1.0/a.bin`, 2);
  const protect = async (package_name_pattern: string, level: object, package_type = 'generic') =>
    bodyOf(
      await app.as(maintainer.token)(`POST /projects/${project.id}/packages/protection/rules`, {
        body: { package_name_pattern, package_type, ...level },
      }),
      201,
    );
  await protect('hel*', { minimum_access_level_for_delete: 'owner' });
  await protect('pushed', { minimum_access_level_for_push: 'admin' });
  // One of another format.
  await protect('free', { minimum_access_level_for_delete: 'admin' }, 'maven');
  await keep('1');
  await passHalfDays(1);
  expect((await files()).map((each) => each.split('/')[0])).toEqual(['held', 'held', 'pushed', 'free']);
});

test('nothing goes that the policy is over for, or of an archived project', async () => {
  await publish('app/1.0/a.bin', 2);
  await keep('1');
  const { services } = app.app;
  await sql`update projects set archived = true where id = ${project.id}`.execute(services.database.db);
  await passHalfDays(1);
  await runCleaning(services, { project_id: project.id, after: 0 });
  expect(await files()).toHaveLength(2);
  await sql`update projects set archived = false where id = ${project.id}`.execute(services.database.db);
  await keep('ALL_PACKAGE_FILES');
  await runCleaning(services, { project_id: project.id, after: 0 });
  expect(await files()).toHaveLength(2);
});

test('a chart of one name in two channels is two', async () => {
  const { db } = app.app.services.database;
  await publish('app/1.0/a.bin', 4);
  await sql`
    update package_files f set metadata = jsonb_build_object('channel', case when f.id % 2 = 0 then 'dev' else 'stable' end)
    from packages p where p.id = f.package_id and p.project_id = ${project.id}`.execute(db);
  await keep('1');
  const before = await files();
  await passHalfDays(1);
  expect(await files()).toEqual(before.slice(2));
});

test('a package to which somebody publishes is left for the next time', async () => {
  await publish('app/1.0/a.bin', 2);
  await keep('1');
  const { db } = app.app.services.database;
  const cleaned = await inTransaction(db, async (tx) => {
    await sql`update packages set updated_at = now() where project_id = ${project.id}`.execute(tx);
    return cleanBatch(db, { project_id: project.id, after: 0 });
  });
  expect(cleaned).toEqual({ blobs: [], after: undefined });
  expect(await files()).toHaveLength(2);
});

test('a turn that is over goes on with the packages behind it', async () => {
  const { services } = app.app;
  await sql`
    insert into packages (project_id, package_type, name, version, created_at, updated_at)
    select ${project.id}, 'generic', 'p' || n, '1', now(), now() from generate_series(1, 1200) n`.execute(
    services.database.db,
  );
  await publish('last/1.0/a.bin', 2);
  await keep('1');
  await runCleaning(services, { project_id: project.id, after: 0 }, 0);
  await until(async () => (await files()).length === 1, 'old files are there');
});
