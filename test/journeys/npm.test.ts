/** npm, which publishes packages to a project and installs them from it, from its group and from the instance. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { useGitbeaker } from './gitbeaker-client.ts';
import { runInstalled } from './programs.ts';
import { makeFolder } from './support.ts';

const gitbeaker = useGitbeaker();

/** A private project of a new group, and npm as somebody of it, whose packages of the group's scope are at the level. */
async function makeRegistry(scope: string) {
  const { root } = gitbeaker;
  const { id: group } = await gitbeaker.makeGroup(scope);
  const { id: project } = await root.Projects.create({ name: 'house', namespaceId: group });
  const api = `${gitbeaker.url}/api/v4`;
  const levels = {
    project: `${api}/projects/${project}/packages/npm/`,
    group: `${api}/groups/${group}/-/packages/npm/`,
    instance: `${api}/packages/npm/`,
  };
  const home = makeFolder();
  const run = async (folder: string, level: keyof typeof levels, token: string, ...args: string[]) => {
    const tokens = Object.values(levels).map(
      (address) => `${address.replace(/^http:/, '')}:_authToken=${token}`,
    );
    const lines = [
      `registry=${levels[level]}`,
      `@${scope}:registry=${levels[level]}`,
      ...tokens,
      'fund=false',
      'update-notifier=false',
      'fetch-retries=0',
    ];
    writeFileSync(join(home, '.npmrc'), `${lines.join('\n')}\n`);
    return runInstalled('semantic-release', 'npm/bin/npm-cli.js', args, { folder, home, env: {} });
  };
  return {
    project,
    async member(role: string, accessLevel: 20 | 30 | 40): Promise<string> {
      const user = await gitbeaker.makeUser(`${scope}-${role}`);
      await root.GroupMembers.add(group, accessLevel, { userId: user.id });
      return user.token;
    },
    run,
    /** Runs it, and fails with what it said where it failed. */
    async must(
      folder: string,
      level: keyof typeof levels,
      token: string,
      ...args: string[]
    ): Promise<string> {
      const { code, output } = await run(folder, level, token, ...args);
      expect(code, output).toBe(0);
      return output;
    },
    /** A folder with a package, or with what one needs. */
    folder(name: string, manifest: Record<string, unknown>): string {
      const folder = join(home, name);
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, ...manifest }));
      writeFileSync(join(folder, 'index.js'), `module.exports = ${JSON.stringify(manifest)};\n`);
      writeFileSync(join(folder, 'README.md'), `# ${name}\n`);
      return folder;
    },
  };
}

test('it publishes packages, and installs them from the project, the group and the instance', async () => {
  const { member, must, run, folder } = await makeRegistry('lights');
  const developer = await member('developer', 30);
  const reporter = await member('reporter', 20);
  const plain = folder('bulb', { version: '1.0.0' });
  await must(plain, 'project', developer, 'publish');
  const lamp = folder('@lights/lamp', { version: '1.0.0', dependencies: { bulb: '^1.0.0' } });
  await must(lamp, 'project', developer, 'publish');

  const again = await run(lamp, 'project', developer, 'publish');
  expect(again.code).not.toBe(0);
  expect(again.output).toContain('You cannot publish over');
  const newer = folder('@lights/lamp', { version: '1.0.1', dependencies: { bulb: '^1.0.0' } });
  const refused = await run(newer, 'project', reporter, 'publish');
  expect(refused.output).toContain('E403');

  expect(await must(plain, 'instance', reporter, 'ping')).toContain('PONG');
  expect(await must(plain, 'project', reporter, 'whoami')).toContain('reporter');
  expect(await must(plain, 'group', reporter, 'view', '@lights/lamp', 'dist.integrity')).toContain('sha512-');
  expect(await must(plain, 'project', reporter, 'view', '@lights/lamp', 'time')).toContain('1.0.0');

  for (const level of ['project', 'group'] as const) {
    const house = folder(`house-${level}`, { version: '1.0.0', dependencies: { '@lights/lamp': '1.0.0' } });
    await must(house, level, reporter, 'install');
    const text = readFileSync(join(house, 'node_modules', '@lights', 'lamp', 'index.js'), 'utf8');
    expect(text).toContain('"version":"1.0.0"');
    expect(readFileSync(join(house, 'node_modules', 'bulb', 'index.js'), 'utf8')).toContain('1.0.0');
    expect(readFileSync(join(house, 'package-lock.json'), 'utf8')).toContain('sha512-');
    await must(house, level, reporter, 'ci');
  }
  // The instance has the names of a group's scope alone.
  const own = folder('@lights/switch', { version: '1.0.0' });
  await must(own, 'project', developer, 'publish');
  const house = folder('house-instance', { version: '1.0.0', dependencies: { '@lights/switch': '^1.0.0' } });
  await must(house, 'instance', reporter, 'install');
  expect(readFileSync(join(house, 'node_modules', '@lights', 'switch', 'index.js'), 'utf8')).toContain(
    '1.0.0',
  );
  const unknown = await run(house, 'instance', reporter, 'view', 'bulb');
  expect(unknown.output).toContain('E404');
});

test('it tags, deprecates and unpublishes', async () => {
  const { project, member, must, run, folder } = await makeRegistry('shades');
  const developer = await member('developer', 30);
  const maintainer = await member('maintainer', 40);
  for (const version of ['1.0.0', '1.1.0', '2.0.0-beta.1']) {
    const blind = folder('@shades/blind', { version });
    const tag = version.includes('-') ? ['--tag', 'next'] : [];
    await must(blind, 'project', developer, 'publish', ...tag);
  }
  const blind = folder('@shades/blind', { version: '3.0.0' });
  const tags = async () =>
    (await must(blind, 'group', developer, 'dist-tag', 'ls', '@shades/blind')).trim().split('\n').sort();
  expect(await tags()).toEqual(['latest: 1.1.0', 'next: 2.0.0-beta.1']);
  await must(blind, 'instance', developer, 'dist-tag', 'add', '@shades/blind@1.0.0', 'old');
  expect(await tags()).toEqual(['latest: 1.1.0', 'next: 2.0.0-beta.1', 'old: 1.0.0']);
  expect((await run(blind, 'project', developer, 'dist-tag', 'rm', '@shades/blind', 'old')).code).not.toBe(0);
  await must(blind, 'project', maintainer, 'dist-tag', 'rm', '@shades/blind', 'old');
  expect(await tags()).toEqual(['latest: 1.1.0', 'next: 2.0.0-beta.1']);

  await must(blind, 'project', maintainer, 'deprecate', '@shades/blind@1.0.0', 'It rattles.');
  const deprecated = () => must(blind, 'project', developer, 'view', '@shades/blind@1.0.0', 'deprecated');
  expect(await deprecated()).toContain('It rattles.');
  await must(blind, 'project', maintainer, 'deprecate', '@shades/blind@1.0.0', '');
  expect(await deprecated()).not.toContain('rattles');

  expect((await run(blind, 'project', developer, 'unpublish', '@shades/blind@1.1.0')).code).not.toBe(0);
  await must(blind, 'project', maintainer, 'unpublish', '@shades/blind@1.1.0');
  expect(
    JSON.parse(await must(blind, 'project', developer, 'view', '@shades/blind', 'versions', '--json')),
  ).toEqual(['1.0.0', '2.0.0-beta.1']);
  await must(blind, 'project', maintainer, 'unpublish', '@shades/blind', '--force');
  expect((await run(blind, 'project', developer, 'view', '@shades/blind')).output).toContain('E404');
  const response = await fetch(`${gitbeaker.url}/api/v4/projects/${project}/packages`, {
    headers: { 'private-token': maintainer },
  });
  expect(await response.json()).toEqual([]);
});
