/** What projects take, by kinds, and what groups have of that. */
import { expect, test } from 'vitest';
import { useApp } from '../../../../../test/support/app.ts';
import { bodyOf, makeGroup } from '../../../../../test/support/factories.ts';
import { makeTeam, own, type Team } from '../../../../../test/support/packages.ts';
import { openRegistry } from '../../../../../test/support/registry.ts';
import { makeRunner, startPipeline } from '../../../../../test/support/runner.ts';
import { zipOf } from '../../../../../test/support/zip.ts';

const app = useApp();

const statisticsOf = async (id: number) =>
  bodyOf(await app.root(`GET /projects/${id}`, { query: 'statistics=true' }), 200).statistics;
const groupStatistics = async (fullPath: string) => {
  const name = fullPath.slice(fullPath.lastIndexOf('/') + 1);
  const listed = await app.root('GET /groups', { query: `search=${name}&statistics=true` });
  return bodyOf(listed, 200)[0]?.statistics;
};

async function publish({ project, developer }: Team, name: string, length: number): Promise<void> {
  const at = `${app.url}/api/v4/projects/${project.id}/packages/generic/stone/1.0/${name}`;
  const response = await fetch(at, { method: 'PUT', headers: own(developer), body: Buffer.alloc(length) });
  expect(response.status).toBe(201);
}

async function upload({ project, developer }: Team, length: number): Promise<number> {
  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(length)]), 'a.bin');
  const sent = { method: 'POST', headers: own(developer), body: form };
  const response = await fetch(`${app.url}/api/v4/projects/${project.id}/uploads`, sent);
  expect(response.status).toBe(201);
  return ((await response.json()) as { id: number }).id;
}

test('packages, uploads, artifacts and images are counted when they come, and not when they are gone', async () => {
  const team = await makeTeam(app);
  const { group, project, developer, maintainer } = team;
  const none = {
    storage_size: 0,
    ...{ job_artifacts_size: 0, packages_size: 0, uploads_size: 0, container_registry_size: 0 },
  };
  expect(await statisticsOf(project.id)).toMatchObject(none);

  await publish(team, 'a', 100);
  await publish(team, 'b', 20);
  expect(await statisticsOf(project.id)).toMatchObject({ ...none, packages_size: 120, storage_size: 120 });
  const uploaded = await upload(team, 300);
  await upload(team, 4);
  expect(await statisticsOf(project.id)).toMatchObject({ packages_size: 120, uploads_size: 304 });

  const registry = openRegistry(app, { username: developer.username, password: developer.token });
  const image = project.path_with_namespace.toLowerCase();
  const manifests = ['web', 'api'].map((name) =>
    registry.pushImage(`${image}/${name}`, 'one', 'x'.repeat(5_000), { annotations: { name } }),
  );
  await Promise.all(manifests);
  const withImages = await statisticsOf(project.id);
  // Two manifests, and of the layer and the configuration one.
  expect(withImages.container_registry_size).toBeGreaterThan(5_002 + 2 * 300);
  expect(withImages.container_registry_size).toBeLessThan(2 * 5_000);

  const runner = await makeRunner(app, project);
  await startPipeline(app, project, maintainer, 'build:\n  script: make\n  artifacts:\n    paths: [out]\n');
  const job = await runner.take();
  const archive = zipOf({ name: 'out/a', content: 'granite' });
  expect(
    (await runner.upload(job, archive, { artifact_type: 'archive', artifact_format: 'zip' })).status,
  ).toBe(201);
  const all = await statisticsOf(project.id);
  expect(all.job_artifacts_size).toBe(archive.length);
  const { storage_size, commit_count, ...sizes } = all;
  expect(storage_size).toBe(Object.values<number>(sizes).reduce((sum, size) => sum + size, 0));
  expect(commit_count).toBeGreaterThanOrEqual(0);

  // Of a list, and of the group; who reports sees them, too.
  const listed = await app.as(team.reporter.token)('GET /projects', { query: 'statistics=true' });
  expect(bodyOf(listed, 200)).toMatchObject([{ id: project.id, statistics: all }]);
  const { container_registry_size: _, commit_count: __, ...ofGroup } = all;
  expect(await groupStatistics(group.full_path)).toEqual(ofGroup);

  const api = app.as(maintainer.token);
  bodyOf(await api(`DELETE /projects/${project.id}/uploads/${uploaded}`), 204);
  bodyOf(await api(`DELETE /projects/${project.id}/jobs/${job.id}/artifacts`), 204);
  const [row] = bodyOf(await api(`GET /projects/${project.id}/packages`), 200);
  bodyOf(await api(`DELETE /projects/${project.id}/packages/${row?.id}`), 204);
  expect(await statisticsOf(project.id)).toMatchObject({
    ...{ packages_size: 0, uploads_size: 4, job_artifacts_size: 0 },
    container_registry_size: all.container_registry_size,
  });
});

test('a group has the sum of the projects right in it, wherever they came from', async () => {
  const [one, other] = [await makeTeam(app), await makeTeam(app)];
  await publish(one, 'a', 10);
  await publish(other, 'a', 200);
  expect((await groupStatistics(one.group.full_path)).packages_size).toBe(10);
  const to = { body: { namespace: one.group.id } };
  bodyOf(await app.root(`PUT /projects/${other.project.id}/transfer`, to), 200);
  expect((await groupStatistics(one.group.full_path)).packages_size).toBe(210);
  expect((await groupStatistics(other.group.full_path)).packages_size).toBe(0);
  const below = await makeGroup(app, { parent_id: one.group.id });
  bodyOf(
    await app.root(`PUT /projects/${other.project.id}/transfer`, { body: { namespace: below.id } }),
    200,
  );
  expect((await groupStatistics(one.group.full_path)).packages_size).toBe(10);
  expect((await groupStatistics(below.full_path)).packages_size).toBe(200);
});

test('a namespace has the size of the repositories inside it, for owners', async () => {
  const { group, project, guest } = await makeTeam(app);
  const body = { branch: 'main', commit_message: 'First', actions: [] as object[] };
  body.actions.push({ action: 'create', file_path: 'a', content: 'granite' });
  bodyOf(await app.root(`POST /projects/${project.id}/repository/commits`, { body }), 201);
  bodyOf(await app.root(`POST /projects/${project.id}/repository_size`), 201);
  const { repository_size } = await statisticsOf(project.id);
  expect(repository_size).toBeGreaterThan(0);
  const namespace = bodyOf(await app.root(`GET /namespaces/${group.id}`), 200);
  expect(namespace.root_repository_size).toBe(repository_size);
  const members = { body: { user_id: guest.id, access_level: 10 } };
  bodyOf(await app.root(`POST /groups/${group.id}/members`, members), 201);
  const seen = bodyOf(await app.as(guest.token)(`GET /namespaces/${group.id}`), 200);
  expect(seen).not.toHaveProperty('root_repository_size');
});
