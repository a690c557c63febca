/** Creating and changing projects over HTTP (spec: Errors; facts: Cross-cutting behaviour, Roles and visibility). */
import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { ROOT_TOKEN, useApp } from '../../../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  makeGroup,
  makeMembers,
  makeProject,
  makeUser,
  uniqueName,
} from '../../../../../test/support/factories.ts';

const ashlar = useApp();

/** The redirect of a request with this target, which no fetch() sends. */
const locationOf = (target: string): Promise<string | undefined> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(ashlar.url);
    const headers = { 'private-token': ROOT_TOKEN };
    const sending = request({ hostname, port, path: target, headers }, (response) => {
      response.resume();
      resolve(response.headers.location);
    });
    sending.once('error', reject).end();
  });

describe('POST /projects', () => {
  it('creates one in the own namespace, private by default', async () => {
    const made = await ashlar.root('POST /projects', { body: { name: 'My First Project', topics: 'a, b' } });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({
      path: 'my-first-project',
      path_with_namespace: 'root/my-first-project',
      name_with_namespace: 'Administrator / My First Project',
      visibility: 'private',
      topics: ['a', 'b'],
      tag_list: ['a', 'b'],
      archived: false,
    });
  });

  it('leaves out what is not there, in every record', async () => {
    const made = await ashlar.root('POST /projects', { body: { name: 'bare' } });
    const shown = await ashlar.root(`GET /projects/${made.body.id}`);
    const listed = await ashlar.root('GET /projects', { query: 'search=bare' });
    const simple = await ashlar.root('GET /projects', { query: 'search=bare&simple=true' });
    for (const record of [made.body, shown.body, listed.body[0], simple.body[0]]) {
      expect(record.path).toBe('bare');
      for (const name of ['ci_job_token_scope_enabled', 'ssh_url_to_repo'])
        expect(record).not.toHaveProperty(name);
    }
  });

  it('is for who is more than a Guest somewhere, where the instance says so', async () => {
    const { settings, database } = ashlar.app.services;
    const nothing = await makeUser(ashlar);
    const group = await makeGroup(ashlar);
    const { guest, planner } = await makeMembers(ashlar, `groups/${group.id}`, 'guest', 'planner');
    const make = async (token: string) =>
      (await ashlar.as(token)('POST /projects', { body: { name: uniqueName('p') } })).status;
    await settings.write(database.db, { allow_project_creation_for_guest_and_below: false });
    settings.forget();
    try {
      for (const [user, status] of [
        [nothing, 403],
        [guest, 403],
        [planner, 201],
      ] as const)
        expect(await make(user.token)).toBe(status);
      expect(await make(ROOT_TOKEN)).toBe(201);
    } finally {
      await settings.write(database.db, { allow_project_creation_for_guest_and_below: true });
      settings.forget();
    }
    expect(await make(guest.token)).toBe(201);
  });

  it('shows the branch that a project without commits will have', async () => {
    const { settings, database } = ashlar.app.services;
    const own = await ashlar.root('POST /projects', { body: { name: 'own', default_branch: 'trunk' } });
    const plain = await ashlar.root('POST /projects', { body: { name: 'plain' } });
    expect([own.body.default_branch, plain.body.default_branch]).toEqual(['trunk', 'main']);
    await settings.write(database.db, { default_branch_name: 'develop' });
    settings.forget();
    try {
      for (const query of ['search=plain', 'search=plain&simple=true']) {
        const [listed] = (await ashlar.root('GET /projects', { query })).body;
        expect(listed).toMatchObject({ id: plain.body.id, default_branch: 'develop' });
      }
      expect((await ashlar.root(`GET /projects/${plain.body.id}`)).body).toMatchObject({
        default_branch: 'develop',
        empty_repo: true,
      });
      expect((await ashlar.root(`GET /projects/${own.body.id}`)).body.default_branch).toBe('trunk');
    } finally {
      await settings.write(database.db, { default_branch_name: '' });
      settings.forget();
    }
  });

  it('shows that there are no merge trains, and refuses by name to turn them on', async () => {
    const names = ['merge_pipelines_enabled', 'merge_trains_enabled', 'merge_trains_skip_train_allowed'];
    const { id } = await makeProject(ashlar);
    for (const name of names) {
      const refused = await ashlar.root(`PUT /projects/${id}`, { body: { [name]: true, description: 'x' } });
      expect([name, refused.status, refused.body.message]).toEqual([
        name,
        400,
        { [name]: ['is not supported'] },
      ]);
    }
    const off = Object.fromEntries(names.map((name) => [name, false]));
    expect(bodyOf(await ashlar.root(`PUT /projects/${id}`, { body: off }), 200)).toMatchObject(off);
    expect(bodyOf(await ashlar.root(`GET /projects/${id}`), 200)).toMatchObject({
      ...off,
      description: null,
    });
  });

  it('refuses by name the templates that it would make a project of', async () => {
    const later = [expect.stringContaining('is not supported yet')];
    const templates = { template_name: 'rails', template_project_id: 1, use_custom_template: true };
    for (const [name, value] of Object.entries(templates)) {
      const refused = await ashlar.root('POST /projects', { body: { name: 'templated', [name]: value } });
      expect([name, refused.status, refused.body.message]).toEqual([name, 400, { [name]: later }]);
    }
    const user = await makeUser(ashlar);
    const forUser = await ashlar.root(`POST /projects/user/${user.id}`, {
      body: { name: 'templated', template_name: 'rails' },
    });
    expect(forUser.body.message).toEqual({ template_name: later });
    expect((await ashlar.root('GET /projects', { query: 'search=templated' })).body).toEqual([]);
    const none = { import_url: '', mirror: false, template_name: null, use_custom_template: false };
    const made = await ashlar.root('POST /projects', { body: { name: 'templated', ...none } });
    expect(made.status).toBe(201);
    const kept = await ashlar.root(`PUT /projects/${made.body.id}`, { body: { mirror: false } });
    expect([kept.status, kept.body.description]).toEqual([200, null]);
  });

  it('answers 409 for a taken path or name, also when sent twice at once', async () => {
    const both = await Promise.all(
      [1, 2].map(() => ashlar.root('POST /projects', { body: { name: 'twice', path: 'twice' } })),
    );
    expect(both.map((one) => one.status).sort()).toEqual([201, 409]);
    const name = await ashlar.root('POST /projects', { body: { name: 'Twice', path: 'other' } });
    expect(name.status).toBe(409);
    expect(name.body.message).toEqual({ name: ['has already been taken'] });
    const wrong = await ashlar.root('POST /projects', { body: { name: '-wrong', path: 'twice' } });
    expect([wrong.status, wrong.body.message]).toEqual([409, { path: ['has already been taken'] }]);
  });

  it('makes as many as its owner may have, also at once, and by an administrator', async () => {
    const limited = await makeUser(ashlar, { projects_limit: 2 });
    const post = () => ashlar.as(limited.token)('POST /projects', { body: { name: uniqueName('limited') } });
    const made = await Promise.all([post(), post(), post()]);
    expect(made.map(({ status }) => status).sort()).toEqual([201, 201, 400]);
    const message = 'Your project limit is 2 projects! Please contact your administrator to increase it';
    const body = { name: uniqueName('limited') };
    for (const refused of [await post(), await ashlar.root(`POST /projects/user/${limited.id}`, { body })])
      expect([refused.status, refused.body.message]).toEqual([400, { limit_reached: [message] }]);
    expect((await ashlar.root('POST /projects/user/987654321', { body })).body).toEqual({
      message: '404 User Not Found',
    });
  });

  it('names what is missing or wrong', async () => {
    const missing = await ashlar.root('POST /projects', { body: {} });
    expect(missing.status).toBe(400);
    expect(missing.body.message).toContain('"name" not given');
    const wrong = await ashlar.root('POST /projects', { body: { name: 'x', visibility: 'secret' } });
    expect(wrong.body.message).toEqual({ visibility: ['does not have a valid value'] });
    const path = await ashlar.root('POST /projects', { body: { name: 'x', path: '-x.git' } });
    expect(path.body.message.path).toHaveLength(1);
  });

  it('takes forms as well as JSON', async () => {
    const made = await ashlar.root('POST /projects', {
      form: 'name=from+a+form&topics[]=x&topics[]=y&issues_enabled=false',
    });
    expect(made.body).toMatchObject({ name: 'from a form', topics: ['x', 'y'], issues_enabled: false });
  });
});

describe('PUT /projects/:id', () => {
  it('renames, and the old path redirects reads only (facts §10)', async () => {
    const { body } = await ashlar.root('POST /projects', { body: { name: 'before' } });
    const renamed = await ashlar.root('PUT /projects/root%2Fbefore', { body: { path: 'after' } });
    expect(renamed.body.path_with_namespace).toBe('root/after');
    const moved = await ashlar.root('GET /projects/root%2Fbefore', {
      query: 'statistics=true&private_token=glpat-root-token-of-the-tests',
    });
    expect(moved.status).toBe(301);
    expect(moved.headers.get('location')).toBe(`${ashlar.url}/api/v4/projects/${body.id}?statistics=true`);
    expect((await ashlar.root('PUT /projects/root%2Fbefore', { body: { name: 'x' } })).status).toBe(405);
    const slashes = await ashlar.root('GET //api//v4/projects/root%2Fbefore', { raw: true });
    expect(slashes.headers.get('location')).toBe(`${ashlar.url}/api/v4/projects/${body.id}`);
    expect(await locationOf(`http://elsewhere.example/api/v4/projects/root%2Fbefore`)).toBe(
      `${ashlar.url}/api/v4/projects/${body.id}`,
    );
    expect((await ashlar.call('GET /projects/root%2Fbefore')).status).toBe(404);
  });

  it('changes what is named, and leaves the rest', async () => {
    await ashlar.root('POST /projects', {
      body: { name: 'changing', description: 'one', wiki_access_level: 'private' },
    });
    const changed = await ashlar.root('PUT /projects/root%2Fchanging', { body: { merge_method: 'ff' } });
    expect(changed.body).toMatchObject({
      merge_method: 'ff',
      description: 'one',
      wiki_access_level: 'private',
    });
  });
});

describe('verbs', () => {
  it('stars once, and says 304 after that', async () => {
    await ashlar.root('POST /projects', { body: { name: 'star' } });
    const both = await Promise.all([1, 2].map(() => ashlar.root('POST /projects/root%2Fstar/star')));
    expect(both.map((one) => one.status).sort()).toEqual([201, 304]);
    expect((await ashlar.root('GET /projects/root%2Fstar')).body.star_count).toBe(1);
    expect((await ashlar.root('POST /projects/root%2Fstar/unstar')).body.star_count).toBe(0);
    expect((await ashlar.root('POST /projects/root%2Fstar/unstar')).status).toBe(304);
  });

  it('archives and brings back', async () => {
    await ashlar.root('POST /projects', { body: { name: 'old' } });
    expect((await ashlar.root('POST /projects/root%2Fold/archive')).body.archived).toBe(true);
    expect((await ashlar.root('GET /projects', { query: 'archived=true' })).body).toHaveLength(1);
    expect((await ashlar.root('POST /projects/root%2Fold/unarchive')).body.archived).toBe(false);
  });

  it('keeps fork relations', async () => {
    await ashlar.root('POST /projects', { body: { name: 'source' } });
    await ashlar.root('POST /projects', { body: { name: 'fork' } });
    const forked = await ashlar.root('POST /projects/root%2Ffork/fork/root%2Fsource');
    expect(forked.body.forked_from_project.path).toBe('source');
    expect((await ashlar.root('POST /projects/root%2Ffork/fork/root%2Fsource')).status).toBe(409);
    expect((await ashlar.root('GET /projects/root%2Fsource/forks')).body[0].path).toBe('fork');
    expect((await ashlar.root('DELETE /projects/root%2Ffork/fork')).status).toBe(204);
    expect((await ashlar.root('DELETE /projects/root%2Ffork/fork')).status).toBe(304);
  });
});

describe('DELETE /projects/:id (facts §10, delayed deletion)', () => {
  it('marks, restores, and deletes a marked one for good', async () => {
    await ashlar.root('POST /projects', { body: { name: 'doomed' } });
    const gone = await ashlar.root('DELETE /projects/root%2Fdoomed');
    expect([gone.status, gone.body]).toEqual([202, { message: '202 Accepted' }]);
    expect((await ashlar.root('GET /projects', { query: 'search=doomed&active=true' })).body).toEqual([]);
    const marked = await ashlar.root('GET /projects', { query: 'search=doomed' });
    for (const query of ['search=doomed&include_pending_delete=true', 'search=doomed&active=false'])
      expect((await ashlar.root('GET /projects', { query })).body).toEqual(marked.body);
    const [{ id, path_with_namespace: path, marked_for_deletion_on: day }] = marked.body;
    expect(path).toBe(`root/doomed-deletion_scheduled-${id}`);
    expect(day).toMatch(/^\d{4}-\d\d-\d\d$/);
    const restored = await ashlar.root(`POST /projects/${id}/restore`);
    expect(restored.body).toMatchObject({ path: 'doomed', name: 'doomed', marked_for_deletion_on: null });
    expect((await ashlar.root(`POST /projects/${id}/restore`)).status).toBe(400);

    const early = await ashlar.root(`DELETE /projects/${id}`, {
      query: 'permanently_remove=true&full_path=root/doomed',
    });
    expect(early.body.message).toBe('Project must be marked for deletion first.');
    await ashlar.root(`DELETE /projects/${id}`);
    const wrong = await ashlar.root(`DELETE /projects/${id}`, {
      query: 'permanently_remove=true&full_path=root/doomed',
    });
    expect(wrong.body.message).toContain('`full_path` is incorrect');
    const right = `permanently_remove=true&full_path=root/doomed-deletion_scheduled-${id}`;
    expect((await ashlar.root(`DELETE /projects/${id}`, { query: right })).status).toBe(202);
    expect((await ashlar.root(`GET /projects/${id}`)).status).toBe(404);
    expect((await ashlar.root('POST /projects', { body: { name: 'doomed' } })).status).toBe(201);
  });

  it('honours If-Unmodified-Since with 412', async () => {
    await ashlar.root('POST /projects', { body: { name: 'guarded' } });
    const headers = { 'if-unmodified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' };
    expect((await ashlar.root('DELETE /projects/root%2Fguarded', { headers })).status).toBe(412);
    expect((await ashlar.root('GET /projects/root%2Fguarded')).status).toBe(200);
  });
});

describe('at once', () => {
  it('a change of something else does not bring an old visibility back', async () => {
    const { id: namespace_id } = await makeGroup(ashlar, { visibility: 'public' });
    for (let round = 0; round < 5; round++) {
      const { id } = await makeProject(ashlar, { namespace_id, visibility: 'public' });
      const changes = [
        { visibility: 'private' },
        { description: 'a' },
        { description: 'b' },
        { lfs_enabled: false },
      ];
      const all = await Promise.all(changes.map((body) => ashlar.root(`PUT /projects/${id}`, { body })));
      expect(all.map((one) => one.status)).toEqual([200, 200, 200, 200]);
      const { body } = await ashlar.root(`GET /projects/${id}`);
      expect(body).toMatchObject({ visibility: 'private', lfs_enabled: false });
    }
  });

  it('nothing public ends up in a group that becomes private', async () => {
    for (let round = 0; round < 5; round++) {
      const group = await makeGroup(ashlar, { visibility: 'public' });
      const elsewhere = await makeProject(ashlar, { visibility: 'public' });
      await Promise.all([
        ashlar.root(`PUT /groups/${group.id}`, { body: { visibility: 'private' } }),
        ashlar.root(`PUT /projects/${elsewhere.id}/transfer`, { body: { namespace: `${group.id}` } }),
        ashlar.root('POST /projects', {
          body: { name: `new-${round}`, namespace_id: group.id, visibility: 'public' },
        }),
      ]);
      const { visibility } = (await ashlar.root(`GET /groups/${group.id}`)).body;
      const inside = (await ashlar.root(`GET /groups/${group.id}/projects`)).body;
      const open = inside.filter((project: { visibility: string }) => project.visibility === 'public');
      expect(visibility === 'public' || open.length === 0).toBe(true);
    }
  });
});

describe('what a maintainer may not', () => {
  it('change who sees the project', async () => {
    const { id } = await makeProject(ashlar);
    const { maintainer, owner } = await makeMembers(ashlar, `projects/${id}`, 'maintainer', 'owner');
    const put = async (user: { token: string }, body: Record<string, string>) =>
      (await ashlar.as(user.token)(`PUT /projects/${id}`, { body })).status;
    expect(await put(maintainer, { visibility: 'public', description: 'Open' })).toBe(403);
    expect(await put(maintainer, { visibility: 'private', description: 'As it was' })).toBe(200);
    expect(await put(owner, { visibility: 'public' })).toBe(200);
    expect((await ashlar.call(`GET /projects/${id}`)).body.description).toBe('As it was');
  });

  it('take away a share that makes owners, or change limits of the instance', async () => {
    const { id } = await makeProject(ashlar);
    const { maintainer } = await makeMembers(ashlar, `projects/${id}`, 'maintainer');
    const group = await makeGroup(ashlar);
    const share = { group_id: group.id, group_access: 50 };
    expect((await ashlar.root(`POST /projects/${id}/share`, { body: share })).status).toBe(201);
    const call = ashlar.as(maintainer.token);
    expect((await call(`DELETE /projects/${id}/share/${group.id}`)).status).toBe(403);
    const body = { max_artifacts_size: 1_000_000 };
    expect((await call(`PUT /projects/${id}`, { body })).status).toBe(403);
    expect((await call('POST /projects', { body: { name: 'big', ...body } })).status).toBe(403);
    expect((await ashlar.root(`PUT /projects/${id}`, { body })).body.max_artifacts_size).toBe(1_000_000);
  });
});

describe('a group that is going', () => {
  it('takes no more projects, new or moved', async () => {
    const group = await makeGroup(ashlar);
    const { id } = await makeProject(ashlar);
    expect((await ashlar.root(`DELETE /groups/${group.id}`)).status).toBe(202);
    const created = await ashlar.root('POST /projects', { body: { name: 'late', namespace_id: group.id } });
    const moved = await ashlar.root(`PUT /projects/${id}/transfer`, { body: { namespace: `${group.id}` } });
    expect([created.status, moved.status]).toEqual([403, 403]);
  });
});

describe('limits', () => {
  it('hold for projects moved into the own namespace, and keep external users out of theirs', async () => {
    const full = await makeUser(ashlar, { projects_limit: 0 });
    const guest = await makeUser(ashlar, { external: true });
    for (const [user, status] of [
      [full, 400],
      [guest, 403],
    ] as const) {
      const group = await makeGroup(ashlar);
      await addMember(ashlar, `groups/${group.id}`, user, 50);
      const { id } = await makeProject(ashlar, { namespace_id: group.id });
      const body = { namespace: user.username };
      expect((await ashlar.as(user.token)(`PUT /projects/${id}/transfer`, { body })).status).toBe(status);
    }
  });

  it('a full path too long to be kept is refused', async () => {
    let parent = await makeGroup(ashlar);
    const path = () => `a${randomBytes(127).toString('hex')}`;
    for (let depth = 0; depth < 9; depth++) {
      parent = await makeGroup(ashlar, { path: path(), parent_id: parent.id });
    }
    const last = await makeGroup(ashlar, { path: 'last', parent_id: parent.id });
    const body = { name: 'long', path: path(), namespace_id: last.id };
    const project = await ashlar.root('POST /projects', { body });
    const renamed = await ashlar.root(`PUT /groups/${last.id}`, { body: { path: path() } });
    const deeper = await ashlar.root('POST /groups', {
      body: { name: 'x', path: path(), parent_id: last.id },
    });
    for (const { status } of [project, renamed, deeper]) expect([200, 201, 400]).toContain(status);
    expect([project, renamed, deeper].map((one) => one.status)).toContain(400);
  });
});

describe('pictures', () => {
  const png = Buffer.from('89504e470d0a1a0a', 'hex');
  const send = async (method: string, path: string, fields: Record<string, string>, picture?: string) => {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    if (picture) form.append('avatar', new File([new Uint8Array(png)], picture));
    const headers = { 'private-token': ROOT_TOKEN };
    const response = await fetch(`${ashlar.url}/api/v4${path}`, { method, body: form, headers });
    return {
      status: response.status,
      body: (await response.json()) as { id: number; avatar_url: string | null },
    };
  };
  const addressOf = (id: number, name: string) =>
    `${ashlar.url}/uploads/-/system/project/avatar/${id}/${name}`;

  it('of a new project, of one for somebody else, and of a changed one, under their own names', async () => {
    const user = await makeUser(ashlar);
    for (const path of ['/projects', `/projects/user/${user.id}`]) {
      const { status, body } = await send(
        'POST',
        path,
        { name: uniqueName('pictured') },
        'wall of stone.png',
      );
      expect([status, body.avatar_url]).toEqual([201, addressOf(body.id, 'wall_of_stone.png')]);
      const shown = await fetch(body.avatar_url ?? '', { headers: { 'private-token': ROOT_TOKEN } });
      expect(Buffer.from(await shown.arrayBuffer())).toEqual(png);
      expect((await fetch(body.avatar_url ?? '')).status).toBe(404);
      expect((await ashlar.root(`GET /projects/${body.id}/avatar`)).status).toBe(200);
      const changed = await send('PUT', `/projects/${body.id}`, {}, 'other.png');
      expect(changed.body.avatar_url).toBe(addressOf(body.id, 'other.png'));
      expect((await send('PUT', `/projects/${body.id}`, { avatar: '' })).body.avatar_url).toBeNull();
    }
  });
});
