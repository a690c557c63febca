/** Settings of mirrors over HTTP: who sets them, what is refused, what records show. */
import { beforeAll, describe, expect, it } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import { bodyOf, makeProject, makeUser } from '../../../test/support/factories.ts';
import { makeTeam, type Team } from '../../../test/support/packages.ts';

const ashlar = useApp({ env: { ASHLAR_TIER: 'premium' } });
let team: Team;
let path = '';
const ADDRESS = 'https://example.com/there.git';

beforeAll(async () => {
  team = await makeTeam(ashlar);
  path = `/projects/${team.project.id}`;
});

const as = (user: { token: string }) => ashlar.as(user.token);
const rowOf = async (id: number) =>
  ashlar.app.services.database.db
    .selectFrom('mirrors')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow();

describe('the mirror that is pulled from', () => {
  it('is none at first, and refused to all but maintainers', async () => {
    const none = await as(team.maintainer)(`GET ${path}/mirror/pull`);
    expect([none.status, none.body.message]).toEqual([400, '400 Bad request - The project is not mirrored']);
    expect((await as(team.maintainer)(`POST ${path}/mirror/pull`)).status).toBe(400);
    for (const method of ['GET', 'PUT', 'POST']) {
      expect((await as(team.developer)(`${method} ${path}/mirror/pull`)).status).toBe(403);
      expect((await as(await makeUser(ashlar))(`${method} ${path}/mirror/pull`)).status).toBe(404);
      expect((await ashlar.call(`${method} ${path}/mirror/pull`)).status).toBe(401);
    }
  });

  it('has its password sealed, shown to nobody, and told to no other server', async () => {
    const secret = 'gr4nite/wörd';
    const body = {
      enabled: true,
      url: `https://ada:${encodeURIComponent(secret)}@example.com/there.git`,
      mirror_trigger_builds: true,
      mirror_branch_regex: '^release/',
    };
    const set = bodyOf(await as(team.maintainer)(`PUT ${path}/mirror/pull`, { body }), 200);
    expect(set).toMatchObject({
      enabled: true,
      url: 'https://*****:*****@example.com/there.git',
      mirror_trigger_builds: true,
      mirror_branch_regex: '^release/',
      only_mirror_protected_branches: null,
      last_error: null,
    });
    const row = await rowOf(set.id);
    expect(row.user_id).toBe(team.maintainer.id);
    expect(row.url).toBe(ADDRESS);
    expect(JSON.stringify(row)).not.toContain('gr4nite');
    const read = await as(team.maintainer)(`GET ${path}/mirror/pull`);
    expect(read.text).not.toContain('gr4nite');
    // What records show, sent back, changes nothing.
    bodyOf(await as(team.maintainer)(`PUT ${path}/mirror/pull`, { body: { url: set.url } }), 200);
    expect((await rowOf(set.id)).credentials_sealed).not.toBeNull();
    bodyOf(await as(team.maintainer)(`PUT ${path}/mirror/pull`, { body: { url: ADDRESS } }), 200);
    expect((await rowOf(set.id)).credentials_sealed).not.toBeNull();
    const elsewhere = { url: 'https://evil.example.com/there.git' };
    const moved = bodyOf(await as(team.maintainer)(`PUT ${path}/mirror/pull`, { body: elsewhere }), 200);
    expect(moved.url).toBe(elsewhere.url);
    expect((await rowOf(set.id)).credentials_sealed).toBeNull();
    const named = { auth_user: 'bob', auth_password: 'x' };
    const again = bodyOf(await as(team.maintainer)(`PUT ${path}/mirror/pull`, { body: named }), 200);
    expect(again.url).toBe('https://*****:*****@evil.example.com/there.git');
    const audit = await ashlar.root(`GET ${path}/audit_events`);
    expect(audit.text).toContain('pull_mirror_updated');
    expect(audit.text).not.toContain('gr4nite');
  });

  it('is the same row as the deprecated fields of the project', async () => {
    const { id } = await makeProject(ashlar);
    const one = `/projects/${id}`;
    const missing = await ashlar.root(`PUT ${one}`, { body: { mirror: true, description: 'x' } });
    expect([missing.status, missing.body.message]).toEqual([400, { import_url: ["can't be blank"] }]);
    expect((await ashlar.root(`GET ${one}`)).body.description).toBeNull();
    const body = {
      mirror: true,
      import_url: 'https://u:p@example.com/a.git',
      mirror_trigger_builds: true,
      only_mirror_protected_branches: true,
      mirror_overwrites_diverged_branches: true,
    };
    const changed = bodyOf(await ashlar.root(`PUT ${one}`, { body }), 200);
    expect(changed).toMatchObject({
      ...body,
      import_url: 'https://*****:*****@example.com/a.git',
      import_type: 'git',
      mirror_user_id: 1,
    });
    expect(bodyOf(await ashlar.root(`GET ${one}/mirror/pull`), 200)).toMatchObject({
      only_mirror_protected_branches: true,
      mirror_overwrites_diverged_branches: true,
      url: 'https://*****:*****@example.com/a.git',
    });
    const both = await ashlar.root(`PUT ${one}`, { body: { mirror_branch_regex: 'a' } });
    expect([both.status, Object.keys(both.body.message)]).toEqual([400, ['mirror_branch_regex']]);
    const foreign = await ashlar.root(`PUT ${one}`, { body: { mirror_user_id: team.guest.id } });
    expect([foreign.status, foreign.body.message]).toEqual([400, { mirror_user_id: ['is invalid'] }]);
    const off = bodyOf(await ashlar.root(`PUT ${one}`, { body: { mirror: false } }), 200);
    expect(off.mirror).toBe(false);
    expect((await ashlar.root(`GET ${one}/mirror/pull`)).status).toBe(400);
  });

  it('is in the project for those alone who maintain it', async () => {
    expect((await as(team.maintainer)(`GET ${path}`)).body).toMatchObject({
      mirror: true,
      import_type: 'git',
    });
    const seen = (await as(team.developer)(`GET ${path}`)).body;
    expect([seen.mirror, seen.import_url, seen.import_error]).toEqual([undefined, null, undefined]);
    const other = { body: { mirror: true, mirror_user_id: 1 } };
    expect((await as(team.maintainer)(`PUT ${path}`, other)).status).toBe(403);
  });

  it.each([
    ['file:///etc/passwd', 'is invalid'],
    ['file://host/etc/passwd', 'Only allowed schemes'],
    ['ext::sh -c id', 'is invalid'],
    ['ssh://git@example.com/a.git', 'Only allowed schemes'],
    ['git@example.com:a.git', 'Only allowed schemes'],
    ['git://example.com/a.git', 'Only allowed schemes'],
    ['https://', 'is invalid'],
    ['-u https://example.com', 'is invalid'],
    ['https://example.com/a b', 'is invalid'],
    ['https://example.com/a.git?x=1', 'no query'],
    ['https://127.0.0.1/a.git', 'local network'],
    ['http://localhost:5432/', 'local network'],
    ['http://[::ffff:10.0.0.1]/', 'local network'],
    ['http://0x7f.1/a', 'local network'],
    ['https://u:p%00@example.com/a.git', 'cannot be sent'],
    ['https://u:%E0%A4%A@example.com/a.git', 'cannot be read'],
  ])('is not at %s', async (url, words) => {
    const refused = await as(team.maintainer)(`PUT ${path}/mirror/pull`, { body: { url } });
    expect(refused.status).toBe(400);
    expect(refused.text).toContain(words);
    const created = await as(team.maintainer)(`POST ${path}/remote_mirrors`, { body: { url } });
    expect([created.status, Object.keys(created.body.message)]).toEqual([400, ['url']]);
  });

  it('has patterns of RE2 alone', async () => {
    for (const pattern of ['(a', '(?=a)', '(a{1,1000}){1,1000}']) {
      const refused = await as(team.maintainer)(`PUT ${path}/mirror/pull`, {
        body: { mirror_branch_regex: pattern },
      });
      expect([pattern, refused.status]).toEqual([pattern, 400]);
    }
  });
});

describe('mirrors that are pushed to', () => {
  it('are made, read, changed and deleted by maintainers', async () => {
    const url = 'https://ada:s3cr3t@example.com/push.git';
    const made = bodyOf(await as(team.maintainer)(`POST ${path}/remote_mirrors`, { body: { url } }), 201);
    expect(made).toEqual({
      id: made.id,
      enabled: false,
      url: 'https://*****:*****@example.com/push.git',
      update_status: 'none',
      last_update_at: null,
      last_update_started_at: null,
      last_successful_update_at: null,
      last_error: null,
      mirror_branch_regex: null,
      only_protected_branches: false,
      keep_divergent_refs: false,
      auth_method: 'password',
      host_keys: [],
    });
    const one = `${path}/remote_mirrors/${made.id}`;
    const body = { keep_divergent_refs: true, only_protected_branches: true };
    expect(bodyOf(await as(team.maintainer)(`PUT ${one}`, { body }), 200)).toMatchObject({
      ...body,
      url: made.url,
    });
    expect(bodyOf(await as(team.maintainer)(`GET ${one}`), 200)).toMatchObject(body);
    expect(bodyOf(await as(team.maintainer)(`GET ${path}/remote_mirrors`), 200)).toHaveLength(1);
    expect((await as(team.maintainer)(`GET ${one}/public_key`)).status).toBe(404);
    expect((await as(team.maintainer)(`POST ${one}/sync`)).status).toBe(400);
    const keys = await as(team.maintainer)(`PUT ${one}`, { body: { auth_method: 'ssh_public_key' } });
    expect([keys.status, Object.keys(keys.body.message)]).toEqual([400, ['auth_method']]);
    for (const method of ['GET', 'PUT', 'DELETE'])
      expect((await as(team.developer)(`${method} ${one}`)).status).toBe(403);
    expect((await as(team.developer)(`POST ${one}/sync`)).status).toBe(403);
    // Of another project.
    const other = await makeProject(ashlar);
    for (const method of ['GET', 'PUT', 'DELETE'])
      expect((await ashlar.root(`${method} /projects/${other.id}/remote_mirrors/${made.id}`)).status).toBe(
        404,
      );
    expect((await as(team.maintainer)(`DELETE ${one}`)).status).toBe(204);
    expect((await as(team.maintainer)(`DELETE ${one}`)).status).toBe(404);
  });

  it('are ten at most that are on, also when made at once', async () => {
    const { id } = await makeProject(ashlar);
    const many = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        ashlar.root(`POST /projects/${id}/remote_mirrors`, {
          body: { url: `https://example.invalid/${index}.git`, enabled: true },
        }),
      ),
    );
    expect(many.filter(({ status }) => status === 201)).toHaveLength(10);
    const off = bodyOf(
      await ashlar.root(`POST /projects/${id}/remote_mirrors`, {
        body: { url: 'https://example.com/off.git' },
      }),
      201,
    );
    const on = await ashlar.root(`PUT /projects/${id}/remote_mirrors/${off.id}`, { body: { enabled: true } });
    expect([on.status, on.text]).toEqual([400, expect.stringContaining('(10) exceeded')]);
  });
});

it('only administrators set up mirrors where the setting says so', async () => {
  const set = (mirror_available: boolean) =>
    ashlar.root('PUT /application/settings', { body: { mirror_available } });
  bodyOf(await set(false), 200);
  const body = { url: ADDRESS };
  expect((await as(team.maintainer)(`POST ${path}/remote_mirrors`, { body })).status).toBe(403);
  expect((await as(team.maintainer)(`PUT ${path}/mirror/pull`, { body })).status).toBe(403);
  expect((await as(team.maintainer)(`PUT ${path}`, { body: { mirror: true } })).status).toBe(403);
  expect((await ashlar.root(`POST ${path}/remote_mirrors`, { body })).status).toBe(201);
  bodyOf(await set(true), 200);
});

it('archived projects keep their mirrors as they are', async () => {
  const { project, maintainer } = await makeTeam(ashlar);
  const one = `/projects/${project.id}`;
  bodyOf(await ashlar.root(`POST ${one}/archive`), 201);
  expect((await as(maintainer)(`GET ${one}/remote_mirrors`)).status).toBe(200);
  expect((await as(maintainer)(`POST ${one}/remote_mirrors`, { body: { url: ADDRESS } })).status).toBe(403);
  expect((await as(maintainer)(`PUT ${one}/mirror/pull`, { body: { url: ADDRESS } })).status).toBe(403);
  const old = { body: { mirror: true, import_url: ADDRESS } };
  expect((await as(maintainer)(`PUT ${one}`, old)).status).toBe(403);
});
