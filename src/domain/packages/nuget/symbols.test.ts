/** The symbol server of NuGet: what debuggers get of packages of symbols. */
import { createHash, randomBytes } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { type TestApp, useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeGroup } from '../../../../test/support/factories.ts';
import { makeTeam, own, type Team } from '../../../../test/support/packages.ts';
import { pdbOf } from '../../../../test/support/pdb.ts';
import { type ZipEntry, zipOf } from '../../../../test/support/zip.ts';

const app: TestApp = useApp();
let { group, project, maintainer, developer } = {} as Team;

beforeEach(async () => {
  ({ group, project, maintainer, developer } = await makeTeam(app));
});

const ofProject = () => `${app.url}/api/v4/projects/${project.id}/packages/nuget`;
const ofGroup = (id = group.id) => `${app.url}/api/v4/groups/${id}/-/packages/nuget`;

type Pdb = { bytes: Buffer; signature: string; checksum: string };

/** With bytes behind it that are longer than what is read of it at first. */
function makePdb(length = 10_000): Pdb {
  const guid = randomBytes(16);
  const bytes = pdbOf({ guid, rest: randomBytes(length) });
  const blank = Buffer.from(bytes).fill(0, bytes.indexOf(guid), bytes.indexOf(guid) + 20);
  const part = (from: number, to: number) => guid.toString('hex', from, to);
  const turned = (from: number, to: number) => part(from, to).match(/../g)?.reverse().join('') ?? '';
  return {
    bytes,
    signature: `${turned(0, 4)}${turned(4, 6)}${turned(6, 8)}${part(8, 16)}FFFFFFFF`,
    checksum: `SHA256:${createHash('sha256').update(blank).digest('hex')}`,
  };
}

const nuspec = (version: string): ZipEntry => ({
  name: 'Acme.Stone.nuspec',
  content: `<package><metadata><id>Acme.Stone</id><version>${version}</version></metadata></package>`,
});

async function send(path: string, archive: Buffer): Promise<{ status: number; text: string }> {
  const form = new FormData();
  form.set('package', new Blob([new Uint8Array(archive)]), 'package');
  const response = await fetch(`${ofProject()}${path}`, {
    method: 'PUT',
    headers: own(developer),
    body: form,
  });
  return { status: response.status, text: await response.text() };
}

const publishSymbols = async (...entries: readonly ZipEntry[]) => {
  expect((await send('', zipOf(nuspec('1.0.0')))).status).toBe(201);
  return send('/symbolpackage', zipOf(nuspec('1.0.0'), ...entries));
};

const serveSymbols = async (is: boolean | null, id = group.id) =>
  bodyOf(await app.root(`PUT /groups/${id}`, { body: { nuget_symbol_server_enabled: is } }), 200);

async function ask(
  base: string,
  { signature, checksum }: Pick<Pdb, 'signature' | 'checksum'>,
  name = 'stone.pdb',
  headers: Record<string, string> = { symbolchecksum: checksum },
) {
  const response = await fetch(`${base}/symbolfiles/${name}/${signature}/${name}`, { headers });
  return { status: response.status, content: Buffer.from(await response.arrayBuffer()) };
}

test('debuggers get a portable PDB by its name, signature and checksum, where the group lets them', async () => {
  const [pdb, older] = [makePdb(), makePdb(0)];
  const sent = await publishSymbols(
    { name: 'lib/net8.0/Stone.pdb', content: pdb.bytes },
    { name: 'lib/net45/Stone.pdb', content: older.bytes },
    { name: 'lib/net40/Stone.pdb', content: 'Microsoft C/C++ MSF 7.00' },
  );
  expect(sent.status).toBe(201);
  for (const base of [ofProject(), ofGroup()]) expect((await ask(base, pdb)).status).toBe(403);
  await serveSymbols(true);
  for (const base of [
    ofProject(),
    ofGroup(),
    `${app.url}/api/v4/projects/${encodeURIComponent(project.path_with_namespace)}/packages/nuget`,
  ]) {
    expect(await ask(base, pdb)).toEqual({ status: 200, content: pdb.bytes });
    expect(await ask(base, older, 'Stone.pdb')).toEqual({ status: 200, content: older.bytes });
    expect((await ask(base, { ...pdb, signature: pdb.signature.toUpperCase() })).status).toBe(200);
    expect((await ask(base, { ...pdb, checksum: `SHA384:00;${pdb.checksum}` })).status).toBe(200);
    // Who has the signature alone has no symbols.
    expect((await ask(base, { ...pdb, checksum: older.checksum })).status).toBe(404);
    expect((await ask(base, { ...pdb, checksum: 'SHA256:*' })).status).toBe(404);
    expect((await ask(base, pdb, 'slate.pdb')).status).toBe(404);
    const { status, content } = await ask(base, pdb, 'stone.pdb', {});
    expect([status, JSON.parse(content.toString()).message]).toEqual([
      400,
      '400 Bad request - Missing checksum header',
    ]);
  }
  const other = `${ofProject()}/symbolfiles/stone.pdb/${pdb.signature}/slate.pdb`;
  expect((await fetch(other, { headers: { symbolchecksum: pdb.checksum } })).status).toBe(400);
});

test('nobody else serves them: other projects, groups that do not let them, and what is not there', async () => {
  const pdb = makePdb();
  await publishSymbols({ name: 'Stone.pdb', content: pdb.bytes });
  await serveSymbols(true);
  const elsewhere = await makeTeam(app);
  await serveSymbols(true, elsewhere.group.id);
  expect((await ask(ofGroup(elsewhere.group.id), pdb)).status).toBe(404);
  // Whether there is a group or project is not said.
  for (const base of [ofGroup(123_456_789), `${app.url}/api/v4/projects/123456789/packages/nuget`])
    expect((await ask(base, pdb)).status).toBe(403);

  const below = await makeGroup(app, { parent_id: group.id });
  bodyOf(await app.root(`PUT /projects/${project.id}/transfer`, { body: { namespace: below.id } }), 200);
  expect((await ask(ofProject(), pdb)).status).toBe(200);
  await serveSymbols(false, below.id);
  expect((await ask(ofProject(), pdb)).status).toBe(403);
  expect((await ask(ofGroup(), pdb)).status).toBe(404);
  await serveSymbols(null, below.id);
  expect((await ask(ofGroup(), pdb)).status).toBe(200);
  const body = { package_registry_access_level: 'disabled' };
  bodyOf(await app.root(`PUT /projects/${project.id}`, { body }), 200);
  expect((await ask(ofProject(), pdb)).status).toBe(403);
  expect((await ask(ofGroup(), pdb)).status).toBe(404);
});

test('symbols go with their package', async () => {
  const pdb = makePdb();
  await publishSymbols({ name: 'Stone.pdb', content: pdb.bytes });
  await serveSymbols(true);
  expect((await ask(ofProject(), pdb)).status).toBe(200);
  const [row] = bodyOf(await app.root(`GET /projects/${project.id}/packages`), 200);
  bodyOf(await app.as(maintainer.token)(`DELETE /projects/${project.id}/packages/${row?.id}`), 204);
  expect((await ask(ofProject(), pdb)).status).toBe(404);
});

test('packages with too many or too much are refused, and nothing of them is kept', async () => {
  const { bytes } = makePdb();
  const many = Array.from({ length: 101 }, (_, at) => ({ name: `lib/${at}/a.pdb`, content: bytes }));
  expect(await publishSymbols(...many)).toMatchObject({
    status: 400,
    text: expect.stringContaining('more than 100 .pdb files'),
  });
  const large = { name: 'a.pdb', content: bytes, claims: { size: 268_435_457 } };
  expect(await send('/symbolpackage', zipOf(nuspec('1.0.0'), large))).toMatchObject({
    status: 400,
    text: expect.stringContaining('larger than'),
  });
  const lying = { name: 'b.pdb', content: bytes, claims: { size: 10 } };
  expect((await send('/symbolpackage', zipOf(nuspec('1.0.0'), many[0] as ZipEntry, lying))).status).toBe(400);
  const [row] = bodyOf(await app.root(`GET /projects/${project.id}/packages`), 200);
  const files = bodyOf(await app.root(`GET /projects/${project.id}/packages/${row?.id}/package_files`), 200);
  expect(files).toHaveLength(1);
});
