/** Namespaces over HTTP (facts: Namespaces). */
import { describe, expect, it } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { addMember, bodyOf, makeGroup, makeProject, makeUser } from '../../../../test/support/factories.ts';

const ashlar = useApp();

describe('namespaces', () => {
  it('are the personal one and the groups joined; all, for administrators', async () => {
    const user = await makeUser(ashlar);
    const [mine, other] = [await makeGroup(ashlar), await makeGroup(ashlar)];
    await addMember(ashlar, `groups/${mine.id}`, user, 30);
    await makeProject(ashlar, { namespace_id: mine.id });
    const own = bodyOf(await ashlar.as(user.token)('GET /namespaces'), 200);
    expect(own.map((each: { full_path: string }) => each.full_path)).toEqual([user.username, mine.full_path]);
    expect(own[0]).toMatchObject({
      kind: 'user',
      projects_count: 0,
      web_url: `${ashlar.url}/${user.username}`,
    });
    expect(own[1]).not.toHaveProperty('members_count_with_descendants');
    const all = bodyOf(await ashlar.root('GET /namespaces', { query: 'search=group' }), 200);
    expect(all).toMatchObject([
      { full_path: mine.full_path, members_count_with_descendants: 2, projects_count: 1 },
      { full_path: other.full_path },
    ]);
    const owned = await ashlar.as(user.token)('GET /namespaces', { query: 'owned_only=true' });
    expect(bodyOf(owned, 200)).toHaveLength(1);
    expect((await ashlar.call('GET /namespaces')).status).toBe(401);
  });

  it('are shown to those who are in them', async () => {
    const user = await makeUser(ashlar);
    const group = await makeGroup(ashlar, { visibility: 'public' });
    const get = async (id: string | number, token = user.token) =>
      (await ashlar.as(token)(`GET /namespaces/${id}`)).status;
    expect(await get(user.username)).toBe(200);
    expect(await get('root')).toBe(404);
    expect(await get(group.id)).toBe(404);
    await addMember(ashlar, `groups/${group.id}`, user, 10);
    expect(await get(encodeURIComponent(group.full_path))).toBe(200);
  });

  it('say whether a path is in use, and what is free', async () => {
    const user = await makeUser(ashlar);
    const as = ashlar.as(user.token);
    const group = await makeGroup(ashlar);
    await makeGroup(ashlar, { path: `${group.full_path}1`, name: 'x' });
    expect(bodyOf(await as(`GET /namespaces/${group.full_path.toUpperCase()}/exists`), 200)).toMatchObject({
      exists: true,
      suggests: [`${group.full_path.toUpperCase()}2`],
    });
    expect(bodyOf(await as('GET /namespaces/never-seen/exists'), 200)).toEqual({
      exists: false,
      suggests: [],
    });
    // The contents of a hidden group are not disclosed.
    const hidden = await as('GET /namespaces/x/exists', { query: `parent_id=${group.id}` });
    expect(hidden.status).toBe(404);
  });
});
