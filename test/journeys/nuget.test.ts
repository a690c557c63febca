/** nuget, which packs, and installs with what a package depends on; and the symbols of a library, as debuggers ask for them. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { zipOf } from '../support/zip.ts';
import { mustRun } from './debian.ts';
import { useGitbeaker } from './gitbeaker-client.ts';
import { mustEnd, startPython } from './python.ts';
import { makeFolder, ROOT_TOKEN } from './support.ts';

const gitbeaker = useGitbeaker();

const NUGET = { program: 'nuget' };

const config = (source: string, username: string, token: string): string => `<configuration>
<packageSources><clear /><add key="ours" value="${source}" /></packageSources>
<packageSourceCredentials><ours><add key="Username" value="${username}" /><add key="ClearTextPassword" value="${token}" /></ours></packageSourceCredentials>
</configuration>`;

test('what nuget packs is what it installs, with what that depends on', async () => {
  const group = await gitbeaker.makeGroup('quarry');
  const { root, url } = gitbeaker;
  const { id } = await root.Projects.create({ name: 'stone', namespaceId: group.id });
  const author = await gitbeaker.makeUser('mason');
  await root.ProjectMembers.add(id, 30, { userId: author.id });
  const reader = await gitbeaker.makeUser('reader');
  await root.ProjectMembers.add(id, 20, { userId: reader.id });
  const source = `${url}/api/v4/projects/${id}/packages/nuget/v2`;
  const folder = makeFolder();
  const file = (name: string, content: string): void => writeFileSync(join(folder, name), content);
  file('nuget.config', config(source, reader.username, reader.token));

  async function pack(name: string, version: string, dependencies = ''): Promise<string> {
    mkdirSync(join(folder, name), { recursive: true });
    file(`${name}/hello.txt`, `${name} ${version}`);
    file(
      `${name}/${name}.nuspec`,
      `<?xml version="1.0"?><package><metadata><id>${name}</id><version>${version}</version><authors>Ann</authors>
<description>dark</description>${dependencies}</metadata><files><file src="hello.txt" target="content" /></files></package>`,
    );
    await mustRun(NUGET, join(folder, name), ['pack', `${name}.nuspec`, '-NonInteractive']);
    return join(folder, name, `${name}.${version}.nupkg`);
  }
  // Its own forms end, on this system, with a line feed where the protocol has two characters.
  async function push(archive: string, token: string): Promise<number> {
    const form = new FormData();
    form.set('package', new Blob([readFileSync(archive)]), 'package');
    const headers = { 'x-nuget-apikey': token };
    return (await fetch(`${source}/`, { method: 'PUT', headers, body: form })).status;
  }

  const slate = await pack('Acme.Slate', '1.2.0');
  expect(await push(slate, reader.token)).toBe(403);
  for (const archive of [
    slate,
    await pack('Acme.Stone', '1.0.0'),
    await pack(
      'Acme.Stone',
      '1.1.0',
      '<dependencies><dependency id="acme.slate" version="1.0.0" /></dependencies>',
    ),
  ])
    expect(await push(archive, author.token)).toBe(201);

  const install = (name: string, into: string, ...more: string[]) =>
    mustRun(NUGET, folder, [
      ...['install', name, '-Source', source, '-OutputDirectory', into, '-ConfigFile', 'nuget.config'],
      ...['-NonInteractive', '-NoCache', ...more],
    ]);
  const textIn = (...path: string[]) => readFileSync(join(folder, ...path, 'content', 'hello.txt'), 'utf8');
  await install('Acme.Stone', 'old', '-Version', '1.0.0');
  expect(textIn('old', 'Acme.Stone.1.0.0')).toBe('Acme.Stone 1.0.0');
  await install('acme.stone', 'new');
  expect(textIn('new', 'Acme.Stone.1.1.0')).toBe('Acme.Stone 1.1.0');
  expect(textIn('new', 'Acme.Slate.1.2.0')).toBe('Acme.Slate 1.2.0');
  expect(existsSync(join(folder, 'new', 'Acme.Stone.1.0.0'))).toBe(false);
});

test('a debugger finds symbols by what a compiler wrote into the library', async () => {
  const where = 'import clr_loader; print(clr_loader.__file__)';
  const loader = (await mustEnd(startPython(makeFolder(), ['-c', where]))).trim();
  const ofLibrary = (ending: string) =>
    readFileSync(join(dirname(loader), 'ffi', 'dlls', 'amd64', `ClrLoader.${ending}`));
  const [library, symbols] = [ofLibrary('dll'), ofLibrary('pdb')];
  // Of its debug directory: the GUID in the entry of CodeView, and the checksum of the PDB.
  const guid = library.subarray(library.indexOf('RSDS') + 4).subarray(0, 16);
  const turned = [guid.subarray(0, 4), guid.subarray(4, 6), guid.subarray(6, 8)].map((part) =>
    part.toReversed(),
  );
  const signature = `${Buffer.concat([...turned, guid.subarray(8)]).toString('hex')}FFFFFFFF`;
  const algorithm = library.indexOf('SHA256\0') + 7;
  const checksum = library.toString('hex', algorithm, algorithm + 32);

  const group = await gitbeaker.makeGroup('loaders');
  const { root, url } = gitbeaker;
  const { id } = await root.Projects.create({ name: 'loader', namespaceId: group.id });
  const base = `${url}/api/v4/projects/${id}/packages/nuget`;
  const author = await gitbeaker.makeUser('loader-author');
  await root.ProjectMembers.add(id, 30, { userId: author.id });
  const nuspec = {
    name: 'ClrLoader.nuspec',
    content: '<package><metadata><id>ClrLoader</id><version>0.3.1</version></metadata></package>',
  };
  for (const [path, packed] of [
    ['', { name: 'lib/net472/ClrLoader.dll', content: library }],
    ['/symbolpackage', { name: 'lib/net472/ClrLoader.pdb', content: symbols }],
  ] as const) {
    const form = new FormData();
    form.set('package', new Blob([new Uint8Array(zipOf(nuspec, packed))]), 'package');
    const headers = { 'x-nuget-apikey': author.token };
    expect((await fetch(`${base}${path}`, { method: 'PUT', headers, body: form })).status).toBe(201);
  }
  const at = `${base}/symbolfiles/clrloader.pdb/${signature}/clrloader.pdb`;
  const ask = (headers: Record<string, string>) => fetch(at, { headers });
  expect((await ask({ symbolchecksum: `SHA256:${checksum}` })).status).toBe(403);
  const on = await fetch(`${url}/api/v4/groups/${group.id}?nuget_symbol_server_enabled=true`, {
    method: 'PUT',
    headers: { 'private-token': ROOT_TOKEN },
  });
  expect(on.status).toBe(200);
  expect((await ask({})).status).toBe(400);
  const found = await ask({ symbolchecksum: `SHA256:${checksum}` });
  expect(Buffer.from(await found.arrayBuffer())).toEqual(symbols);
});
