/** Sites over HTTP, under both names. */
import { describe, expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import { bodyOf, makeGroup, makeProject, makeUser } from '../../../test/support/factories.ts';
import { fillProject } from '../../../test/support/repositories.ts';

describe.each(['geo_sites', 'geo_nodes'] as const)('%s', (word) => {
  const app = useApp();
  const path = `/${word}`;
  const make = async (body: object) => bodyOf(await app.root(`POST ${path}`, { body }), 201);

  test('are registered, shown, changed and removed', async () => {
    expect(bodyOf(await app.root(`GET ${path}`), 200)).toEqual([]);
    const primary = await make({ name: 'here', url: app.url, primary: true });
    const self = `${app.url}/api/v4/${word}/${primary.id}`;
    expect(primary).toEqual({
      id: expect.any(Number),
      name: 'here',
      url: `${app.url}/`,
      internal_url: `${app.url}/`,
      primary: true,
      enabled: true,
      current: true,
      files_max_capacity: 10,
      repos_max_capacity: 25,
      verification_max_capacity: 100,
      container_repositories_max_capacity: 10,
      selective_sync_type: null,
      selective_sync_shards: [],
      selective_sync_namespace_ids: [],
      selective_sync_organization_ids: [],
      minimum_reverification_interval: 7,
      blob_download_timeout: 28800,
      ...(word === 'geo_nodes' && { clone_protocol: 'git' }),
      web_edit_url: null,
      _links: { self, status: `${self}/status` },
    });
    const group = await makeGroup(app);
    const there = await make({ name: 'there', url: 'https://there.example.org/', sync_object_storage: true });
    expect(there).toMatchObject({ current: false, primary: false, sync_object_storage: true });
    const body = {
      internal_url: 'https://inner.example.org',
      enabled: false,
      selective_sync_type: 'namespaces',
      selective_sync_namespace_ids: [group.id],
      selective_sync_shards: 'default',
    };
    const changed = bodyOf(await app.root(`PUT ${path}/${there.id}`, { body }), 200);
    expect(changed).toEqual({ ...there, ...body, selective_sync_shards: ['default'] });
    expect(bodyOf(await app.root(`GET ${path}`), 200)).toEqual([primary, changed]);
    expect(bodyOf(await app.root(`GET ${path}/${there.id}`), 200)).toEqual(changed);
    expect((await app.root(`DELETE ${path}/${primary.id}`)).body).toEqual({
      message: 'The primary site cannot be removed while there are secondary sites',
    });
    for (const { id } of [there, primary]) expect((await app.root(`DELETE ${path}/${id}`)).status).toBe(204);
    expect((await app.root(`GET ${path}/${there.id}`)).status).toBe(404);
  });

  test('are refused where they are none, twice, or more than one primary', async () => {
    await make({ name: 'one', url: 'https://one.example.org', primary: true });
    const good = { name: 'two', url: 'https://two.example.org' };
    for (const [body, message] of [
      [{ ...good, name: 'one' }, { name: ['has already been taken'] }],
      [{ ...good, url: 'https://one.example.org' }, { url: ['has already been taken'] }],
      [{ ...good, primary: true }, { primary: ['has already been taken'] }],
      [{ ...good, url: 'javascript:alert(1)' }, { url: ['must be a valid URL'] }],
      [{ ...good, name: ' ' }, { name: ["can't be blank"] }],
      [{ ...good, selective_sync_shards: 'none' }, { selective_sync_shards: ['has no storage none'] }],
      [
        { ...good, selective_sync_namespace_ids: [9_999] },
        { selective_sync_namespace_ids: ['has no group 9999'] },
      ],
    ] as const)
      expect(bodyOf(await app.root(`POST ${path}`, { body }), 400)).toEqual({ message });
    for (const body of [
      { ...good, selective_sync_type: 'all' },
      { ...good, files_max_capacity: -1 },
      { ...good, blob_download_timeout: 86_401 },
      { name: 'two' },
    ])
      expect((await app.root(`POST ${path}`, { body })).status).toBe(400);
    const made = await Promise.all([1, 2].map(() => app.root(`POST ${path}`, { body: good })));
    expect(made.map(({ status }) => status).sort()).toEqual([201, 400]);
  });

  test('have the state that is known of them, and no other', async () => {
    const here = await make({ name: 'state', url: app.url });
    const there = await make({ name: 'unknown', url: 'https://unknown.example.org' });
    const off = await make({ name: 'off', url: 'https://off.example.org', enabled: false });
    const before = bodyOf(await app.root(`GET ${path}/${here.id}/status`), 200);
    const project = await makeProject(app);
    await fillProject(app, project.id);
    const own = bodyOf(await app.root(`GET ${path}/${here.id}/status`), 200);
    const { version } = bodyOf(await app.root('GET /version'), 200);
    expect(own).toMatchObject({
      geo_node_id: here.id,
      projects_count: before.projects_count + 1,
      project_repositories_count: before.project_repositories_count + 1,
      pages_deployments_count: 0,
      project_repositories_verified_count: null,
      project_repositories_synced_in_percentage: '0.00%',
      healthy: true,
      health: 'Healthy',
      health_status: 'Healthy',
      replication_slots_count: 0,
      version,
      storage_shards: [{ name: 'default' }],
      _links: { [word === 'geo_sites' ? 'site' : 'node']: here._links.self },
    });
    const all = bodyOf(await app.root(`GET ${path}/status`, { query: 'per_page=100' }), 200);
    const of = (id: number) => all.find((each: { geo_node_id: number }) => each.geo_node_id === id);
    expect(of(there.id)).toMatchObject({
      projects_count: null,
      uploads_count: null,
      healthy: false,
      health_status: 'Unknown',
      version: null,
      updated_at: null,
    });
    expect(of(off.id)).toMatchObject({ healthy: false, health_status: 'Disabled' });
    expect(of(here.id)).toMatchObject({ healthy: true, projects_count: own.projects_count });
    expect((await app.root(`GET ${path}/999999/status`)).status).toBe(404);
  });

  test('are for administrators', async () => {
    const { token } = await makeUser(app);
    for (const call of [`GET ${path}`, `GET ${path}/status`, `GET ${path}/1`, `DELETE ${path}/1`])
      expect((await app.as(token)(call)).status).toBe(403);
    expect((await app.call(`GET ${path}`)).status).toBe(401);
  });
});
