/** Protected branches and tags over HTTP. */
import { beforeAll, describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import {
  bodyOf,
  type MadeProject,
  type MadeUser,
  makeGroup,
  makeMembers,
  makeProject,
  makeUser,
} from '../../../../test/support/factories.ts';

const ashlar = useApp({ env: { ASHLAR_TIER: 'premium' } });
let project: MadeProject;
let developer: MadeUser;
let maintainer: MadeUser;
let stranger: MadeUser;
let branches: string;
let tags: string;

beforeAll(async () => {
  project = await makeProject(ashlar);
  stranger = await makeUser(ashlar);
  ({ developer, maintainer } = await makeMembers(
    ashlar,
    `projects/${project.id}`,
    'developer',
    'maintainer',
  ));
  branches = `/projects/${project.id}/protected_branches`;
  tags = `/projects/${project.id}/protected_tags`;
});

const protect = async (body: object, status = 201) =>
  bodyOf(await ashlar.as(maintainer.token)(`POST ${branches}`, { body }), status);
const levels = (entries: { access_level: number | null }[]) => entries.map((entry) => entry.access_level);

describe('a protected branch', () => {
  test('is for maintainers unless the request says otherwise', async () => {
    const made = await protect({ name: 'plain' });
    expect(made).toMatchObject({
      name: 'plain',
      allow_force_push: false,
      code_owner_approval_required: false,
      inherited: false,
    });
    expect(made.push_access_levels).toEqual([
      {
        id: expect.any(Number),
        access_level: 40,
        access_level_description: 'Maintainers',
        deploy_key_id: null,
        user_id: null,
        group_id: null,
      },
    ]);
    expect([levels(made.merge_access_levels), levels(made.unprotect_access_levels)]).toEqual([[40], [40]]);
    expect(bodyOf(await ashlar.as(developer.token)(`GET ${branches}/plain`), 200)).toEqual(made);
  });

  test('takes a pattern with slashes, and is found by a part of its name', async () => {
    await protect({ name: 'release/*-stable', push_access_level: 0, merge_access_level: 30 });
    const one = bodyOf(await ashlar.root(`GET ${branches}/release%2F*-stable`), 200);
    expect(one.push_access_levels[0].access_level_description).toBe('No one');
    expect(one.merge_access_levels[0].access_level_description).toBe('Developers + Maintainers');
    const found = bodyOf(await ashlar.root(`GET ${branches}`, { query: 'search=STABLE' }), 200);
    expect(found.map(({ name }: { name: string }) => name)).toEqual(['release/*-stable']);
  });

  test('is protected once, also when two ask at once', async () => {
    const requested = await Promise.all(
      [1, 2, 3].map(() => ashlar.root(`POST ${branches}`, { body: { name: 'twice' } })),
    );
    expect(requested.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    expect(requested.find(({ status }) => status === 409)?.body).toEqual({
      message: "Protected branch 'twice' already exists",
    });
  });

  test('names only those whom the project lets in', async () => {
    const group = await makeGroup(ashlar);
    for (const entry of [{ user_id: stranger.id }, { group_id: group.id }])
      expect(await protect({ name: 'closed', allowed_to_push: [entry] }, 422)).toEqual({
        message: 'Cannot add users or groups unless they have access to the project',
      });
    expect(await protect({ name: 'closed', allowed_to_push: [{ deploy_key_id: 1 }] }, 422)).toEqual({
      message: 'Deploy key is not enabled for this project',
    });
    const share = { group_id: group.id, group_access: 30 };
    bodyOf(await ashlar.root(`POST /projects/${project.id}/share`, { body: share }), 201);
    const made = await protect({
      name: 'closed',
      allowed_to_push: [{ user_id: developer.id }, { group_id: group.id }],
    });
    expect(made.push_access_levels).toMatchObject([
      { user_id: developer.id, access_level: null, access_level_description: developer.username },
      { group_id: group.id, access_level: null, access_level_description: group.full_path },
    ]);
    expect((await ashlar.root(`GET ${branches}/closed`)).status).toBe(200);
  });

  test('changes entry by entry', async () => {
    const made = await protect({ name: 'changing' });
    const [entry] = made.push_access_levels;
    const body = {
      allow_force_push: true,
      allowed_to_push: [{ id: entry.id, _destroy: true }, { user_id: developer.id }],
      allowed_to_merge: [{ id: made.merge_access_levels[0].id, access_level: 30 }],
      unprotect_access_level: 60,
    };
    const changed = bodyOf(await ashlar.root(`PATCH ${branches}/changing`, { body }), 200);
    expect(changed.allow_force_push).toBe(true);
    expect(changed.push_access_levels).toMatchObject([{ user_id: developer.id, access_level: null }]);
    expect(levels(changed.merge_access_levels)).toEqual([30]);
    expect(levels(changed.unprotect_access_levels)).toEqual([60]);
  });

  test('has entries of its own: those of another are not reached through it', async () => {
    const [first] = (await protect({ name: 'first' })).push_access_levels;
    await protect({ name: 'second' });
    const body = { allowed_to_push: [{ id: first.id, _destroy: true }] };
    expect((await ashlar.root(`PATCH ${branches}/second`, { body })).status).toBe(400);
    const left = bodyOf(await ashlar.root(`GET ${branches}/first`), 200);
    expect(levels(left.push_access_levels)).toEqual([40]);
  });

  test('is listed in the order of the ids', async () => {
    const names = ['order-b', 'order-a', 'order-c'];
    for (const name of names) await protect({ name });
    const list = bodyOf(await ashlar.root(`GET ${branches}`, { query: 'search=order-&per_page=2' }), 200);
    const rest = bodyOf(
      await ashlar.root(`GET ${branches}`, { query: 'search=order-&per_page=2&page=2' }),
      200,
    );
    expect([...list, ...rest].map(({ name }) => name)).toEqual(names);
  });

  test('is changed and ended only by those whom it lets', async () => {
    await protect({ name: 'guarded', unprotect_access_level: 60 });
    const as = ashlar.as(maintainer.token);
    expect((await as(`PATCH ${branches}/guarded`, { body: { allow_force_push: true } })).status).toBe(403);
    expect((await as(`DELETE ${branches}/guarded`)).status).toBe(403);
    expect((await ashlar.root(`DELETE ${branches}/guarded`)).status).toBe(204);
    expect((await ashlar.root(`DELETE ${branches}/guarded`)).status).toBe(404);
  });

  test('is for maintainers to make, for developers to see, and hidden from others', async () => {
    const body = { name: 'theirs' };
    expect((await ashlar.as(developer.token)(`POST ${branches}`, { body })).status).toBe(403);
    expect((await ashlar.as(developer.token)(`GET ${branches}`)).status).toBe(200);
    expect((await ashlar.as(stranger.token)(`GET ${branches}`)).status).toBe(404);
    expect((await ashlar.call(`GET ${branches}`)).status).toBe(401);
  });

  test.each([
    ['a level that there is not', { name: 'bad', push_access_level: 10 }],
    ['a name that is empty', { name: '' }],
    ['an entry for two', { name: 'bad', allowed_to_push: [{ user_id: 1, access_level: 40 }] }],
  ])('refuses %s', async (_, body) => {
    await protect(body, 400);
  });

  test('leaves audit events', async () => {
    await protect({ name: 'audited' });
    bodyOf(await ashlar.root(`DELETE ${branches}/audited`), 204);
    const events = bodyOf(await ashlar.root(`GET /projects/${project.id}/audit_events`), 200);
    expect(
      events
        .filter(
          (event: { details: { target_details: string } }) => event.details.target_details === 'audited',
        )
        .map((event: { event_name: string }) => event.event_name),
    ).toEqual(['protected_branch_removed', 'protected_branch_created']);
  });
});

describe('a protected tag', () => {
  test('is made, shown, listed and ended', async () => {
    const body = { name: 'v*', create_access_level: 30, allowed_to_create: [{ user_id: developer.id }] };
    const made = bodyOf(await ashlar.as(maintainer.token)(`POST ${tags}`, { body }), 201);
    expect(made).toMatchObject({
      name: 'v*',
      create_access_levels: [{ user_id: developer.id }, { access_level: 30 }],
    });
    expect(bodyOf(await ashlar.as(developer.token)(`GET ${tags}/v*`), 200)).toEqual(made);
    expect(bodyOf(await ashlar.root(`GET ${tags}`), 200)).toEqual([made]);
    expect(bodyOf(await ashlar.root(`POST ${tags}`, { body }), 422)).toEqual({
      message: 'Name has already been taken',
    });
    expect((await ashlar.as(developer.token)(`DELETE ${tags}/v*`)).status).toBe(403);
    expect((await ashlar.as(maintainer.token)(`DELETE ${tags}/v*`)).status).toBe(204);
    expect((await ashlar.root(`GET ${tags}/v*`)).status).toBe(404);
  });
});
