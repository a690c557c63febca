/** Exports and imports over HTTP: who may, what is in them, how long they are kept, and what is replaced. */
import { randomBytes } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  makeGroup,
  makeProject,
  makeUser,
  uniqueName,
} from '../../../test/support/factories.ts';
import { mailsTo } from '../../../test/support/mailbox.ts';
import { commitTo, makeReviewedProject } from '../../../test/support/merge-requests.ts';
import { makeTeam } from '../../../test/support/packages.ts';
import { tarFile } from '../../../test/support/tar.ts';
import {
  archiveOf,
  downloaded,
  exported,
  importOver,
  lines,
  sendArchive,
} from '../../../test/support/transfers.ts';
import { until } from '../../../test/support/waiting.ts';
import { startWebServer } from '../../../test/support/web-server.ts';
import { moveClock } from '../../platform/clock.ts';

const ashlar = useApp();

const settings = async (body: Record<string, unknown>) =>
  bodyOf(await ashlar.root('PUT /application/settings', { body }), 200);

afterEach(() =>
  settings({
    ...{
      project_export_enabled: true,
      import_sources: ['git', 'gitlab_project'],
      max_export_size: 0,
      max_import_size: 0,
    },
    allow_local_requests_from_web_hooks_and_services: false,
  }),
);

const statusOf = async (id: number): Promise<string> =>
  bodyOf(await ashlar.root(`GET /projects/${id}/export`), 200).export_status;

const issue = (iid: number, more: Record<string, unknown> = {}) => ({
  iid,
  title: `Issue ${iid}`,
  author_id: 1,
  ...more,
});

describe('an export', () => {
  test('is for Maintainers, and that of a group for its Owners', async () => {
    const { project, group, maintainer, developer } = await makeTeam(ashlar);
    const stranger = await makeUser(ashlar);
    for (const path of [
      `POST /projects/${project.id}/export`,
      `GET /projects/${project.id}/export`,
      `GET /projects/${project.id}/export/download`,
    ]) {
      expect((await ashlar.as(developer.token)(path)).status).toBe(403);
      expect((await ashlar.as(stranger.token)(path)).status).toBe(404);
      expect((await ashlar.call(path)).status).toBe(401);
    }
    bodyOf(await ashlar.as(maintainer.token)(`POST /projects/${project.id}/export`), 202);
    await addMember(ashlar, `groups/${group.id}`, stranger, 40);
    expect((await ashlar.as(stranger.token)(`POST /groups/${group.id}/export`)).status).toBe(403);
    expect((await ashlar.as(stranger.token)(`GET /groups/${group.id}/export/download`)).status).toBe(403);
  });

  test('says how far it is, and is there for a day', async () => {
    const { id } = await makeReviewedProject(ashlar);
    expect(await statusOf(id)).toBe('none');
    expect((await ashlar.root(`GET /projects/${id}/export/download`)).body).toEqual({
      message: '404 File Not Found',
    });
    await exported(ashlar, `/projects/${id}`);
    const record = bodyOf(await ashlar.root(`GET /projects/${id}/export`), 200);
    expect(record).toMatchObject({
      id,
      export_status: 'finished',
      _links: { api_url: `${ashlar.url}/api/v4/projects/${id}/export/download` },
    });
    const { headers } = await ashlar.root(`HEAD /projects/${id}/export/download`);
    expect(headers.get('content-type')).toBe('application/gzip');
    expect(headers.get('content-disposition')).toMatch(
      /\d{4}-\d\d-\d\d_\d\d-\d\d-\d{3}_root_project-\d+_export\.tar\.gz/,
    );
    const back = moveClock(25 * 3_600_000);
    try {
      expect(await statusOf(id)).toBe('none');
      expect((await ashlar.root(`GET /projects/${id}/export/download`)).status).toBe(404);
    } finally {
      back();
    }
  });

  test('is made once for many who ask at once, and again when it is there', async () => {
    const { id } = await makeReviewedProject(ashlar);
    const all = await Promise.all(
      Array.from({ length: 5 }, () => ashlar.root(`POST /projects/${id}/export`)),
    );
    expect(all.map(({ status }) => status)).toEqual([202, 202, 202, 202, 202]);
    await until(async () => (await statusOf(id)) === 'finished', 'no export');
    await exported(ashlar, `/projects/${id}`);
    await until(async () => (await statusOf(id)) === 'finished', 'no export');
    const rows = await ashlar.app.services.database.sql`select id from exports where project_id = ${id}`;
    expect(rows).toHaveLength(1);
  });

  test('has no secrets, no addresses that are not published, and nothing of other projects', async () => {
    const { project, maintainer } = await makeTeam(ashlar);
    const path = `/projects/${project.id}`;
    bodyOf(
      await ashlar.root(`POST ${path}/variables`, { body: { key: 'KEY', value: 'the-secret-value' } }),
      201,
    );
    bodyOf(
      await ashlar.root(`POST ${path}/hooks`, {
        body: { url: 'https://hook.example/', token: 'the-hook-token' },
      }),
      201,
    );
    bodyOf(await ashlar.root(`POST ${path}/triggers`, { body: { description: 'the-trigger' } }), 201);
    bodyOf(await ashlar.root(`POST ${path}/issues`, { body: { title: 'Here', confidential: true } }), 201);
    const hidden = await makeProject(ashlar, { name: 'hidden-elsewhere', path: 'hidden-elsewhere' });
    bodyOf(await ashlar.root(`POST /projects/${hidden.id}/issues`, { body: { title: 'There' } }), 201);
    bodyOf(
      await ashlar.root(`POST /projects/${hidden.id}/issues/1/notes`, {
        body: { body: `See ${project.path_with_namespace}#1` },
      }),
      201,
    );
    bodyOf(
      await ashlar.root(`POST ${path}/issues/1/links`, {
        body: { target_project_id: hidden.id, target_issue_iid: 1 },
      }),
      201,
    );
    await until(
      async () => bodyOf(await ashlar.root(`GET ${path}/issues/1/notes`), 200).length > 1,
      'the notes of links and mentions are not there',
    );
    const text = gunzipSync(await exported(ashlar, `/projects/${project.id}`, maintainer.token)).toString(
      'latin1',
    );
    expect(text).toContain('"title" : "Here"');
    expect(text).toContain('"confidential" : true');
    expect(text).toContain(maintainer.username);
    for (const secret of [
      'the-secret-value',
      'the-hook-token',
      'hook.example',
      'the-trigger',
      'hidden-elsewhere',
      maintainer.email,
    ])
      expect(text).not.toContain(secret);
  });

  test('larger than it may be is none, and a mail says so', async () => {
    const { id } = await makeReviewedProject(ashlar);
    await commitTo(ashlar, id, 'main', { 'large.txt': randomBytes(1_100_000).toString('base64') });
    await settings({ max_export_size: 1 });
    const asking = await makeUser(ashlar);
    await addMember(ashlar, `projects/${id}`, asking, 40);
    bodyOf(await ashlar.as(asking.token)(`POST /projects/${id}/export`), 202);
    await until(() => mailsTo(ashlar, asking.email).length > 0, 'no mail');
    expect(mailsTo(ashlar, asking.email)[0]?.text).toMatch(/larger than max_export_size/);
    expect(await statusOf(id)).toBe('none');
  });

  test('is told by mail', async () => {
    const { project, maintainer } = await makeTeam(ashlar);
    await exported(ashlar, `/projects/${project.id}`, maintainer.token);
    await until(() => mailsTo(ashlar, maintainer.email).length > 0, 'no mail');
    expect(mailsTo(ashlar, maintainer.email)[0]?.text).toContain(`/projects/${project.id}/export/download`);
  });

  test('is sent where the request says, by the rules for calls to others', async () => {
    const server = await startWebServer((_, reply) => reply.end());
    try {
      const { id } = await makeReviewedProject(ashlar);
      const send = (url: string) =>
        ashlar.root(`POST /projects/${id}/export`, { body: { upload: { url, http_method: 'PUT' } } });
      bodyOf(await send(`${server.url}/refused`), 202);
      await until(
        () => ashlar.log.some((line) => line.includes('an export could not be sent')),
        'it was not refused',
      );
      await settings({ allow_local_requests_from_web_hooks_and_services: true });
      bodyOf(await send(`${server.url}/taken`), 202);
      await until(() => server.received.length > 0, 'nothing was sent');
      expect(server.received).toMatchObject([
        { method: 'PUT', path: '/taken', headers: { 'content-type': 'application/gzip' } },
      ]);
      expect(Number(server.received[0]?.headers['content-length'])).toBeGreaterThan(500);
      for (const url of ['ftp://example.org', 'file:///etc/passwd', 'https://a:b@example.org', 'no'])
        expect((await send(url)).status).toBe(400);
    } finally {
      await server.stop();
    }
  });

  test('is refused where the instance has none', async () => {
    const { id } = await makeProject(ashlar);
    await settings({ project_export_enabled: false });
    expect((await ashlar.root(`POST /projects/${id}/export`)).status).toBe(403);
    expect((await ashlar.root(`GET /projects/${id}/export/download`)).status).toBe(403);
  });
});

describe('an import', () => {
  test.each<[what: string, fields: Record<string, string>, status: number, message: RegExp]>([
    ['without a path', {}, 400, /path/],
    ['of a path that is none', { path: '../x' }, 400, /path/],
    ['into nowhere', { path: 'x', namespace: 'nowhere' }, 404, /404 Namespace Not Found/],
  ])('%s is refused', async (_what, fields, status, message) => {
    const sent = await sendArchive(ashlar, '/projects/import', archiveOf(), fields);
    expect([sent.status, sent.text]).toEqual([status, expect.stringMatching(message)]);
  });

  test('without a file, or of too large a one, is refused', async () => {
    expect((await ashlar.root('POST /projects/import', { body: { path: 'x' } })).status).toBe(400);
    await settings({ max_import_size: 1 });
    const large = await sendArchive(ashlar, '/projects/import', randomBytes(1_100_000), { path: 'x' });
    expect(large.status).toBe(413);
    await settings({ import_sources: [] });
    expect((await sendArchive(ashlar, '/projects/import', archiveOf(), { path: 'x' })).status).toBe(503);
  });

  test('into a group is for its Maintainers', async () => {
    const group = await makeGroup(ashlar);
    const user = await makeUser(ashlar);
    const path = uniqueName('imported');
    const send = () =>
      sendArchive(ashlar, '/projects/import', archiveOf(), { path, namespace: group.full_path }, user.token);
    expect((await send()).status).toBe(404);
    await addMember(ashlar, `groups/${group.id}`, user, 30);
    expect((await send()).status).toBe(403);
    bodyOf(
      await ashlar.root(`PUT /groups/${group.id}/members/${user.id}`, { body: { access_level: 40 } }),
      200,
    );
    const made = await send();
    expect(made).toMatchObject({
      status: 201,
      body: {
        import_status: 'scheduled',
        import_type: 'gitlab_project',
        failed_relations: [],
        import_error: null,
      },
    });
    await importOver(ashlar, made.body.id, user.token);
    expect(await send()).toMatchObject({ status: 400, body: { message: 'Name has already been taken' } });
  });

  test('takes attributes of the request in place of those of the archive', async () => {
    const fields = {
      path: uniqueName('imported'),
      name: 'Named',
      'override_params[description]': 'Mine',
      'override_params[issues_access_level]': 'disabled',
    };
    const { body } = await sendArchive(ashlar, '/projects/import', archiveOf(), fields);
    await importOver(ashlar, body.id);
    expect(bodyOf(await ashlar.root(`GET /projects/${body.id}`), 200)).toMatchObject({
      name: 'Named',
      description: 'Mine',
      issues_access_level: 'disabled',
    });
  });

  test('replaces a project for its owner, whole or not at all', async () => {
    const user = await makeUser(ashlar);
    const as = ashlar.as(user.token);
    const path = uniqueName('replaced');
    const { id } = bodyOf(await as('POST /projects', { body: { path, initialize_with_readme: true } }), 201);
    for (const title of ['Old', 'Older'])
      bodyOf(await as(`POST /projects/${id}/issues`, { body: { title } }), 201);
    const from = await makeReviewedProject(ashlar);
    bodyOf(await ashlar.root(`POST /projects/${from.id}/issues`, { body: { title: 'New' } }), 201);
    const archive = await exported(ashlar, `/projects/${from.id}`);
    const send = (file: Buffer, token = user.token) =>
      sendArchive(
        ashlar,
        '/projects/import',
        file,
        { path, namespace: user.username, overwrite: 'true' },
        token,
      );
    const broken = archiveOf(lines('issues', issue(1)), { name: 'project.bundle', content: 'none' });
    expect(await send(broken)).toMatchObject({ status: 201, body: { id } });
    expect((await importOver(ashlar, id, user.token)).import_status).toBe('failed');
    expect(bodyOf(await as(`GET /projects/${id}/issues`), 200)).toHaveLength(2);
    expect(await send(archive)).toMatchObject({ status: 201, body: { id } });
    expect((await importOver(ashlar, id, user.token)).import_status).toBe('finished');
    expect(bodyOf(await as(`GET /projects/${id}/issues`), 200)).toMatchObject([{ title: 'New' }]);
    const tree = bodyOf(await as(`GET /projects/${id}/repository/tree`), 200);
    expect(tree.map(({ name }: { name: string }) => name)).toEqual(['a.txt']);
    const maintainer = await makeUser(ashlar);
    await addMember(ashlar, `projects/${id}`, maintainer, 40);
    expect((await send(archive, maintainer.token)).status).toBe(404);
  });

  test('of one relation adds to a project, and what has its numbers already fails', async () => {
    const { project, maintainer, developer } = await makeTeam(ashlar);
    bodyOf(await ashlar.root(`POST /projects/${project.id}/issues`, { body: { title: 'Mine' } }), 201);
    const archive = archiveOf(
      lines('issues', issue(1), issue(7)),
      lines('milestones', { iid: 1, title: 'Not this' }),
    );
    const send = (fields: Record<string, string>, token: string) =>
      sendArchive(ashlar, '/projects/import-relation', archive, fields, token);
    const fields = { path: project.path_with_namespace, relation: 'issues' };
    expect((await send(fields, developer.token)).status).toBe(403);
    expect((await send({ ...fields, relation: 'members' }, maintainer.token)).status).toBe(400);
    const made = await send(fields, maintainer.token);
    expect(made).toMatchObject({
      status: 201,
      body: { project_path: project.path_with_namespace, relation: 'issues', status: 'created' },
    });
    const as = ashlar.as(maintainer.token);
    await until(
      async () =>
        bodyOf(await as(`GET /projects/${project.id}/relation-imports`), 200)[0]?.status === 'finished',
      'not imported',
    );
    const issues = bodyOf(
      await as(`GET /projects/${project.id}/issues`, { query: 'order_by=created_at&sort=asc' }),
      200,
    );
    expect(issues.map(({ iid, title }: { iid: number; title: string }) => [iid, title]).sort()).toEqual([
      [1, 'Mine'],
      [7, 'Issue 7'],
    ]);
    expect(bodyOf(await as(`GET /projects/${project.id}/milestones`), 200)).toEqual([]);
    expect(
      bodyOf(await as(`POST /projects/${project.id}/issues`, { body: { title: 'Next' } }), 201).iid,
    ).toBe(8);
  });

  test('from another server goes by the rules for calls to others', async () => {
    const archive = archiveOf(lines('issues', issue(1)));
    const server = await startWebServer(({ path }, reply) => {
      reply.setHeader('content-type', path === '/page' ? 'text/html' : 'application/gzip');
      reply.statusCode = path === '/gone' ? 404 : 200;
      reply.end(archive);
    });
    try {
      const send = (url: string, path = uniqueName('imported')) =>
        ashlar.root('POST /projects/remote-import', { body: { url, path } });
      expect(await send(`${server.url}/a`)).toMatchObject({ status: 400 });
      expect(server.received).toEqual([]);
      await settings({ allow_local_requests_from_web_hooks_and_services: true });
      for (const wrong of [`${server.url}/page`, `${server.url}/gone`, 'file:///etc/passwd'])
        expect((await send(wrong)).status).toBe(400);
      const { id } = bodyOf(await send(`${server.url}/a`), 201);
      expect(await importOver(ashlar, id)).toMatchObject({ import_status: 'finished' });
      expect(bodyOf(await ashlar.root(`GET /projects/${id}/issues`), 200)).toHaveLength(1);
    } finally {
      await server.stop();
    }
  });

  test('is refused where twenty of the user are not over', async () => {
    const user = await makeUser(ashlar);
    const path = uniqueName('waiting');
    const first = await sendArchive(ashlar, '/projects/import', archiveOf(), { path }, user.token);
    await importOver(ashlar, first.body.id, user.token);
    const group = await makeGroup(ashlar);
    await ashlar.app.services.database.sql`
      insert into imports (namespace_id, user_id, status, correlation_id, options, created_at, updated_at)
      select ${group.id}, ${user.id}, 'scheduled', '', '{}', now(), now() from generate_series(1, 20)`;
    const sent = await sendArchive(
      ashlar,
      '/projects/import',
      archiveOf(),
      { path: `${path}-2` },
      user.token,
    );
    expect([sent.status, sent.body.message]).toEqual([429, '20 of your imports are not over yet.']);
    expect((await ashlar.root(`GET /projects/${user.username}%2F${path}-2`)).status).toBe(404);
  });

  test('of a project that was archived is archived, and says how it went', async () => {
    const archive = gzipSync(
      tarFile(
        { name: 'VERSION', content: '0.2.4' },
        { name: 'tree/project.json', content: '{"archived": true}' },
        lines('issues', issue(1)),
      ),
    );
    const { body } = await sendArchive(ashlar, '/projects/import', archive, { path: uniqueName('imported') });
    expect(await importOver(ashlar, body.id)).toMatchObject({ import_status: 'finished' });
    expect(bodyOf(await ashlar.root(`GET /projects/${body.id}`), 200).archived).toBe(true);
  });

  test('keeps no archive when it is over', async () => {
    const { body } = await sendArchive(ashlar, '/projects/import', archiveOf(), {
      path: uniqueName('imported'),
    });
    await importOver(ashlar, body.id);
    const [row] = await ashlar.app.services.database.sql<
      { sha256: Buffer | null }[]
    >`select sha256 from imports where project_id = ${body.id}`;
    expect(row?.sha256).toBeNull();
  });
});

describe('a group', () => {
  test('comes with the groups below it, epics, labels, milestones, badges, members and wikis', async () => {
    const group = await makeGroup(ashlar, { description: 'Outer' });
    const inner = await makeGroup(ashlar, { parent_id: group.id, description: 'Inner' });
    const user = await makeUser(ashlar, { public_email: 'in-group@public.example' });
    await addMember(ashlar, `groups/${inner.id}`, user, 30);
    const make = async (path: string, body: Record<string, unknown>) =>
      bodyOf(await ashlar.root(`POST /groups/${path}`, { body }), 201);
    await make(`${group.id}/labels`, { name: 'outer', color: '#ff0000' });
    await make(`${inner.id}/milestones`, { title: 'v1' });
    await make(`${inner.id}/badges`, {
      link_url: 'https://example.org',
      image_url: 'https://example.org/a.svg',
    });
    const parent = await make(`${group.id}/epics`, { title: 'Parent', labels: 'outer' });
    await make(`${group.id}/epics`, { title: 'Child', parent_id: parent.id, description: 'Text' });
    await make(`${group.id}/wikis`, { title: 'Home', content: 'Welcome' });
    bodyOf(
      await ashlar.root(`POST /groups/${group.id}/epics/${parent.id}/notes`, { body: { body: 'On it' } }),
      201,
    );
    const archive = await exported(ashlar, `/groups/${group.id}`);
    const path = uniqueName('imported');
    const sent = await sendArchive(ashlar, '/groups/import', archive, { path, name: path });
    expect(sent).toMatchObject({ status: 202, body: { message: '202 Accepted' } });
    const [made] = await ashlar.app.services.database.sql<
      { id: number }[]
    >`select id from namespaces where full_path = ${path}`;
    const id = made?.id ?? 0;
    const read = async (of: string) => bodyOf(await ashlar.root(`GET /groups/${of}`), 200);
    const statusOfGroup = async () =>
      (
        await ashlar.app.services.database.sql<
          { status: string }[]
        >`select status from imports where namespace_id = ${id}`
      )[0]?.status;
    await until(async () => (await statusOfGroup()) === 'finished', 'not imported');
    expect(await read(`${id}`)).toMatchObject({ description: 'Outer', visibility: 'private' });
    const [below] = await read(`${id}/subgroups`);
    expect(below).toMatchObject({ description: 'Inner', parent_id: id });
    expect(await read(`${id}/labels`)).toMatchObject([{ name: 'outer', color: '#ff0000' }]);
    expect(await read(`${below.id}/milestones`)).toMatchObject([{ iid: 1, title: 'v1' }]);
    expect(await read(`${below.id}/badges`)).toMatchObject([{ link_url: 'https://example.org' }]);
    expect(await read(`${below.id}/members`)).toMatchObject([{ id: user.id, access_level: 30 }]);
    const epics = await read(`${id}/epics?order_by=created_at&sort=asc`);
    expect(epics).toMatchObject([
      { iid: 1, title: 'Parent', confidential: false, labels: ['outer'] },
      { iid: 2, title: 'Child', parent_iid: 1, description: expect.stringMatching(/Text$/) },
    ]);
    expect(await read(`${id}/epics/${epics[0].id}/notes`)).toContainEqual(
      expect.objectContaining({ body: expect.stringMatching(/On it$/), system: false }),
    );
    expect(await read(`${id}/wikis`)).toMatchObject([{ slug: 'Home' }]);
    expect((await ashlar.root(`POST /groups/${id}/epics`, { body: { title: 'Next' } })).body.iid).toBe(3);
  });

  test.each<[what: string, groups: Record<number, unknown>]>([
    ['that is inside of itself', { 1: { path: 'a' }, 2: { path: 'b', parent_id: 2 } }],
    ['inside of one that is nowhere', { 1: { path: 'a' }, 2: { path: 'b', parent_id: 9 } }],
    ['whose path is a way out', { 1: { path: 'a' }, 2: { path: '../b', parent_id: 1 } }],
    [
      'that is there twice',
      { 1: { path: 'a' }, 2: { path: 'b', parent_id: 1 }, 3: { path: 'B', parent_id: 1 } },
    ],
  ])('of an archive %s is left out', async (_what, groups) => {
    const user = await makeUser(ashlar);
    const archive = gzipSync(
      tarFile(
        { name: 'VERSION', content: '0.2.4' },
        { name: 'tree/groups/_all.ndjson', content: Object.keys(groups).join('\n') },
        ...Object.entries(groups).map(([id, attributes]) => ({
          name: `tree/groups/${id}.json`,
          content: JSON.stringify(attributes),
        })),
      ),
    );
    const path = uniqueName('imported');
    expect(
      (await sendArchive(ashlar, '/groups/import', archive, { path, name: path }, user.token)).status,
    ).toBe(202);
    const { sql } = ashlar.app.services.database;
    const rows = () => sql<{ status: string; failures: number }[]>`
      select status, (select count(*) from import_failures f where f.import_id = i.id)::integer as failures
      from imports i join namespaces n on n.id = i.namespace_id where n.full_path = ${path}`;
    await until(async () => (await rows())[0]?.status === 'finished', 'not imported');
    expect((await rows())[0]?.failures).toBe(1);
  });
});

describe('a file of one kind of records', () => {
  test('is made of each, and read line by line', async () => {
    const { project, group, maintainer, developer } = await makeTeam(ashlar);
    const as = ashlar.as(maintainer.token);
    for (const title of ['One', 'Two'])
      bodyOf(await as(`POST /projects/${project.id}/issues`, { body: { title } }), 201);
    const path = `/projects/${project.id}/export_relations`;
    expect((await ashlar.as(developer.token)(`POST ${path}`)).status).toBe(403);
    expect((await as(`POST /groups/${group.id}/export_relations`)).status).toBe(403);
    bodyOf(await as(`POST ${path}`), 202);
    const status = async () =>
      bodyOf(await as(`GET ${path}/status`), 200) as {
        relation: string;
        status: number;
        total_objects_count: number;
      }[];
    await until(async () => (await status()).every((each) => each.status === 1), 'not made');
    expect(await status()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ relation: 'issues', batched: false, total_objects_count: 2 }),
      ]),
    );
    const bytes = await downloaded(ashlar, `${path}/download?relation=issues`, maintainer.token);
    const titles = gunzipSync(bytes)
      .toString()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).title);
    expect(titles).toEqual(['One', 'Two']);
    expect((await as(`GET ${path}/download`, { query: 'relation=none' })).status).toBe(404);
    const back = moveClock(25 * 3_600_000);
    try {
      expect(await status()).toEqual([]);
    } finally {
      back();
    }
  });
});
