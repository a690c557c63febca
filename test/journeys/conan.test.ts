/** conan, which makes, uploads, finds, installs and removes recipes and what they make, in revisions. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { useGitbeaker } from './gitbeaker-client.ts';
import { mustEnd, startPython } from './python.ts';
import { makeFolder } from './support.ts';

const gitbeaker = useGitbeaker();

/** Nothing is compiled. */
const HEADERS = `from conan import ConanFile
from conan.tools.files import copy
class Stone(ConanFile):
    name = "stone"
    version = "1.0"
    exports_sources = "stone.h"
    no_copy_source = True
    def package(self):
        copy(self, "*.h", self.source_folder, self.package_folder + "/include")
    def package_id(self):
        self.info.clear()
`;
const SETTINGS = (word: string) => `from conan import ConanFile
from conan.tools.files import save
class Slate(ConanFile):
    name = "slate"
    version = "1.0"
    settings = "os", "build_type"
    options = {"polished": [True, False]}
    default_options = {"polished": False}
    requires = "stone/1.0"
    def package(self):
        save(self, self.package_folder + "/slate.txt", f"${word} {self.settings.build_type} {self.options.polished}")
`;

/** A home with the program in it, that knows the remote. */
async function makeHome(address: string) {
  const folder = makeFolder();
  mkdirSync(join(folder, '.conan2', 'profiles'), { recursive: true });
  writeFileSync(
    join(folder, '.conan2', 'profiles', 'default'),
    '[settings]\nos=Linux\narch=x86_64\nbuild_type=Release\n',
  );
  const run = (...args: string[]) => startPython(folder, ['-m', 'conans.conan', ...args]);
  const home = {
    folder,
    tryTo: (...args: string[]) => run(...args).ended,
    must: (...args: string[]) => mustEnd(run(...args)),
    login: (username: string, token: string) => run('remote', 'login', 'quarry', username, '-p', token).ended,
    /** What the remote has, or without one the cache. */
    async list(pattern: string, ...more: string[]) {
      await home.must('list', pattern, '--format=json', '--out-file=list.json', ...more);
      return JSON.parse(readFileSync(join(folder, 'list.json'), 'utf8'));
    },
    async pathOf(reference: string, ...more: string[]) {
      const output = await home.must('cache', 'path', reference, ...more);
      return output.trim().split('\n').at(-1) ?? '';
    },
    async textOf(reference: string, ...path: string[]) {
      return readFileSync(join(await home.pathOf(reference), ...path), 'utf8');
    },
  };
  await home.must('remote', 'remove', '*');
  await home.must('remote', 'add', 'quarry', address);
  return home;
}

function place(folder: string, name: string, files: Record<string, string>): string {
  mkdirSync(join(folder, name), { recursive: true });
  for (const [file, content] of Object.entries(files)) writeFileSync(join(folder, name, file), content);
  return name;
}

test('what conan uploads is what it finds, installs and removes', async () => {
  const { root, url } = gitbeaker;
  const group = await gitbeaker.makeGroup('quarry');
  const { id } = await root.Projects.create({ name: 'granite', namespaceId: group.id });
  const member = async (username: string, level: 20 | 30 | 40) => {
    const user = await gitbeaker.makeUser(username);
    await root.ProjectMembers.add(id, level, { userId: user.id });
    return user;
  };
  const [author, reader, keeper] = [
    await member('author', 30),
    await member('reader', 20),
    await member('keeper', 40),
  ];
  const address = `${url}/api/v4/projects/${id}/packages/conan`;
  const maker = await makeHome(address);
  const user = await makeHome(address);

  place(maker.folder, 'stone', { 'conanfile.py': HEADERS, 'stone.h': '#define STONE "dark"\n' });
  place(maker.folder, 'slate', { 'conanfile.py': SETTINGS('old') });
  const create = (name: string, ...more: string[]) => maker.must('create', name, '--no-remote', ...more);
  await create('stone');
  await create('slate');
  await create('slate', '-s', 'build_type=Debug');
  await create('slate', '-o', 'slate/*:polished=True');
  const log = await maker.pathOf('slate/1.0', '--folder=metadata');
  place(log, 'logs', { 'a build.log': 'well\n' });

  const refused = await maker.login(author.username, 'wrong');
  expect(refused).toMatchObject({ code: 1, output: expect.stringContaining('Wrong user or password') });
  const upload = (...more: string[]) => maker.tryTo('upload', '*', '-r', 'quarry', '--confirm', ...more);
  expect((await maker.login(reader.username, reader.token)).code).toBe(0);
  expect(await upload()).toMatchObject({ code: 1, output: expect.stringContaining('Permission denied') });
  expect((await maker.login(author.username, author.token)).code).toBe(0);
  expect((await upload()).code).toBe(0);
  const again = await upload();
  expect(again.output).toContain('already in server, skipping upload');
  expect(again.output).not.toContain('Uploading recipe');

  expect((await user.login(reader.username, reader.token)).code).toBe(0);
  expect(await user.must('search', 's*', '-r', 'quarry')).toMatch(/slate\/1\.0[\s\S]*stone\/1\.0/);
  const local = (await maker.list('*#*:*')) as { 'Local Cache': Record<string, { revisions: object }> };
  const remote = (await user.list('*#*:*', '-r', 'quarry')) as { quarry: (typeof local)['Local Cache'] };
  const revisionsOf = ({ revisions = {} }: { revisions?: object } = {}) =>
    Object.entries(revisions).map(([revision, { packages }]) => [revision, packages]);
  for (const reference of ['stone/1.0', 'slate/1.0']) {
    const [[revision, packages] = []] = revisionsOf(local['Local Cache'][reference]);
    const [[found, made] = []] = revisionsOf(remote.quarry[reference]);
    expect(found).toBe(revision);
    // Of each package its settings, options and requirements.
    expect(made).toEqual(packages);
  }
  const debug = await user.must('list', 'slate/1.0:*', '-r', 'quarry', '-p', 'build_type=Debug');
  expect(debug.match(/build_type: /g)).toHaveLength(1);

  const install = (...more: string[]) =>
    user.must('install', '--requires=slate/[>=1.0]', '-r', 'quarry', '--deployer=full_deploy', ...more);
  const deployed = (...path: string[]) =>
    readFileSync(join(user.folder, 'full_deploy', 'host', ...path), 'utf8');
  await install();
  expect(deployed('stone', '1.0', 'include', 'stone.h')).toBe('#define STONE "dark"\n');
  expect(deployed('slate', '1.0', 'Release', 'slate.txt')).toBe('old Release False');
  await install('-s', 'build_type=Debug');
  expect(deployed('slate', '1.0', 'Debug', 'slate.txt')).toBe('old Debug False');
  await user.must('remove', '*', '--confirm');
  await install('-o', 'slate/*:polished=True');
  expect(deployed('slate', '1.0', 'Release', 'slate.txt')).toBe('old Release True');
  // The program compares the bytes with the manifest of each revision.
  await user.must('remove', '*', '--confirm');
  await user.must('download', '*:*', '-r', 'quarry', '--metadata=*');
  const checked = await user.must('cache', 'check-integrity', '*:*');
  expect(checked.match(/Integrity check: ok/g)?.length).toBeGreaterThanOrEqual(4);
  expect(await user.textOf('stone/1.0', 'conanfile.py')).toBe(HEADERS);
  const metadata = await user.pathOf('slate/1.0', '--folder=metadata');
  expect(readFileSync(join(metadata, 'logs', 'a build.log'), 'utf8')).toBe('well\n');

  // A second revision is the latest.
  place(maker.folder, 'slate', { 'conanfile.py': SETTINGS('new') });
  await create('slate');
  expect((await upload()).code).toBe(0);
  const newest = (await maker.list('slate/1.0#latest'))['Local Cache']['slate/1.0'];
  expect(
    Object.keys((await user.list('slate/1.0#latest', '-r', 'quarry')).quarry['slate/1.0'].revisions),
  ).toEqual(Object.keys(newest.revisions));
  const both = (await user.list('slate/1.0#*', '-r', 'quarry')).quarry['slate/1.0'].revisions;
  expect(Object.keys(both)).toHaveLength(2);
  await install('--update');
  expect(deployed('slate', '1.0', 'Release', 'slate.txt')).toBe('new Release False');

  const remove = (pattern: string) => maker.tryTo('remove', pattern, '-r', 'quarry', '--confirm');
  expect(await remove('stone/1.0')).toMatchObject({
    code: 1,
    output: expect.stringContaining('Permission denied'),
  });
  expect((await maker.login(keeper.username, keeper.token)).code).toBe(0);
  const packagesOf = async () => {
    const listed = (await user.list('slate/1.0#*:*', '-r', 'quarry')).quarry['slate/1.0'].revisions;
    return Object.values(listed as Record<string, { packages: object }>).map(
      ({ packages }) => Object.keys(packages).length,
    );
  };
  expect((await packagesOf()).sort()).toEqual([1, 3]);
  const [revision] = Object.keys(newest.revisions);
  expect((await remove(`slate/1.0#${revision}:*`)).code).toBe(0);
  expect((await packagesOf()).sort()).toEqual([0, 3]);
  expect((await remove(`slate/1.0#${revision}`)).code).toBe(0);
  expect(await packagesOf()).toEqual([3]);
  const records = await root.Packages.all({ projectId: id });
  expect(records.map(({ name }) => name).sort()).toEqual(['slate/1.0@_/_', 'stone/1.0@_/_']);
  expect((await remove('*')).code).toBe(0);
  expect(await root.Packages.all({ projectId: id })).toEqual([]);
  expect((await user.tryTo('list', 'slate/1.0#*', '-r', 'quarry')).output).toMatch(/not found|ERROR/i);
});
