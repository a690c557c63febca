/** An independent JavaScript client, @gitbeaker/rest, over groups and projects. */
import { Gitlab } from '@gitbeaker/rest';
import { describe, expect, test } from 'vitest';
import { type Client, ids, inDays, picture, refusal, soon, useGitbeaker } from './gitbeaker-client.ts';

const gitbeaker = useGitbeaker();

describe('namespaces', () => {
  test('groups', async () => {
    const { root } = gitbeaker;
    const tools = await gitbeaker.makeGroup('tools', {
      description: 'All of them',
      projectCreationLevel: 'developer',
    });
    expect(tools).toMatchObject({
      full_path: 'tools',
      visibility: 'private',
      project_creation_level: 'developer',
    });
    expect((await refusal(gitbeaker.makeGroup('tools')))[0]).toBe(400);
    expect(await refusal(gitbeaker.makeGroup('bad path'))).toEqual([400, expect.stringContaining('path')]);
    const saws = await gitbeaker.makeGroup('saws', { parentId: tools.id });
    expect(saws).toMatchObject({ full_path: 'tools/saws', parent_id: tools.id });
    expect(await root.Groups.edit(saws.id, { name: 'Saws 2', description: 'sharp' })).toMatchObject({
      name: 'Saws 2',
      description: 'sharp',
      path: 'saws',
    });
    expect(await root.Groups.show('tools/saws')).toMatchObject({
      id: saws.id,
      shared_with_groups: [],
    });
    expect(await root.Groups.show(tools.id, { withProjects: false })).not.toHaveProperty('projects');
    expect(ids(await root.Groups.all({ search: 'tools', topLevelOnly: true }))).toEqual([tools.id]);
    expect(ids(await root.Groups.search('saws'))).toEqual([saws.id]);
    const fine = await gitbeaker.makeGroup('fine', { parentId: saws.id });
    expect(ids(await root.Groups.allSubgroups(tools.id))).toEqual([saws.id]);
    expect(ids(await root.Groups.allDescendantGroups(tools.id, {})).sort()).toEqual(
      [saws.id, fine.id].sort(),
    );

    const guests = await gitbeaker.makeGroup('guests');
    expect(await root.Groups.share(tools.id, guests.id, 30, { expiresAt: inDays(9) })).toMatchObject({
      shared_with_groups: [
        { group_id: guests.id, group_full_path: 'guests', group_access_level: 30, expires_at: inDays(9) },
      ],
    });
    await root.Groups.unshare(tools.id, guests.id, {});
    expect(await root.Groups.show(tools.id)).toMatchObject({ shared_with_groups: [] });

    expect(ids(await root.Groups.allTransferLocations(fine.id))).toContain(guests.id);
    expect(await root.Groups.transfer(fine.id, { groupId: guests.id })).toMatchObject({
      full_path: 'guests/fine',
    });
    expect(await refusal(root.Groups.show('tools/saws/fine'))).toEqual([404, '404 Group Not Found']);
    expect(await root.Groups.transfer(fine.id, {} as never)).toMatchObject({
      full_path: 'fine',
      parent_id: null,
    });

    await root.GroupCustomAttributes.set(tools.id, 'cost-centre', '42');
    expect(await root.GroupCustomAttributes.show(tools.id, 'cost-centre')).toEqual({
      key: 'cost-centre',
      value: '42',
    });

    await root.Groups.remove(saws.id);
    const doomed = await root.Groups.show(saws.id);
    expect(doomed).toMatchObject({ marked_for_deletion_on: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) });
    await root.Groups.restore(saws.id);
    expect(await root.Groups.show('tools/saws')).toMatchObject({
      id: saws.id,
      marked_for_deletion_on: null,
    });
  });

  test('namespaces of groups and people', async () => {
    const { root } = gitbeaker;
    const group = await gitbeaker.makeGroup('found');
    expect(await root.Namespaces.all({ search: 'found' })).toMatchObject([
      { id: group.id, kind: 'group', full_path: 'found' },
    ]);
    expect(await root.Namespaces.show('root')).toMatchObject({ kind: 'user', path: 'root' });
    expect(await root.Namespaces.exists('found')).toMatchObject({
      exists: true,
      suggests: ['found1'],
    });
    expect(await root.Namespaces.exists('not-found')).toEqual({ exists: false, suggests: [] });
  });

  test('projects', async () => {
    const { root } = gitbeaker;
    const group = await gitbeaker.makeGroup('house');
    const wall = await root.Projects.create({
      name: 'Wall',
      namespaceId: group.id,
      description: 'of brick',
      topics: ['brick', 'old'],
    });
    expect(wall).toMatchObject({
      path_with_namespace: 'house/wall',
      name_with_namespace: 'house / Wall',
      visibility: 'private',
      topics: ['brick', 'old'],
      web_url: `${gitbeaker.url}/house/wall`,
      namespace: { id: group.id, kind: 'group' },
    });
    expect((await refusal(root.Projects.create({ name: 'Wall', namespaceId: group.id })))[0]).toBe(409);
    expect(
      await root.Projects.edit(wall.id, {
        description: null as never,
        issuesAccessLevel: 'disabled',
        mergeMethod: 'ff',
      }),
    ).toMatchObject({ description: null, issues_enabled: false, merge_method: 'ff' });
    expect(
      (await root.Projects.uploadAvatar(wall.id, { content: picture, filename: 'wall.png' })).avatar_url,
    ).toMatch(/\/uploads\/.*\.png$/);
    expect(await root.Projects.removeAvatar(wall.id)).toMatchObject({ avatar_url: null });
    expect(await root.Projects.show('house/wall', { statistics: true })).toMatchObject({
      id: wall.id,
      statistics: { commit_count: 0 },
    });

    expect(await root.Projects.star(wall.id)).toMatchObject({ star_count: 1 });
    expect(await root.Projects.allStarrers(wall.id)).toMatchObject([{ user: { username: 'root' } }]);
    expect(ids(await root.Users.allStarredProjects(1))).toEqual([wall.id]);
    expect(await root.Projects.unstar(wall.id)).toMatchObject({ star_count: 0 });
    expect(await root.Projects.archive(wall.id)).toMatchObject({ archived: true });
    expect(ids(await root.Groups.allProjects(group.id, { archived: false }))).toEqual([]);
    expect(await root.Projects.unarchive(wall.id)).toMatchObject({ archived: false });
    expect(ids(await root.Projects.search('wall'))).toEqual([wall.id]);
    expect(await root.Projects.allUsers(wall.id)).toMatchObject([{ username: 'root' }]);
    expect(await root.Projects.allGroups(wall.id)).toMatchObject([{ id: group.id }]);

    const guests = await gitbeaker.makeGroup('lodgers');
    expect(await root.Projects.share(wall.id, guests.id, 20)).toMatchObject({
      project_id: wall.id,
      group_id: guests.id,
      group_access: 20,
    });
    expect(await root.Projects.show(wall.id)).toMatchObject({
      shared_with_groups: [{ group_id: guests.id, group_access_level: 20 }],
    });
    expect(ids(await root.Groups.allSharedProjects(guests.id))).toEqual([wall.id]);
    await root.Projects.unshare(wall.id, guests.id);

    const copy = await root.Projects.create({ name: 'Copy', namespaceId: group.id });
    expect(await root.Projects.createForkRelationship(copy.id, wall.id)).toMatchObject({
      forked_from_project: { id: wall.id },
    });
    expect(ids(await root.Projects.allForks(wall.id))).toEqual([copy.id]);
    await root.Projects.removeForkRelationship(copy.id);
    expect(await root.Projects.show(copy.id)).not.toHaveProperty('forked_from_project');

    // Moved twice: the client follows the redirects of both old paths (facts: Cross-cutting behaviour).
    await root.Projects.edit(wall.id, { path: 'long-wall' });
    expect(await root.Projects.show('house/wall')).toMatchObject({
      id: wall.id,
      path_with_namespace: 'house/long-wall',
    });
    expect(await root.Projects.transfer(wall.id, 'lodgers')).toMatchObject({
      path_with_namespace: 'lodgers/long-wall',
    });
    expect(await root.ProjectMembers.all('house/long-wall')).toEqual(await root.ProjectMembers.all(wall.id));
    expect(await refusal(root.Projects.edit('house/wall', { name: 'x' }))).toEqual([
      405,
      'Non GET methods are not allowed for moved projects',
    ]);

    await root.ProjectCustomAttributes.set(wall.id, 'height', '3 m');
    expect(await root.ProjectCustomAttributes.all(wall.id)).toEqual([{ key: 'height', value: '3 m' }]);

    expect(await root.Projects.remove(copy.id)).toEqual({ message: '202 Accepted' });
    const doomed = await root.Projects.show(copy.id);
    expect(doomed.marked_for_deletion_on).toMatch(/^\d{4}-\d\d-\d\d$/);
    expect(await root.Projects.restore(copy.id)).toMatchObject({ id: copy.id, path: 'copy' });
    await root.Projects.remove(copy.id);
    const { path_with_namespace } = await root.Projects.show(copy.id);
    await root.Projects.remove(copy.id, { permanentlyRemove: true, fullPath: path_with_namespace });
    await expect
      .poll(() => refusal(root.Projects.show(copy.id)), soon)
      .toEqual([404, '404 Project Not Found']);
  });

  test('lists by offset and by keyset, to their end', async () => {
    const { root } = gitbeaker;
    const group = await gitbeaker.makeGroup('many');
    const made: number[] = [];
    for (let number = 0; number < 8; number++)
      made.push((await root.Projects.create({ name: `m${number}`, namespaceId: group.id })).id);
    const page = await root.Groups.allProjects(group.id, {
      perPage: 3,
      page: 2,
      orderBy: 'id',
      sort: 'asc',
      showExpanded: true,
      pagination: 'offset',
    });
    expect(ids(page.data)).toEqual(made.slice(3, 6));
    expect(page.paginationInfo).toEqual({
      total: 8,
      next: 3,
      current: 2,
      previous: 1,
      perPage: 3,
      totalPages: 3,
    });
    expect(ids(await root.Groups.allProjects(group.id, { perPage: 3, orderBy: 'id', sort: 'asc' }))).toEqual(
      made,
    );
    expect(
      ids(
        await root.Projects.all({
          perPage: 3,
          maxPages: 2,
          search: 'm',
          orderBy: 'id',
          sort: 'asc',
          idAfter: (made[0] ?? 0) - 1,
        }),
      ),
    ).toEqual(made.slice(0, 6));

    const everything = ids(await root.Projects.all({ perPage: 100, pagination: 'offset' }));
    for (const sort of ['asc', 'desc'] as const) {
      const walked = ids(await root.Projects.all({ pagination: 'keyset', orderBy: 'id', sort, perPage: 3 }));
      expect(walked).toEqual(everything.toSorted((a, b) => (sort === 'asc' ? a - b : b - a)));
    }
    const users = ids(await root.Users.all({ perPage: 100 }));
    const walked = await root.Users.all({ pagination: 'keyset', orderBy: 'name', sort: 'asc', perPage: 2 });
    expect(ids(walked).toSorted((a, b) => a - b)).toEqual(users.toSorted((a, b) => a - b));
    // Groups have it for anonymous callers only (spec: Supported keyset resources).
    const anonymous: Client = new Gitlab({ host: gitbeaker.url } as never);
    for (const path of ['b', 'c', 'a']) await gitbeaker.makeGroup(path, { visibility: 'public' });
    const named = await anonymous.Groups.all({
      pagination: 'keyset',
      orderBy: 'name',
      sort: 'asc',
      perPage: 2,
    } as never);
    expect(named.map(({ path }) => path)).toEqual(['a', 'b', 'c']);
    expect((await refusal(root.Groups.all({ pagination: 'keyset' } as never)))[0]).toBe(405);
    const events = ids(await root.AuditEvents.all({ perPage: 100, maxPages: 1 }));
    expect(
      ids(
        await root.AuditEvents.all({
          pagination: 'keyset',
          orderBy: 'id',
          sort: 'desc',
          perPage: 50,
        }),
      ).slice(0, events.length),
    ).toEqual(events);
  });
});
