/** What jobs do whose turn comes later than the request: the role may be gone, and what they hold is one place of all jobs. */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import { withSettings } from '../../../test/support/browser.ts';
import { addMember, bodyOf, makeGroup, makeProject, makeUser } from '../../../test/support/factories.ts';
import { archiveOf, lines, sendArchive } from '../../../test/support/transfers.ts';
import { startWebServer } from '../../../test/support/web-server.ts';
import { moveClock } from '../../platform/clock.ts';
import { transfersCapability } from './capability.ts';
import { runExport } from './exports/run-export.ts';
import { uploadTask } from './exports/upload.ts';
import { runImport } from './imports/run-import.ts';

/** Its jobs wait until a test runs them. */
const ashlar = useApp({ still: true });
const issues = lines('issues', { iid: 1, title: 'Brought', author_id: 1 });

async function newest(table: 'imports' | 'exports'): Promise<number> {
  const { sql } = ashlar.app.services.database;
  const rows = await sql<{ id: number }[]>`select id from ${sql(table)} order by id desc limit 1`;
  return rows[0]?.id ?? 0;
}

async function waitingJobs(): Promise<{ task: string; queue: string | null }[]> {
  const { sql } = ashlar.app.services.database;
  return await sql<{ task: string; queue: string | null }[]>`
    select task_identifier as task, queue_name as queue from graphile_worker.jobs
    where task_identifier like 'transfers.%' and task_identifier <> 'transfers.export_mail'`;
}

async function projectWithIssue(role: number) {
  const group = await makeGroup(ashlar);
  const project = await makeProject(ashlar, { namespace_id: group.id });
  const user = await makeUser(ashlar);
  await addMember(ashlar, `groups/${group.id}`, user, role);
  bodyOf(await ashlar.root(`POST /projects/${project.id}/issues`, { body: { title: 'Kept' } }), 201);
  const titles = async () =>
    bodyOf(await ashlar.root(`GET /projects/${project.id}/issues?sort=asc`), 200).map(
      ({ title }: { title: string }) => title,
    );
  const lose = async () => bodyOf(await ashlar.root(`DELETE /groups/${group.id}/members/${user.id}`), 204);
  return { project, user, titles, lose };
}

test.each<[what: string, role: number, path: string, fields: Record<string, string>]>([
  ['that replaces a project', 50, '/projects/import', { overwrite: 'true' }],
  ['of one relation', 40, '/projects/import-relation', { relation: 'issues' }],
])('an import %s is refused where the role is gone by then', async (_what, role, path, fields) => {
  const { project, user, titles, lose } = await projectWithIssue(role);
  const [namespace = '', name = ''] = project.path_with_namespace.split('/');
  const named = fields.overwrite ? { namespace, path: name } : { path: project.path_with_namespace };
  const sent = await sendArchive(ashlar, path, archiveOf(issues), { ...fields, ...named }, user.token);
  expect([sent.status, sent.text]).toEqual([201, expect.any(String)]);
  await lose();
  await runImport(ashlar.app.services, await newest('imports'));
  expect(await titles()).toEqual(['Kept']);
  const { sql } = ashlar.app.services.database;
  expect(await sql`select status, error from imports where project_id = ${project.id}`).toMatchObject([
    { status: 'failed', error: 'Whoever asked for the import may not do so any more.' },
  ]);
});

test('an export is not sent anywhere for one whose role is gone by then', async () => {
  const server = await startWebServer((_, reply) => reply.end());
  try {
    bodyOf(
      await ashlar.root('PUT /application/settings', {
        body: { allow_local_requests_from_web_hooks_and_services: true },
      }),
      200,
    );
    const { project, user, lose } = await projectWithIssue(40);
    const upload = { url: `${server.url}/taken` };
    bodyOf(await ashlar.as(user.token)(`POST /projects/${project.id}/export`, { body: { upload } }), 202);
    const id = await newest('exports');
    await runExport(ashlar.app.services, id);
    const send = () => Promise.resolve(uploadTask(ashlar.app.services)({ export_id: id }));
    await send();
    expect(server.received).toHaveLength(1);
    await lose();
    await send();
    expect(server.received).toHaveLength(1);
    // All of them hold one of the few places of all jobs, whatever other servers do.
    expect(new Set((await waitingJobs()).map(({ queue }) => queue))).toEqual(new Set(['transfers']));
    expect((await waitingJobs()).map(({ task }) => task)).toContain('transfers.upload');
  } finally {
    await server.stop();
  }
});

test('what an administrator asks for in admin mode is imported and sent with these rights', async () => {
  const server = await startWebServer((_, reply) => reply.end());
  try {
    const admin = await makeUser(ashlar, { admin: true });
    const body = { name: 'elevated', scopes: ['api', 'admin_mode'] };
    const { token } = bodyOf(
      await ashlar.root(`POST /users/${admin.id}/personal_access_tokens`, { body }),
      201,
    );
    const settings = { allow_local_requests_from_web_hooks_and_services: true };
    const sentBy = async (asking: string) => {
      const { project } = await projectWithIssue(40);
      const upload = { url: `${server.url}/taken` };
      bodyOf(await ashlar.as(asking)(`POST /projects/${project.id}/export`, { body: { upload } }), 202);
      const id = await newest('exports');
      await runExport(ashlar.app.services, id);
      return () => Promise.resolve(uploadTask(ashlar.app.services)({ export_id: id }));
    };
    const withoutMode = await withSettings(ashlar, settings, () => sentBy(admin.token));
    await withSettings(ashlar, { ...settings, admin_mode: true }, async () => {
      await withoutMode();
      expect(server.received).toHaveLength(0);
      await (await sentBy(token))();
      expect(server.received).toHaveLength(1);
      const { project } = await projectWithIssue(40);
      const fields = { path: project.path_with_namespace, relation: 'issues' };
      const sent = await sendArchive(ashlar, '/projects/import-relation', archiveOf(issues), fields, token);
      expect([sent.status, sent.text]).toEqual([201, expect.any(String)]);
      await runImport(ashlar.app.services, await newest('imports'));
      const { sql } = ashlar.app.services.database;
      expect(await sql`select status, error from imports where project_id = ${project.id}`).toMatchObject([
        { status: 'finished', error: null },
      ]);
    });
  } finally {
    await server.stop();
  }
});

test('what a job was given up with is ended: another may be asked for, and no token stays', async () => {
  const { services } = ashlar.app;
  const { sql } = services.database;
  const { project, user } = await projectWithIssue(50);
  const as = ashlar.as(user.token);
  const path = project.path_with_namespace;
  const ask = async () => bodyOf(await as(`POST /projects/${project.id}/export`), 202);
  const importing = () =>
    sendArchive(
      ashlar,
      '/projects/import-relation',
      archiveOf(issues),
      { path, relation: 'issues' },
      user.token,
    );
  await ask();
  expect((await importing()).status).toBe(201);
  await sql`insert into bulk_imports (user_id, source_url, token_sealed, status, created_at, updated_at)
    values (${user.id}, 'https://example.org', 'sealed', 'started', now(), now())`;
  await sql`insert into bulk_import_entities (bulk_import_id, source_type, source_full_path, destination_slug, destination_namespace,
      migrate_projects, migrate_memberships, status, step, created_at, updated_at)
    select id, 'group_entity', 'a', 'a', '', true, true, 'started', 'wait', now(), now() from bulk_imports`;
  await sql`update exports set status = 'started' where project_id = ${project.id}`;
  await sql`update imports set status = 'started' where project_id = ${project.id}`;
  const sweep = transfersCapability(services).tasks?.['transfers.sweep'];
  const states = async () =>
    sql`select (select string_agg(status, ',') from exports where project_id = ${project.id}) as export,
      (select status from imports where project_id = ${project.id} and sha256 is null) as import,
      (select status from bulk_imports where user_id = ${user.id} and token_sealed is null) as bulk,
      (select status from bulk_import_entities) as entity`;
  await sweep?.({});
  expect(await states()).toEqual([{ export: 'started', import: null, bulk: null, entity: 'started' }]);
  const back = moveClock(8 * 86_400_000);
  try {
    await sweep?.({});
  } finally {
    back();
  }
  expect(await states()).toEqual([{ export: null, import: 'failed', bulk: 'failed', entity: 'failed' }]);
  await ask();
  expect((await importing()).status).toBe(201);
});

test('what a killed process left of a job is removed, also where its project is gone', async () => {
  const { services } = ashlar.app;
  const folder = (name: string) => join(services.config.data, 'transfers', name);
  const left = [folder('import-999999'), folder('export-999999')];
  for (const each of left) mkdirSync(each, { recursive: true });
  await runImport(services, 999_999);
  await runExport(services, 999_999);
  expect(left.filter((each) => existsSync(each))).toEqual([]);
});
