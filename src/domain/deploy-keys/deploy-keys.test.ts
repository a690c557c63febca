/** Deploy keys over HTTP: access, and deletion. */
import { beforeEach, describe, expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  type MadeProject,
  type MadeUser,
  makeMembers,
  makeProject,
} from '../../../test/support/factories.ts';
import { sampleKeys } from '../../../test/support/sample-keys.ts';

const ashlar = useApp();
const { ed25519, ecdsa256, rsa } = sampleKeys;
let project: MadeProject;
let other: MadeProject;
let maintainer: MadeUser;
let keys: string;

beforeEach(async () => {
  const { sql } = ashlar.app.services.database;
  await sql`delete from deploy_keys`;
  await sql`delete from ssh_keys`;
  project = await makeProject(ashlar);
  other = await makeProject(ashlar);
  ({ maintainer } = await makeMembers(ashlar, `projects/${project.id}`, 'maintainer'));
  keys = `/projects/${project.id}/deploy_keys`;
});

const add = async (body: object = {}, status = 201) => {
  const key = { title: 'CI', key: ed25519.key, ...body };
  return bodyOf(await ashlar.as(maintainer.token)(`POST ${keys}`, { body: key }), status);
};
const count = async () => (await ashlar.app.services.database.sql`select id from deploy_keys`).length;

test('administrators find a deploy key by its fingerprint, with the projects that have it', async () => {
  const made = await add({ can_push: true });
  const { sql } = ashlar.app.services.database;
  await sql`insert into deploy_keys_projects (deploy_key_id, project_id, can_push, created_at)
    values (${made.id}, ${other.id}, false, now())`;
  const find = (fingerprint: string, call = ashlar.root) =>
    call('GET /keys', { query: new URLSearchParams({ fingerprint }).toString() });
  const of = (project_id: number, can_push: boolean) => ({
    deploy_key_id: made.id,
    project_id,
    created_at: expect.any(String),
    can_push,
  });
  for (const fingerprint of [ed25519.sha256, ed25519.md5, `MD5:${ed25519.md5}`]) {
    expect(bodyOf(await find(fingerprint), 200)).toEqual({
      id: made.id,
      title: 'CI',
      created_at: made.created_at,
      expires_at: null,
      last_used_at: null,
      key: ed25519.key,
      usage_type: 'auth',
      user: expect.objectContaining({ id: maintainer.id }),
      deploy_keys_projects: [of(project.id, true), of(other.id, false)],
    });
  }
  expect((await find(ed25519.sha256, ashlar.as(maintainer.token))).status).toBe(403);
  expect((await find(rsa.sha256)).status).toBe(404);

  // Neither a project that is being deleted nor a deleted creator is shown.
  await sql`update projects set deleting = true where id = ${other.id}`;
  await sql`update deploy_keys set user_id = null where id = ${made.id}`;
  expect(bodyOf(await find(ed25519.sha256), 200)).toMatchObject({
    user: null,
    deploy_keys_projects: [of(project.id, true)],
  });
});

describe('a deploy key of a project', () => {
  test('is added, shown, changed and removed', async () => {
    const made = await add({ expires_at: '2999-01-01T00:00:00Z' });
    expect(made).toEqual({
      id: expect.any(Number),
      title: 'CI',
      created_at: expect.any(String),
      expires_at: '2999-01-01T00:00:00.000Z',
      last_used_at: null,
      key: ed25519.key,
      usage_type: 'auth',
      fingerprint: ed25519.md5,
      fingerprint_sha256: ed25519.sha256,
      can_push: false,
    });
    expect(bodyOf(await ashlar.root(`GET ${keys}`), 200)).toEqual([made]);
    expect(bodyOf(await ashlar.root(`GET ${keys}/${made.id}`), 200)).toEqual(made);
    const body = { title: 'Builds', can_push: true };
    const changed = bodyOf(await ashlar.as(maintainer.token)(`PUT ${keys}/${made.id}`, { body }), 200);
    expect(changed).toEqual({ ...made, ...body });
    expect((await ashlar.as(maintainer.token)(`DELETE ${keys}/${made.id}`)).status).toBe(204);
    expect(await count()).toBe(0);
    expect((await ashlar.root(`DELETE ${keys}/${made.id}`)).status).toBe(404);
  });

  test('stays while another project has it', async () => {
    const made = await add();
    const theirs = `/projects/${other.id}/deploy_keys`;
    await ashlar.root(`POST ${theirs}/${made.id}/enable`);
    expect((await ashlar.root(`DELETE ${keys}/${made.id}`)).status).toBe(204);
    expect(bodyOf(await ashlar.root(`GET ${theirs}/${made.id}`), 200)).toMatchObject({ id: made.id });
    expect((await ashlar.root(`DELETE ${theirs}/${made.id}`)).status).toBe(204);
    expect(await count()).toBe(0);
  });

  test('given up by its two projects at once goes', async () => {
    const made = await add();
    await ashlar.root(`POST /projects/${other.id}/deploy_keys/${made.id}/enable`);
    const gone = await Promise.all(
      [project, other].map(({ id }) => ashlar.root(`DELETE /projects/${id}/deploy_keys/${made.id}`)),
    );
    expect(gone.map(({ status }) => status)).toEqual([204, 204]);
    expect(await count()).toBe(0);
  });

  test('is enabled by who has it elsewhere, and hidden from others', async () => {
    const made = await add();
    const { maintainer: theirs } = await makeMembers(ashlar, `projects/${other.id}`, 'maintainer');
    const enable = `POST /projects/${other.id}/deploy_keys/${made.id}/enable`;
    expect((await ashlar.as(theirs.token)(enable)).status).toBe(404);
    const same = { body: { title: 'Same', key: ed25519.key } };
    expect(
      bodyOf(await ashlar.as(theirs.token)(`POST /projects/${other.id}/deploy_keys`, same), 400),
    ).toEqual({ message: { fingerprint_sha256: ['has already been taken'] } });
    await addMember(ashlar, `projects/${project.id}`, theirs, 40);
    expect(bodyOf(await ashlar.as(theirs.token)(enable), 201)).toMatchObject({
      id: made.id,
      can_push: false,
    });
    expect(bodyOf(await ashlar.as(theirs.token)(enable), 201)).toMatchObject({ id: made.id });
  });

  test('is for maintainers', async () => {
    const { developer } = await makeMembers(ashlar, `projects/${project.id}`, 'developer');
    const made = await add();
    const as = ashlar.as(developer.token);
    for (const request of [`GET ${keys}`, `GET ${keys}/${made.id}`, `DELETE ${keys}/${made.id}`])
      expect([request, (await as(request)).status]).toEqual([request, 403]);
    expect((await as(`POST ${keys}`, { body: { title: 'x', key: rsa.key } })).status).toBe(403);
  });

  test('is seen by two users where both maintain', async () => {
    const made = await add();
    const members = makeMembers(ashlar, `projects/${project.id}`, 'developer', 'maintainer');
    const { developer: reader, maintainer: both } = await members;
    const seen = async (asker: MadeUser, whose: MadeUser) =>
      bodyOf(await ashlar.as(asker.token)(`GET /users/${whose.id}/project_deploy_keys`), 200).map(
        ({ id }: { id: number }) => id,
      );
    expect(await seen(maintainer, maintainer)).toEqual([made.id]);
    expect(await seen(both, maintainer)).toEqual([made.id]);
    expect(await seen(reader, maintainer)).toEqual([]);
    expect(await seen(maintainer, reader)).toEqual([]);
    expect((await ashlar.call(`GET /users/${reader.id}/project_deploy_keys`)).status).toBe(401);
  });

  test.each([
    ['no key', { key: 'ssh-ed25519 AAAA' }, { key: ['is invalid'] }],
    ['an empty title', { title: ' ' }, { title: ["can't be blank"] }],
    ['a time that is past', { expires_at: '2001-01-01T00:00:00Z' }, { key: ['has expired'] }],
  ])('refuses %s', async (_, body, message) => {
    expect(await add(body, 400)).toEqual({ message });
  });

  test("is nobody's own key", async () => {
    bodyOf(await ashlar.root('POST /user/keys', { body: { title: 'own', key: rsa.key } }), 201);
    expect(await add({ key: rsa.key }, 400)).toEqual({
      message: { fingerprint_sha256: ['has already been taken'] },
    });
  });

  test('is no longer named by protected branches where it may not push', async () => {
    const made = await add({ can_push: true });
    const branches = `/projects/${project.id}/protected_branches`;
    const body = { name: 'main', allowed_to_push: [{ deploy_key_id: made.id }] };
    const branch = bodyOf(await ashlar.root(`POST ${branches}`, { body }), 201);
    expect(branch.push_access_levels).toMatchObject([
      { deploy_key_id: made.id, access_level_description: 'CI' },
    ]);
    await ashlar.root(`PUT ${keys}/${made.id}`, { body: { can_push: false } });
    expect(bodyOf(await ashlar.root(`GET ${branches}/main`), 200).push_access_levels).toEqual([]);
  });
});

describe('a public deploy key', () => {
  test('is made by administrators, enabled by anybody, and stays', async () => {
    const body = { title: 'Everybody', key: ecdsa256.key };
    expect((await ashlar.as(maintainer.token)('POST /deploy_keys', { body })).status).toBe(403);
    const made = bodyOf(await ashlar.root('POST /deploy_keys', { body }), 201);
    const as = ashlar.as(maintainer.token);
    bodyOf(await as(`POST ${keys}/${made.id}/enable`), 201);
    bodyOf(await as(`PUT ${keys}/${made.id}`, { body: { can_push: true } }), 200);
    expect((await as(`PUT ${keys}/${made.id}`, { body: { title: 'Mine' } })).status).toBe(403);
    const [listed] = bodyOf(await ashlar.root('GET /deploy_keys', { query: 'public=true' }), 200);
    expect(listed).toMatchObject({
      id: made.id,
      projects_with_write_access: [{ id: project.id, path_with_namespace: project.path_with_namespace }],
      projects_with_readonly_access: [],
    });
    bodyOf(await as(`DELETE ${keys}/${made.id}`), 204);
    expect(await count()).toBe(1);
    expect((await as('GET /deploy_keys')).status).toBe(403);
  });
});
