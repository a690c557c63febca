/** Moving, archiving and sharing groups over HTTP (facts: Groups core). */
import { describe, expect, it } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  makeGroup,
  makeMembers,
  makeProject,
  makeUser,
  uniqueName,
} from '../../../../test/support/factories.ts';

const ashlar = useApp();
const idsOf = (body: { id: number }[]): number[] => body.map((each) => each.id);
const encode = encodeURIComponent;

describe('transfer', () => {
  it('moves a project into a group, by an administrator', async () => {
    const [from, to] = [await makeGroup(ashlar), await makeGroup(ashlar)];
    const project = await makeProject(ashlar, { namespace_id: from.id });
    const { owner } = await makeMembers(ashlar, `groups/${to.id}`, 'owner');
    await addMember(ashlar, `groups/${from.id}`, owner, 50);
    const path = `/groups/${to.id}/projects/${encode(project.path_with_namespace)}` as const;
    expect((await ashlar.as(owner.token)(`POST ${path}`)).status).toBe(403);
    const moved = bodyOf(await ashlar.root(`POST ${path}`), 201);
    expect(moved).toMatchObject({ id: to.id, full_path: to.full_path, shared_with_groups: [] });
    const shown = bodyOf(await ashlar.root(`GET /projects/${project.id}`), 200);
    expect(shown.namespace.id).toBe(to.id);
    expect((await ashlar.root(`POST /groups/${to.id}/projects/${project.id}`)).status).toBe(400);
    const missing = 9_000_000;
    expect((await ashlar.root(`POST /groups/${missing}/projects/${project.id}`)).status).toBe(404);
    expect((await ashlar.root(`POST /groups/${from.id}/projects/${missing}`)).status).toBe(404);
    // A person's own namespace is no group.
    expect((await ashlar.root(`POST /groups/${owner.username}/projects/${project.id}`)).status).toBe(404);
  });

  it('moves a group with all in it, and leaves redirects', async () => {
    const [from, to] = [await makeGroup(ashlar, { visibility: 'public' }), await makeGroup(ashlar)];
    const moving = await makeGroup(ashlar, {
      parent_id: from.id,
      path: 'm',
      name: 'M',
      visibility: 'public',
    });
    const inner = await makeGroup(ashlar, {
      parent_id: moving.id,
      path: 'i',
      name: 'I',
      visibility: 'internal',
    });
    const project = await makeProject(ashlar, {
      namespace_id: inner.id,
      path: 'p',
      name: 'p',
      visibility: 'internal',
    });
    const moved = bodyOf(
      await ashlar.root(`POST /groups/${moving.id}/transfer`, { body: { group_id: to.id } }),
      201,
    );
    expect(moved).toMatchObject({ full_path: `${to.full_path}/m`, parent_id: to.id, visibility: 'private' });
    const below = bodyOf(await ashlar.root(`GET /groups/${inner.id}`), 200);
    expect(below).toMatchObject({ full_path: `${to.full_path}/m/i`, visibility: 'private' });
    expect(below.projects).toMatchObject([{ id: project.id, visibility: 'private' }]);
    expect((await ashlar.root(`GET /projects/${encode(`${from.full_path}/m/i/p`)}`)).status).toBe(301);
    expect((await ashlar.root(`GET /projects/${encode(`${to.full_path}/m/i/p`)}`)).status).toBe(200);
    // Roles follow the new parent.
    const user = await makeUser(ashlar);
    await addMember(ashlar, `groups/${to.id}`, user, 30);
    expect((await ashlar.as(user.token)(`GET /projects/${project.id}`)).status).toBe(200);
    expect(idsOf(bodyOf(await ashlar.root(`GET /groups/${from.id}/descendant_groups`), 200))).toEqual([]);
  });

  it('goes to the top for those who may create there, and leaves no group without an owner', async () => {
    const user = await makeUser(ashlar);
    const parent = await makeGroup(ashlar);
    await addMember(ashlar, `groups/${parent.id}`, user, 50);
    const group = await makeGroup(ashlar, { parent_id: parent.id, path: uniqueName('up') });
    bodyOf(await ashlar.root(`DELETE /groups/${group.id}/members/1`), 204);
    const moved = await ashlar.as(user.token)(`POST /groups/${group.id}/transfer`);
    expect(bodyOf(moved, 201)).toMatchObject({ parent_id: null });
    const members = bodyOf(await ashlar.root(`GET /groups/${group.id}/members`), 200);
    expect(members).toMatchObject([{ id: user.id, access_level: 50 }]);
    const again = await ashlar.as(user.token)(`POST /groups/${group.id}/transfer`);
    expect(bodyOf(again, 400).message).toBe('Transfer failed: Group is already a root group.');
  });

  it('is refused into itself, where it is, where the path is taken, and where one may not create', async () => {
    const [outer, other] = [await makeGroup(ashlar), await makeGroup(ashlar)];
    const inner = await makeGroup(ashlar, { parent_id: outer.id, path: 'same', name: 'same' });
    await makeProject(ashlar, { namespace_id: other.id, path: 'same', name: 'same' });
    const move = async (id: number, to: number, call = ashlar.root) => {
      const response = await call(`POST /groups/${id}/transfer`, { body: { group_id: to } });
      return [response.status, response.body?.message];
    };
    const failed = (reason: string) => [400, `Transfer failed: ${reason}`];
    expect(await move(outer.id, inner.id)).toEqual(failed('Cannot transfer group to one of its subgroup.'));
    expect(await move(outer.id, outer.id)).toEqual(failed('Cannot transfer group to one of its subgroup.'));
    expect(await move(inner.id, outer.id)).toEqual(
      failed('Group is already associated to the parent group.'),
    );
    expect(await move(inner.id, other.id)).toEqual(
      failed('The parent group already has a subgroup or a project with the same path.'),
    );
    const { owner } = await makeMembers(ashlar, `groups/${outer.id}`, 'owner');
    expect((await move(inner.id, other.id, ashlar.as(owner.token)))[0]).toBe(404);
    await addMember(ashlar, `groups/${other.id}`, owner, 30);
    expect((await move(inner.id, other.id, ashlar.as(owner.token)))[0]).toBe(403);
    expect((await move(other.id, outer.id, ashlar.as(owner.token)))[0]).toBe(403);
  });

  it('never makes a circle of two groups that go into each other at once', async () => {
    const [a, b] = [await makeGroup(ashlar), await makeGroup(ashlar)];
    const responses = await Promise.all([
      ashlar.root(`POST /groups/${a.id}/transfer`, { body: { group_id: b.id } }),
      ashlar.root(`POST /groups/${b.id}/transfer`, { body: { group_id: a.id } }),
    ]);
    expect(responses.map((response) => response.status).sort()).toEqual([201, 400]);
    const { db } = ashlar.app.services.database;
    const rows = await db
      .selectFrom('namespaces')
      .select(['parent_id', 'ancestor_ids'])
      .where('id', 'in', [a.id, b.id])
      .execute();
    expect(rows.map((row) => row.ancestor_ids.length).sort()).toEqual([1, 2]);
  });

  it('keeps full paths true while groups are created below what moves', async () => {
    const [target, top] = [await makeGroup(ashlar), await makeGroup(ashlar)];
    const parent = await makeGroup(ashlar, { parent_id: top.id, path: 'p', name: 'p' });
    const responses = await Promise.all([
      ashlar.root(`POST /groups/${top.id}/transfer`, { body: { group_id: target.id } }),
      ...[1, 2, 3, 4].map((n) =>
        ashlar.root('POST /groups', { body: { path: `c${n}`, name: `c${n}`, parent_id: parent.id } }),
      ),
    ]);
    expect(responses.map((response) => response.status)).toEqual([201, 201, 201, 201, 201]);
    const { db } = ashlar.app.services.database;
    const rows = await db
      .selectFrom('namespaces')
      .select(['full_path', 'ancestor_ids'])
      .where('parent_id', '=', parent.id)
      .orderBy('path')
      .execute();
    expect(rows.map((row) => row.full_path)).toEqual(
      [1, 2, 3, 4].map((n) => `${target.full_path}/${top.full_path}/p/c${n}`),
    );
    for (const row of rows) expect(row.ancestor_ids.slice(0, 3)).toEqual([target.id, top.id, parent.id]);
  });

  it('offers the groups that a group could go to', async () => {
    const owner = await makeUser(ashlar);
    const [source, other, strict, none] = await Promise.all([1, 2, 3, 4].map(() => makeGroup(ashlar)));
    if (!source || !other || !strict || !none) throw new Error('four groups expected');
    const inner = await makeGroup(ashlar, { parent_id: source.id });
    bodyOf(
      await ashlar.root(`PUT /groups/${strict.id}`, { body: { subgroup_creation_level: 'owner' } }),
      200,
    );
    await addMember(ashlar, `groups/${source.id}`, owner, 50);
    await addMember(ashlar, `groups/${other.id}`, owner, 40);
    await addMember(ashlar, `groups/${strict.id}`, owner, 40);
    await addMember(ashlar, `groups/${none.id}`, owner, 30);
    const locations = bodyOf(
      await ashlar.as(owner.token)(`GET /groups/${source.id}/transfer_locations`),
      200,
    );
    expect(locations).toEqual([
      {
        id: other.id,
        web_url: `${ashlar.url}/groups/${other.full_path}`,
        name: other.full_path,
        avatar_url: null,
        full_name: other.full_path,
        full_path: other.full_path,
      },
    ]);
    const searched = await ashlar.root(`GET /groups/${inner.id}/transfer_locations`, {
      query: `search=${none.full_path}`,
    });
    expect(idsOf(bodyOf(searched, 200))).toEqual([none.id]);
  });
});

describe('archiving', () => {
  it('makes all below read-only, and shows in the filters', async () => {
    const group = await makeGroup(ashlar);
    const inner = await makeGroup(ashlar, { parent_id: group.id });
    const project = await makeProject(ashlar, { namespace_id: inner.id });
    expect(bodyOf(await ashlar.root(`POST /groups/${group.id}/archive`), 201).archived).toBe(true);
    expect((await ashlar.root(`POST /groups/${group.id}/archive`)).status).toBe(422);
    expect(bodyOf(await ashlar.root(`GET /projects/${project.id}`), 200).archived).toBe(true);
    expect(
      (await ashlar.root(`POST /groups/${inner.id}/share`, { body: { group_id: 1, group_access: 10 } }))
        .status,
    ).toBe(403);
    const listed = async (query: string) =>
      idsOf(bodyOf(await ashlar.root('GET /groups', { query: `${query}&per_page=100` }), 200));
    expect(await listed('archived=true')).toEqual(expect.arrayContaining([group.id, inner.id]));
    expect(await listed('active=true')).not.toContain(inner.id);
    const { maintainer } = await makeMembers(ashlar, `groups/${group.id}`, 'maintainer');
    expect((await ashlar.as(maintainer.token)(`POST /groups/${group.id}/unarchive`)).status).toBe(403);
    expect(bodyOf(await ashlar.root(`POST /groups/${group.id}/unarchive`), 201).archived).toBe(false);
  });
});

describe('sharing', () => {
  it('gives the members of a group a role, no greater than the share', async () => {
    const [group, invited] = [await makeGroup(ashlar), await makeGroup(ashlar)];
    const inner = await makeGroup(ashlar, { parent_id: group.id });
    const project = await makeProject(ashlar, { namespace_id: inner.id });
    const user = await makeUser(ashlar);
    await addMember(ashlar, `groups/${invited.id}`, user, 50);
    const as = ashlar.as(user.token);
    expect((await as(`GET /projects/${project.id}`)).status).toBe(404);
    const share = { group_id: invited.id, group_access: 30, expires_at: '2999-01-01' };
    const shared = bodyOf(await ashlar.root(`POST /groups/${group.id}/share`, { body: share }), 201);
    expect(shared.shared_with_groups).toEqual([
      {
        group_id: invited.id,
        group_name: invited.full_path,
        group_full_path: invited.full_path,
        group_access_level: 30,
        expires_at: '2999-01-01',
      },
    ]);
    expect(bodyOf(await as(`GET /projects/${project.id}`), 200).permissions.group_access.access_level).toBe(
      30,
    );
    expect((await as(`PUT /groups/${group.id}`, { body: { name: 'x' } })).status).toBe(403);
    expect(idsOf(bodyOf(await as('GET /groups'), 200)).sort()).toEqual(
      [group.id, inner.id, invited.id].sort(),
    );
    expect((await ashlar.root(`POST /groups/${group.id}/share`, { body: share })).status).toBe(409);
    expect(idsOf(bodyOf(await as(`GET /groups/${invited.id}/groups/shared`), 200))).toEqual([group.id]);
    expect(idsOf(bodyOf(await as(`GET /groups/${inner.id}/invited_groups`), 200))).toEqual([invited.id]);
    const direct = await as(`GET /groups/${inner.id}/invited_groups`, { query: 'relation[]=direct' });
    expect(bodyOf(direct, 200)).toEqual([]);
    bodyOf(await ashlar.root(`DELETE /groups/${group.id}/share/${invited.id}`), 204);
    expect((await as(`GET /projects/${project.id}`)).status).toBe(404);
    expect((await ashlar.root(`DELETE /groups/${group.id}/share/${invited.id}`)).status).toBe(404);
  });

  it('with the group itself changes no role', async () => {
    const group = await makeGroup(ashlar);
    const inner = await makeGroup(ashlar, { parent_id: group.id });
    const inside = await makeUser(ashlar);
    const { owner, guest } = await makeMembers(ashlar, `groups/${group.id}`, 'owner', 'guest');
    await addMember(ashlar, `groups/${inner.id}`, inside, 50);
    const share = { group_id: group.id, group_access: 50 };
    const shared = bodyOf(
      await ashlar.as(owner.token)(`POST /groups/${group.id}/share`, { body: share }),
      201,
    );
    expect(shared.shared_with_groups).toMatchObject([{ group_id: group.id, group_access_level: 50 }]);
    expect((await ashlar.as(owner.token)(`POST /groups/${group.id}/share`, { body: share })).status).toBe(
      409,
    );
    const rename = async ({ token }: { token: string }) =>
      (await ashlar.as(token)(`PUT /groups/${group.id}`, { body: { name: 'x' } })).status;
    expect([await rename(owner), await rename(guest), await rename(inside)]).toEqual([200, 403, 403]);
    const members = bodyOf(await ashlar.as(owner.token)(`GET /groups/${group.id}/members/all`), 200);
    expect(members.map(({ access_level }: { access_level: number }) => access_level).sort()).toEqual([
      10, 50, 50,
    ]);
    const listed = bodyOf(await ashlar.as(guest.token)('GET /groups'), 200);
    expect(idsOf(listed).sort()).toEqual([group.id, inner.id]);
    bodyOf(await ashlar.as(owner.token)(`DELETE /groups/${group.id}/share/${group.id}`), 204);
    expect([await rename(owner), await rename(guest)]).toEqual([200, 403]);
  });

  it('names invited groups to those who see them', async () => {
    const group = await makeGroup(ashlar, { visibility: 'public' });
    const hidden = await makeGroup(ashlar);
    bodyOf(
      await ashlar.root(`POST /groups/${group.id}/share`, {
        body: { group_id: hidden.id, group_access: 10 },
      }),
      201,
    );
    expect(bodyOf(await ashlar.call(`GET /groups/${group.id}`), 200).shared_with_groups).toEqual([]);
    expect(bodyOf(await ashlar.call(`GET /groups/${group.id}/invited_groups`), 200)).toEqual([]);
  });

  it('is refused with what one does not see, for maintainers, and outside a closed tree', async () => {
    const [group, hidden, open] = [
      await makeGroup(ashlar),
      await makeGroup(ashlar),
      await makeGroup(ashlar, { visibility: 'public' }),
    ];
    const inner = await makeGroup(ashlar, { parent_id: group.id });
    const { owner, maintainer } = await makeMembers(ashlar, `groups/${group.id}`, 'owner', 'maintainer');
    const share = async (token: string, body: Record<string, unknown>) =>
      (await ashlar.as(token)(`POST /groups/${group.id}/share`, { body })).status;
    expect(await share(owner.token, { group_id: hidden.id, group_access: 10 })).toBe(404);
    expect(await share(owner.token, { group_id: open.id, group_access: 60 })).toBe(400);
    expect(await share(owner.token, { group_id: open.id, group_access: 10, expires_at: '2001-01-01' })).toBe(
      400,
    );
    expect(await share(maintainer.token, { group_id: open.id, group_access: 10 })).toBe(403);
    const closed = { body: { prevent_sharing_groups_outside_hierarchy: true } };
    expect((await ashlar.root(`PUT /groups/${inner.id}`, closed)).status).toBe(400);
    bodyOf(await ashlar.root(`PUT /groups/${group.id}`, closed), 200);
    expect(await share(owner.token, { group_id: open.id, group_access: 10 })).toBe(403);
    expect(await share(owner.token, { group_id: inner.id, group_access: 10 })).toBe(201);
  });
});
