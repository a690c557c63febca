/** apt, which reads signed distributions of a project and a group and installs from them what dpkg built and curl or dput uploaded. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mustRun, runDebian } from './debian.ts';
import { useGitbeaker } from './gitbeaker-client.ts';
import { callAs, makeFolder, ROOT_TOKEN } from './support.ts';

const gitbeaker = useGitbeaker();

const DPKG_DEB = { program: 'dpkg-deb', pack: 'dpkg' };
const BUILD = { program: 'dpkg-buildpackage', pack: 'dpkg-dev' };
const CURL = { program: 'curl' };

/** apt below a folder of its own: nothing of the machine's configuration and state is read or written. */
function makeApt(sources: string, login = '') {
  const root = makeFolder();
  for (const path of [
    ...['etc/apt/apt.conf.d', 'etc/apt/preferences.d', 'etc/apt/sources.list.d', 'etc/apt/trusted.gpg.d'],
    ...['etc/apt/auth.conf.d', 'var/lib/apt/lists/partial', 'var/cache/apt/archives/partial', 'var/log/apt'],
    ...['var/lib/dpkg/info', 'var/lib/dpkg/updates', 'var/lib/dpkg/triggers'],
  ])
    mkdirSync(join(root, path), { recursive: true });
  for (const path of ['var/lib/dpkg/status', 'var/lib/dpkg/available']) writeFileSync(join(root, path), '');
  writeFileSync(join(root, 'etc/apt/sources.list'), sources);
  writeFileSync(join(root, 'etc/apt/auth.conf'), login);
  chmodSync(join(root, 'etc/apt/auth.conf'), 0o600);
  writeFileSync(
    join(root, 'apt.conf'),
    `Dir "${root}";
Dir::State::status "${root}/var/lib/dpkg/status";
Dir::Bin::methods "/usr/lib/apt/methods";
APT::Architecture "amd64";
APT::Architectures { "amd64"; };
APT::Sandbox::User "root";
APT::Install-Recommends "false";
Acquire::Languages "none";
Acquire::Retries "0";
DPkg::Options { "--root=${root}"; "--force-not-root"; "--log=${root}/var/log/dpkg.log"; };
`,
  );
  const env = { APT_CONFIG: join(root, 'apt.conf'), DEBIAN_FRONTEND: 'noninteractive' };
  const run = (program: string, ...args: string[]) => runDebian({ program, pack: 'apt' }, root, args, env);
  return {
    root,
    run,
    async must(program: string, ...args: string[]): Promise<string> {
      const { code, output } = await run(program, ...args);
      expect([code, output]).toEqual([0, output]);
      return output;
    },
  };
}

/** A quarry with a distribution in a private project and its group; who publishes there, and who reads. */
async function makeQuarry(name: string) {
  const { root } = gitbeaker;
  const group = await gitbeaker.makeGroup(name);
  const { id } = await root.Projects.create({ name: 'stone', namespaceId: group.id });
  const mason = await gitbeaker.makeUser(`${name}-mason`);
  await root.ProjectMembers.add(id, 30, { userId: mason.id });
  const reader = await gitbeaker.makeUser(`${name}-reader`);
  await root.GroupMembers.add(group.id, 20, { userId: reader.id });
  const { url } = gitbeaker;
  const folder = makeFolder();
  async function distribution(owner: string, words: object): Promise<string> {
    const made = await callAs(url, ROOT_TOKEN, `POST /${owner}/debian_distributions`, {
      codename: 'sid',
      ...words,
    });
    expect(made.status).toBe(201);
    const key = await callAs(url, reader.token, `GET /${owner}/debian_distributions/sid/key.asc`);
    const path = join(folder, `${owner.replaceAll('/', '-')}.asc`);
    writeFileSync(path, await key.text());
    return path;
  }
  const login = (token = reader.token) =>
    `machine http://${new URL(url).host} login ${reader.username} password ${token}\n`;
  const ofProject = `${url}/api/v4/projects/${id}/packages/debian`;
  const ofGroup = `${url}/api/v4/groups/${group.id}/-/packages/debian`;
  return { ...{ id, group, mason, reader, folder, login, ofProject, ofGroup }, distribution };
}

/** Built by dpkg as it packs when nobody says how. */
async function buildPackage(folder: string, version: string, fields = ''): Promise<string> {
  const tree = join(folder, `tree-${version}`);
  mkdirSync(join(tree, 'DEBIAN'), { recursive: true });
  mkdirSync(join(tree, 'usr/share/stone'), { recursive: true });
  writeFileSync(join(tree, 'usr/share/stone/version'), version);
  writeFileSync(
    join(tree, 'DEBIAN/control'),
    `Package: stone
Version: ${version}
Architecture: all
Maintainer: Ann Bö <ann@example.com>
${fields}Description: granite
 dark, and hard
`,
  );
  await mustRun(DPKG_DEB, folder, ['--root-owner-group', '--build', tree, `stone_${version}_all.deb`]);
  return `stone_${version}_all.deb`;
}

test('what dpkg built and curl uploaded is what apt finds and installs', async () => {
  const quarry = await makeQuarry('granite');
  const { folder, mason, reader } = quarry;
  const key = await quarry.distribution(`projects/${quarry.id}`, { suite: 'unstable', origin: 'Quarry' });
  const groupKey = await quarry.distribution(`groups/${quarry.group.id}/-`, {
    valid_time_duration_seconds: 86_400,
  });
  const upload = (file: string, token: string) =>
    mustRun(CURL, folder, [
      ...['--silent', '--show-error', '--user', `mason:${token}`, '--upload-file', file],
      ...['--write-out', '%{http_code}', `${quarry.ofProject}/${file}?distribution=sid&component=main`],
    ]);
  const first = await buildPackage(folder, '1.0');
  expect(await upload(first, reader.token)).toContain('403');
  expect(await upload(first, 'wrong')).toContain('401');
  expect(await upload(first, mason.token)).toContain('201');

  const apt = makeApt(`deb [signed-by=${key}] ${quarry.ofProject} sid main\n`, quarry.login());
  const updated = await apt.must('apt-get', 'update');
  expect(updated).toMatch(/Get:.* InRelease/);
  expect(updated).not.toMatch(/^[WE]:/m);
  expect(await apt.must('apt-cache', 'policy', 'stone')).toContain('Candidate: 1.0');
  expect(await apt.must('apt-cache', 'show', 'stone')).toContain('Maintainer: Ann Bö <ann@example.com>');
  await apt.must('apt-get', 'install', '-y', 'stone');
  const installed = () => readFileSync(join(apt.root, 'usr/share/stone/version'), 'utf8');
  expect(installed()).toBe('1.0');

  // 1.10 is newer than 1.9 for Debian.
  expect(await upload(await buildPackage(folder, '1.9'), mason.token)).toContain('201');
  expect(await upload(await buildPackage(folder, '1.10'), mason.token)).toContain('201');
  await apt.must('apt-get', 'update');
  await apt.must('apt-get', 'upgrade', '-y');
  expect(installed()).toBe('1.10');
  // Nothing changed: apt asks for nothing but the release.
  expect(await apt.must('apt-get', 'update')).not.toContain('Packages');

  const ofGroup = makeApt(`deb [signed-by=${groupKey}] ${quarry.ofGroup} sid main\n`, quarry.login());
  expect(await ofGroup.must('apt-get', 'update')).not.toMatch(/^[WE]:/m);
  await ofGroup.must('apt-get', 'download', 'stone=1.9');
  expect(readFileSync(join(ofGroup.root, 'stone_1.9_all.deb'))).toEqual(
    readFileSync(join(folder, 'stone_1.9_all.deb')),
  );

  for (const login of ['', quarry.login('wrong')]) {
    const stranger = makeApt(`deb [signed-by=${key}] ${quarry.ofProject} sid main\n`, login);
    const refused = await stranger.run('apt-get', 'update');
    expect(refused.output).toMatch(/401 +Unauthorized/);
    expect((await stranger.run('apt-get', 'download', 'stone')).code).not.toBe(0);
  }
});

test('apt takes no release of another key, and none that was changed on its way', async () => {
  const quarry = await makeQuarry('slate');
  const { folder, mason } = quarry;
  const key = await quarry.distribution(`projects/${quarry.id}`, {});
  const groupKey = await quarry.distribution(`groups/${quarry.group.id}/-`, {});
  const file = await buildPackage(folder, '1.0');
  await mustRun(CURL, folder, [
    ...['--silent', '--fail', '--user', `mason:${mason.token}`, '--upload-file', file],
    `${quarry.ofProject}/${file}?distribution=sid&component=main`,
  ]);
  const other = makeApt(`deb [signed-by=${groupKey}] ${quarry.ofProject} sid main\n`, quarry.login());
  const unknown = await other.run('apt-get', 'update');
  expect(unknown.output).toContain('NO_PUBKEY');
  expect((await other.run('apt-get', 'download', 'stone')).code).not.toBe(0);

  // Somebody between them.
  let change = (text: Buffer): Buffer => text;
  const between = createServer((request, response) => {
    const { authorization } = request.headers;
    void fetch(`${gitbeaker.url}${request.url}`, {
      headers: { ...(authorization && { authorization }) },
    }).then(async (answer) => {
      const body = Buffer.from(await answer.arrayBuffer());
      const isRelease = request.url?.endsWith('/InRelease') ?? false;
      const sent = isRelease ? change(body) : body;
      response.writeHead(answer.status, { 'content-length': sent.length }).end(sent);
    });
  });
  await new Promise<void>((resolve) => between.listen(0, '127.0.0.1', resolve));
  try {
    const host = `http://127.0.0.1:${(between.address() as AddressInfo).port}`;
    const sources = `deb [signed-by=${key}] ${quarry.ofProject.replace(gitbeaker.url, host)} sid main\n`;
    const login = quarry.login().replace(gitbeaker.url, host);
    await makeApt(sources, login).must('apt-get', 'update');
    change = (text) => Buffer.from(text.toString().replace(/^Date: (.*)20/m, 'Date: $121'));
    const changed = makeApt(sources, login);
    const refused = await changed.run('apt-get', 'update');
    expect(refused.output).toContain('BADSIG');
    expect((await changed.run('apt-get', 'download', 'stone')).code).not.toBe(0);
  } finally {
    between.close();
  }
});

test('what dpkg-buildpackage built and dput uploaded, with its source', async () => {
  const quarry = await makeQuarry('basalt');
  const { folder, mason, reader } = quarry;
  const key = await quarry.distribution(`projects/${quarry.id}`, { suite: 'unstable' });
  const tree = join(folder, 'basalt');
  mkdirSync(join(tree, 'debian/source'), { recursive: true });
  const write = (name: string, text: string) => writeFileSync(join(tree, 'debian', name), text);
  write('source/format', '3.0 (native)\n');
  write(
    'changelog',
    'basalt (2:1.0+b~1) unstable; urgency=low\n\n  * Begun.\n\n -- Ann Bö <ann@example.com>  Sat, 28 Nov 2026 12:00:00 +0000\n',
  );
  write(
    'control',
    `Source: basalt
Maintainer: Ann Bö <ann@example.com>
Section: net
Priority: optional
Standards-Version: 4.6.2
Rules-Requires-Root: no

Package: basalt-common
Architecture: all
Description: granite
 dark
`,
  );
  write(
    'rules',
    `#!/usr/bin/make -f
clean:
	rm -rf debian/tmp debian/files
build build-indep build-arch:
binary binary-indep:
	mkdir -p debian/tmp/DEBIAN
	dpkg-gencontrol
	dpkg-deb --root-owner-group --build debian/tmp ..
binary-arch:
`,
  );
  chmodSync(join(tree, 'debian/rules'), 0o755);
  await mustRun(BUILD, tree, ['-us', '-uc', '-d']);
  const changes = join(folder, 'basalt_1.0+b~1_amd64.changes');
  expect(existsSync(changes)).toBe(true);

  const dput = async (user: { username: string; token: string }) => {
    writeFileSync(join(folder, 'password'), `${user.token}\n`);
    writeFileSync(
      join(folder, 'dput.cf'),
      `[quarry]
method = http
fqdn = ${new URL(gitbeaker.url).host}
incoming = ${new URL(quarry.ofProject).pathname}
login = ${user.username}
allow_unsigned_uploads = 1
run_lintian = 0
`,
    );
    // Without a terminal it reads the password from its input.
    const command = `setsid --wait dput --config=dput.cf --unchecked --no-upload-log quarry '${changes}' < password`;
    return runDebian({ program: 'bash' }, folder, ['-c', command]);
  };
  expect((await dput(reader)).output).toContain('403');
  const sent = await dput(mason);
  expect([sent.code, sent.output]).toEqual([0, expect.stringContaining('Successfully uploaded packages.')]);

  const sources = ['deb', 'deb-src'].map(
    (type) => `${type} [signed-by=${key}] ${quarry.ofProject} unstable main\n`,
  );
  const apt = makeApt(sources.join(''), quarry.login());
  expect(await apt.must('apt-get', 'update')).not.toMatch(/^[WE]:/m);
  expect(await apt.must('apt-cache', 'policy', 'basalt-common')).toContain('Candidate: 2:1.0+b~1');
  await apt.must('apt-get', 'install', '-y', 'basalt-common');
  await apt.must('apt-get', 'source', '--download-only', 'basalt');
  for (const name of ['basalt_1.0+b~1.dsc', 'basalt_1.0+b~1.tar.xz'])
    expect(readFileSync(join(apt.root, name))).toEqual(readFileSync(join(folder, name)));
});
