/** helm: charts from a repository of a channel, and by pushes to the container registry. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { useGitbeaker } from './gitbeaker-client.ts';
import { runGo } from './programs.ts';
import { makeFolder } from './support.ts';

const gitbeaker = useGitbeaker();
const home = makeFolder();
let project = 0;
let host = '';
let user = { username: '', token: '' };

const helm = (...args: string[]) => runGo('helm', args, { folder: home, home, env: {} });
async function must(...args: string[]): Promise<string> {
  const { code, output } = await helm(...args);
  expect(code, output).toBe(0);
  return output;
}

/** Makes the archive of a chart; its file. */
async function pack(name: string, version: string, more = ''): Promise<string> {
  const folder = join(home, name);
  mkdirSync(join(folder, 'templates'), { recursive: true });
  writeFileSync(join(folder, 'Chart.yaml'), `apiVersion: v2\nname: ${name}\nversion: ${version}\n${more}`);
  writeFileSync(
    join(folder, 'templates', 'map.yaml'),
    `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\ndata:\n  version: "{{ .Chart.Version }}"\n`,
  );
  await must('package', name);
  return join(home, `${name}-${version}.tgz`);
}

const channel = (name: string) => `${gitbeaker.url}/api/v4/projects/${project}/packages/helm/${name}`;

/** helm itself has no command that publishes in a channel. */
async function publish(file: string, name: string, password = user.token): Promise<number> {
  const form = new FormData();
  form.set('chart', new Blob([readFileSync(file)]), 'chart.tgz');
  const address = channel(name).replace(/\/([^/]+)$/, '/api/$1/charts');
  const authorization = `Basic ${Buffer.from(`${user.username}:${password}`).toString('base64')}`;
  return (await fetch(address, { method: 'POST', headers: { authorization }, body: form })).status;
}

beforeAll(async () => {
  const { id: group } = await gitbeaker.makeGroup('harbour');
  ({ id: project } = await gitbeaker.root.Projects.create({ name: 'pier', namespaceId: group }));
  host = new URL(gitbeaker.url).host;
  const made = await gitbeaker.makeUser('pilot');
  user = { username: 'pilot', token: made.token };
  await gitbeaker.root.GroupMembers.add(group, 30, { userId: made.id });
});

test('charts of a channel are found, shown, pulled, and needed by others', async () => {
  expect(await publish(await pack('buoy', '1.0.0'), 'stable')).toBe(201);
  expect(await publish(await pack('buoy', '1.1.0', 'description: Floats\n'), 'stable')).toBe(201);
  expect(await publish(await pack('buoy', '2.0.0-rc.1'), 'devel')).toBe(201);
  expect(await publish(join(home, 'buoy-1.0.0.tgz'), 'stable', 'wrong')).toBe(401);

  expect((await helm('repo', 'add', 'pier', channel('stable'))).code).not.toBe(0);
  const credentials = ['--username', user.username, '--password', user.token];
  await must('repo', 'add', 'pier', channel('stable'), ...credentials);
  await must('repo', 'add', 'next', channel('devel'), ...credentials);
  await must('repo', 'update');
  const found = JSON.parse(await must('search', 'repo', 'buoy', '--versions', '--devel', '--output', 'json'));
  expect(
    found.map((each: { name: string; version: string }) => `${each.name} ${each.version}`).sort(),
  ).toEqual(['next/buoy 2.0.0-rc.1', 'pier/buoy 1.0.0', 'pier/buoy 1.1.0']);
  expect(await must('show', 'chart', 'pier/buoy')).toContain('description: Floats');
  const there = makeFolder();
  await must('pull', 'pier/buoy', '--version', '1.0.0', '--destination', there);
  expect(readFileSync(join(there, 'buoy-1.0.0.tgz'))).toEqual(readFileSync(join(home, 'buoy-1.0.0.tgz')));
  expect(await must('template', 'pier/buoy')).toContain('version: "1.1.0"');

  const needs = `dependencies:\n  - name: buoy\n    version: ^1.0.0\n    repository: "@pier"\n`;
  mkdirSync(join(home, 'light'));
  writeFileSync(join(home, 'light', 'Chart.yaml'), `apiVersion: v2\nname: light\nversion: 0.1.0\n${needs}`);
  await must('dependency', 'update', 'light');
  expect(existsSync(join(home, 'light', 'charts', 'buoy-1.1.0.tgz'))).toBe(true);

  // Published again, it is the newest file of that version.
  expect(await publish(await pack('buoy', '1.1.0', 'description: Sinks\n'), 'stable')).toBe(201);
  await must('repo', 'update');
  expect(await must('show', 'chart', 'pier/buoy')).toContain('description: Sinks');
});

test('charts are pushed to the container registry, and pulled from it', async () => {
  const file = await pack('anchor', '3.0.0', 'description: Holds\n');
  const repository = `oci://${host}/harbour/pier`;
  expect((await helm('push', file, repository, '--plain-http')).code).not.toBe(0);
  const login = ['registry', 'login', host, '--plain-http', '--username', user.username];
  expect((await helm(...login, '--password', 'wrong')).code).not.toBe(0);
  await must(...login, '--password', user.token);
  await must('push', file, repository, '--plain-http');
  expect(await must('show', 'chart', `${repository}/anchor`, '--plain-http')).toContain('description: Holds');
  const there = makeFolder();
  await must('pull', `${repository}/anchor`, '--version', '3.0.0', '--plain-http', '--destination', there);
  expect(readFileSync(join(there, 'anchor-3.0.0.tgz'))).toEqual(readFileSync(file));
  const repositories = await gitbeaker.root.ContainerRegistry.allRepositories({ projectId: project });
  expect(repositories.map(({ path }) => path)).toEqual(['harbour/pier/anchor']);
});
