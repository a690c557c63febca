/** Python packages by twine and pip: published, refused, and installed from a project and from the group around it. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { useGitbeaker } from './gitbeaker-client.ts';
import { mustEnd, startPython } from './python.ts';
import { makeFolder } from './support.ts';

const gitbeaker = useGitbeaker();

/** The sources of the package, and a distribution made of them. */
async function makeDistribution(version: string, python = '>=3.8'): Promise<string> {
  const folder = makeFolder();
  writeFileSync(join(folder, 'dark_granite.py'), `VERSION = '${version}'\n`);
  writeFileSync(
    join(folder, 'setup.py'),
    `from setuptools import setup
setup(name='Dark.Granite', version='${version}', py_modules=['dark_granite'], python_requires='${python}')
`,
  );
  await mustEnd(startPython(folder, ['setup.py', '-q', 'sdist']));
  return folder;
}

test('what twine publishes is what pip installs', async () => {
  const { root, url } = gitbeaker;
  const { id: group } = await root.Groups.create('Quarry', 'quarry', { visibility: 'private' });
  const { id } = await root.Projects.create({ name: 'granite', namespaceId: group });
  const author = await gitbeaker.makeUser('author');
  await root.ProjectMembers.add(id, 30, { userId: author.id });
  const reader = await gitbeaker.makeUser('reader');
  await root.ProjectMembers.add(id, 20, { userId: reader.id });
  const address = `${url}/api/v4/projects/${id}/packages/pypi`;

  const upload = (folder: string, token: string) =>
    startPython(folder, [
      ...['-m', 'twine', 'upload', '--non-interactive', '--disable-progress-bar'],
      ...['--repository-url', address, '-u', '__token__', '-p', token, 'dist/*'],
    ]);
  const first = await makeDistribution('1.0');
  await mustEnd(upload(first, author.token));
  expect(await upload(first, author.token).ended).toMatchObject({
    code: 1,
    output: expect.stringContaining('400 Bad Request'),
  });
  expect(await upload(first, reader.token).ended).toMatchObject({
    code: 1,
    output: expect.stringContaining('403 Forbidden'),
  });
  await mustEnd(upload(await makeDistribution('1.1'), author.token));
  await mustEnd(upload(await makeDistribution('2.0', '>=4'), author.token));

  const home = makeFolder();
  const install = (index: string, user: string, token: string, wanted: string, into: string) => {
    mkdirSync(join(home, into));
    const source = new URL(index);
    source.username = user;
    source.password = token;
    return startPython(home, [
      ...['-m', 'pip', 'install', '--no-input', '--disable-pip-version-check', '--no-cache-dir'],
      ...['--no-build-isolation', '--no-deps', '--index-url', source.href, '--target', into, wanted],
    ]);
  };
  const versionIn = (into: string) => readFileSync(join(home, into, 'dark_granite.py'), 'utf8');
  await mustEnd(install(`${address}/simple`, reader.username, reader.token, 'dark-granite==1.0', 'one'));
  expect(versionIn('one')).toBe("VERSION = '1.0'\n");
  // The newest is for a Python that is not here.
  const deploy = await root.DeployTokens.create('pip', ['read_package_registry'], { groupId: group });
  const ofGroup = `${url}/api/v4/groups/${group}/-/packages/pypi/simple`;
  await mustEnd(install(ofGroup, deploy.username, deploy.token ?? '', 'dark_granite', 'two'));
  expect(versionIn('two')).toBe("VERSION = '1.1'\n");
  const outsider = await gitbeaker.makeUser('outsider');
  for (const [token, into] of [
    ['wrong', 'three'],
    [outsider.token, 'four'],
  ] as const)
    expect((await install(ofGroup, 'any', token, 'dark-granite', into).ended).code).toBe(1);

  expect(await root.Packages.all({ projectId: id })).toMatchObject([
    { name: 'dark-granite', version: '1.0', package_type: 'pypi' },
    { name: 'dark-granite', version: '1.1' },
    { name: 'dark-granite', version: '2.0' },
  ]);
});
