/** composer, which installs a version that was published from a tag, and the newest of a branch, from the group around its project. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mustRun, runDebian } from './debian.ts';
import { useGitbeaker } from './gitbeaker-client.ts';
import { makeFolder } from './support.ts';

const gitbeaker = useGitbeaker();

const COMPOSER = { program: 'composer' };

test('what is published at a tag is what composer installs', async () => {
  const group = await gitbeaker.makeGroup('quarry');
  const { root, url } = gitbeaker;
  const { id } = await root.Projects.create({ name: 'stone', namespaceId: group.id });
  const reader = await gitbeaker.makeUser('reader');
  await root.ProjectMembers.add(id, 20, { userId: reader.id });
  const commit = (text: string, action: 'create' | 'update') =>
    root.Commits.create(id, 'main', text, [
      { action, filePath: 'composer.json', content: '{"name": "acme/stone", "type": "library"}' },
      { action, filePath: 'stone.php', content: text },
    ]);
  const publish = async (fields: Record<string, string>) => {
    const headers = { 'private-token': (await maker).token };
    const body = new URLSearchParams(fields);
    const address = `${url}/api/v4/projects/${id}/packages/composer`;
    expect((await fetch(address, { method: 'POST', headers, body })).status).toBe(201);
  };
  const maker = gitbeaker.makeUser('mason');
  await root.ProjectMembers.add(id, 30, { userId: (await maker).id });
  await commit('old', 'create');
  await root.Tags.create(id, 'v1.0.0', 'main');
  await publish({ tag: 'v1.0.0' });
  await commit('new', 'update');
  await publish({ branch: 'main' });

  /** What the program installs by a requirement, in a new folder. */
  async function install(version: string, token: string) {
    const folder = makeFolder();
    const write = (name: string, value: unknown) => writeFileSync(join(folder, name), JSON.stringify(value));
    write('auth.json', {
      'http-basic': { [new URL(url).host]: { username: reader.username, password: token } },
    });
    write('composer.json', {
      repositories: [
        { type: 'composer', url: `${url}/api/v4/group/${group.id}/-/packages/composer/packages.json` },
        { 'packagist.org': false },
      ],
      require: { 'acme/stone': version },
      config: { 'secure-http': false, 'preferred-install': 'dist' },
    });
    const args = ['install', '--no-interaction', '--no-progress', '--no-cache', '--prefer-dist'];
    const env = { COMPOSER_ALLOW_SUPERUSER: '1', COMPOSER_HOME: join(folder, 'home') };
    const installed = join(folder, 'vendor', 'acme', 'stone', 'stone.php');
    const run = () => mustRun(COMPOSER, folder, args, env);
    return { folder, args, env, installed, run };
  }

  const released = await install('^1.0', reader.token);
  await released.run();
  expect(readFileSync(released.installed, 'utf8')).toBe('old');
  const branch = await install('dev-main', reader.token);
  await branch.run();
  expect(readFileSync(branch.installed, 'utf8')).toBe('new');

  const outsider = await gitbeaker.makeUser('outsider');
  const refused = await install('^1.0', outsider.token);
  expect((await runDebian(COMPOSER, refused.folder, refused.args, refused.env)).code).not.toBe(0);
  expect(existsSync(refused.installed)).toBe(false);
});
