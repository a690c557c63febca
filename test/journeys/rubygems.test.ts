/** gem, which builds, pushes, lists and installs gems, with what they need, some for one platform alone. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mustRun, runDebian } from './debian.ts';
import { useGitbeaker } from './gitbeaker-client.ts';
import { makeFolder } from './support.ts';

const gitbeaker = useGitbeaker();

const GEM = { program: 'gem', pack: 'ruby' };
const RUBY = { program: 'ruby' };

test('what gem pushes is what it finds and installs', async () => {
  const { root, url } = gitbeaker;
  const group = await gitbeaker.makeGroup('quarry');
  const { id } = await root.Projects.create({ name: 'stone', namespaceId: group.id });
  const author = await gitbeaker.makeUser('mason');
  await root.ProjectMembers.add(id, 30, { userId: author.id });
  const reader = await gitbeaker.makeUser('reader');
  await root.ProjectMembers.add(id, 20, { userId: reader.id });
  const host = `${url}/api/v4/projects/${id}/packages/rubygems`;
  const folder = makeFolder();
  mkdirSync(join(folder, 'lib'));

  async function build(name: string, version: string, more = ''): Promise<string> {
    writeFileSync(join(folder, 'lib', `${name}.rb`), `${name.toUpperCase()} = '${version}'\n`);
    writeFileSync(
      join(folder, 'a.gemspec'),
      `Gem::Specification.new do |s|
  s.name = '${name}'
  s.version = '${version}'
  s.summary = 'dark'
  s.authors = ['Ann', 'Bö']
  s.license = 'MIT'
  s.homepage = 'https://example.com'
  s.files = ['lib/${name}.rb']
  s.required_ruby_version = '>= 2.0'
  s.metadata = { 'source_code_uri' => 'https://example.com/x' }
  ${more}
end
`,
    );
    const output = await mustRun(GEM, folder, ['build', 'a.gemspec']);
    return /File: (\S+)/.exec(output)?.[1] ?? '';
  }
  const push = (file: string, token: string) =>
    runDebian(GEM, folder, ['push', file, '--host', host], { GEM_HOST_API_KEY: token });

  const slate = await build('slate', '0.9.1');
  expect((await push(slate, reader.token)).output).toContain('403');
  const stone = [
    await build('stone', '1.0.0'),
    await build('stone', '1.10.0', "s.add_dependency 'slate', '~> 0.9', '>= 0.9.1'"),
    await build('stone', '2.0.0.rc1'),
    await build('chalk', '1.0', 's.platform = Gem::Platform.local'),
  ];
  for (const file of [slate, ...stone])
    expect(await push(file, author.token)).toMatchObject({
      code: 0,
      output: expect.stringContaining('201 Created'),
    });

  const source = new URL(`${host}/`);
  source.username = reader.username;
  source.password = reader.token;
  const from = ['--clear-sources', '--source', source.href];
  const listed = await mustRun(GEM, folder, ['list', '--remote', '--all', '--prerelease', ...from]);
  expect(listed).toContain('stone (2.0.0.rc1, 1.10.0, 1.0.0)');
  expect(await mustRun(GEM, folder, ['list', '--remote', '--all', ...from])).toContain(
    'stone (1.10.0, 1.0.0)',
  );
  const described = await mustRun(GEM, folder, ['specification', 'stone', '--remote', ...from]);
  expect(described).toMatch(/authors:\n- Ann\n- Bö\n/);

  const install = (name: string, into: string, ...more: string[]) =>
    mustRun(GEM, folder, ['install', name, '--install-dir', into, '--no-document', ...more, ...from]);
  const textIn = (...path: string[]) => readFileSync(join(folder, ...path), 'utf8');
  await install('stone', 'new');
  expect(textIn('new', 'gems', 'stone-1.10.0', 'lib', 'stone.rb')).toBe("STONE = '1.10.0'\n");
  expect(existsSync(join(folder, 'new', 'gems', 'slate-0.9.1'))).toBe(true);
  await install('stone', 'old', '--version', '1.0.0');
  expect(existsSync(join(folder, 'old', 'gems', 'stone-1.0.0'))).toBe(true);
  await install('stone', 'before', '--version', '2.0.0.rc1');
  expect(existsSync(join(folder, 'before', 'gems', 'stone-2.0.0.rc1'))).toBe(true);
  await install('chalk', 'platform');
  const used = ['-I', 'platform/lib', '-e', "gem 'chalk'; require 'chalk'; puts CHALK"];
  expect(await mustRun(RUBY, folder, used, { GEM_PATH: join(folder, 'platform') })).toBe('1.0\n');

  // The other kinds of index, as Ruby reads them.
  const script = `require 'open-uri'; require 'zlib'
at = ARGV[0]; auth = ['reader', ARGV[1]]
read = ->(path) { URI.open(at + path, http_basic_authentication: auth, &:read) }
found = Marshal.load(read.('/api/v1/dependencies?gems=stone,other')).map { |g| [g[:number], g[:dependencies]] }
p found.sort
p Marshal.load(Zlib.gunzip(read.('/latest_specs.4.8.gz'))).map { |n, v, pl| [n, v.to_s] }.sort
`;
  const output = await mustRun(RUBY, folder, ['-e', script, host, reader.token]);
  expect(output).toContain('["1.10.0", [["slate", "~> 0.9, >= 0.9.1"]]]');
  expect(output).toContain('["stone", "1.10.0"]');
});
