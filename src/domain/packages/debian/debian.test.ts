/** Debian packages of a project and of a group as programs upload them, read their indexes and fetch them. */
import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { beforeEach, expect, test, vi } from 'vitest';
import { ROOT_TOKEN, type TestApp, useApp } from '../../../../test/support/app.ts';
import { controlOf, debOf, listsOf } from '../../../../test/support/deb.ts';
import { bodyOf, type MadeProject, makeProject } from '../../../../test/support/factories.ts';
import {
  basic,
  type Headers,
  makeTeam,
  openToAll,
  own,
  type Team,
} from '../../../../test/support/packages.ts';
import { until } from '../../../../test/support/waiting.ts';
import { moveClock } from '../../../platform/clock.ts';
import { removeWaiting } from './waiting-actions.ts';

const app: TestApp = useApp();
let { group, project, maintainer, developer, reporter, guest } = {} as Team;

beforeEach(async () => {
  ({ group, project, maintainer, developer, reporter, guest } = await makeTeam(app));
  await distribution();
});

const ofProject = (id = project.id) => `projects/${id}/packages/debian`;
const ofGroup = () => `groups/${group.id}/-/packages/debian`;

const distribution = (fields: object = {}, owner = `projects/${project.id}`) =>
  app.root(`POST /${owner}/debian_distributions`, {
    body: { codename: 'sid', suite: 'unstable', ...fields },
  });

async function send(method: string, path: string, headers: Headers, content?: Buffer) {
  const body = content && { body: new Uint8Array(content) };
  const response = await fetch(`${app.url}/api/v4/${path}`, { method, headers, ...body });
  const bytes = Buffer.from(await response.arrayBuffer());
  return { status: response.status, text: bytes.toString(), bytes };
}
const put = (
  name: string,
  content: Buffer,
  { to = '', by = own(developer), at = project }: { to?: string; by?: Headers; at?: MadeProject } = {},
) => send('PUT', `${ofProject(at.id)}/${name}${to}`, by, content);
const get = (path: string, by: Headers = own(reporter)) => send('GET', path, by);

const SID = '?distribution=sid&component=main';
const stone = (fields: Record<string, string> = {}) => debOf(controlOf(fields));
const sha256 = (content: Buffer) => createHash('sha256').update(content).digest('hex');

/** The paths of a release, with their digests. */
const listed = (release: string) =>
  Object.fromEntries(
    Array.from(release.matchAll(/^ (\w{64}) \d+ (\S+)$/gm), ([, digest, path]) => [
      String(path),
      String(digest),
    ]),
  );

test('a package is in the indexes at once, and fetched', async () => {
  const content = stone();
  const sent = await put('stone_1.0-1_amd64.deb', content, { to: SID });
  expect(sent).toMatchObject({ status: 201, text: '{"message":"201 Created"}' });
  const { status, text } = await get(`${ofProject()}/dists/sid/main/binary-amd64/Packages`);
  expect(status).toBe(200);
  expect(text).toBe(`${controlOf()}Size: ${content.length}
MD5sum: ${createHash('md5').update(content).digest('hex')}
SHA1: ${createHash('sha1').update(content).digest('hex')}
SHA256: ${sha256(content)}
Filename: pool/sid/s/stone/1.0-1/stone_1.0-1_amd64.deb

`);
  const fetched = await get(`${ofProject()}/pool/sid/s/stone/1.0-1/stone_1.0-1_amd64.deb`);
  expect(fetched.bytes).toEqual(content);
  const packages = bodyOf(await app.as(reporter.token)(`GET /projects/${project.id}/packages`), 200);
  expect(packages).toMatchObject([
    { name: 'stone', version: '1.0-1', package_type: 'debian', last_downloaded_at: expect.any(String) },
  ]);
});

test('the release lists the indexes, and each is found by its digest', async () => {
  await put('stone_1.0-1_amd64.deb', stone(), { to: SID });
  await put('slate_1.0-1_amd64.deb', stone({ Package: 'slate', Architecture: 'all' }), { to: SID });
  const base = `${ofProject()}/dists/sid`;
  const release = (await get(`${base}/Release`)).text;
  expect(release).toMatch(/^Suite: unstable\nCodename: sid\nDate: .* UTC\nAcquire-By-Hash: yes\n/);
  const files = listed(release);
  expect(Object.keys(files)).toEqual([
    ...['main/binary-all/Packages', 'main/binary-all/Packages.gz'],
    ...['main/binary-amd64/Packages', 'main/binary-amd64/Packages.gz'],
    ...['main/source/Sources', 'main/source/Sources.gz'],
  ]);
  for (const [path, digest] of Object.entries(files)) {
    const plain = await get(`${base}/${path}`);
    expect(sha256(plain.bytes)).toBe(digest);
    const folder = path.slice(0, path.lastIndexOf('/'));
    expect((await get(`${base}/${folder}/by-hash/SHA256/${digest}`)).bytes).toEqual(plain.bytes);
    expect((await get(`${base}/other/by-hash/SHA256/${digest}`)).status).toBe(404);
  }
  const packed = (await get(`${base}/main/binary-amd64/Packages.gz`)).bytes;
  expect(gunzipSync(packed).toString()).toMatch(/^Package: stone\n(?:.+\n)+\nPackage: slate\n/);
  // By the suite it is the same.
  expect((await get(`${ofProject()}/dists/unstable/Release`)).text).toBe(release);
  const signed = (await get(`${base}/InRelease`)).text;
  expect(signed.startsWith(`-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\n${release}-----BEGIN`)).toBe(
    true,
  );
  expect((await get(`${base}/Release.gpg`)).text).toMatch(/^-----BEGIN PGP SIGNATURE-----\n/);
  for (const path of [
    'main/binary-arm64/Packages',
    'other/source/Sources',
    'main/binary-amd64/Packages.xz',
    'a',
  ])
    expect((await get(`${base}/${path}`)).status).toBe(404);
  expect((await get(`${ofProject()}/dists/other/Release`)).status).toBe(404);
});

test('a release is another one when anything changes, and the indexes of the one before stay', async () => {
  const base = `${ofProject()}/dists/sid`;
  const name = 'stone_1.0-1_amd64.deb';
  await put(name, stone(), { to: SID });
  const first = (await get(`${base}/InRelease`)).text;
  expect((await get(`${base}/InRelease`)).text).toBe(first);
  const newer = stone({ Description: 'newer' });
  await put(name, newer, { to: SID });
  const second = (await get(`${base}/Release`)).text;
  const old = listed(first)['main/binary-amd64/Packages'];
  expect(listed(second)['main/binary-amd64/Packages']).not.toBe(old);
  const shown = (await get(`${base}/main/binary-amd64/Packages`)).text;
  expect(shown.match(/^Package: /gm)).toHaveLength(1);
  expect(shown).toContain('newer');
  expect((await get(`${base}/main/binary-amd64/by-hash/SHA256/${old}`)).text).toContain('granite');
  expect((await get(`${ofProject()}/pool/sid/s/stone/1.0-1/${name}`)).bytes).toEqual(newer);
  await app.root(`PUT /projects/${project.id}/debian_distributions/sid`, { body: { label: 'Stones' } });
  expect((await get(`${base}/Release`)).text).toContain('\nLabel: Stones\n'.trimStart());
  const [{ id }] = bodyOf(await app.root(`GET /projects/${project.id}/packages`), 200) as unknown as [
    { id: number },
  ];
  bodyOf(await app.as(maintainer.token)(`DELETE /projects/${project.id}/packages/${id}`), 204);
  expect((await get(`${base}/main/binary-amd64/Packages`)).text).toBe('');
});

const dateOf = (release: string) => Date.parse(/^Date: (.*)$/m.exec(release)?.[1] ?? '');

test('a state that comes back is a newer release', async () => {
  const base = `${ofProject()}/dists/sid`;
  const release = async () => (await get(`${base}/Release`)).text;
  await put('stone_1.0-1_amd64.deb', stone(), { to: SID });
  const first = await release();
  const back = [moveClock(60_000)];
  try {
    await put('slate_1.0-1_amd64.deb', stone({ Package: 'slate' }), { to: SID });
    const second = await release();
    back.push(moveClock(60_000));
    const [{ id }] = bodyOf(
      await app.root(`GET /projects/${project.id}/packages?package_name=slate`),
      200,
    ) as unknown as [{ id: number }];
    bodyOf(await app.as(maintainer.token)(`DELETE /projects/${project.id}/packages/${id}`), 204);
    const third = await release();
    expect(listed(third)).toEqual(listed(first));
    expect(dateOf(second)).toBeGreaterThan(dateOf(first));
    expect(dateOf(third)).toBeGreaterThan(dateOf(second));
    expect((await get(`${base}/main/binary-amd64/Packages`)).text.match(/^Package: .*$/gm)).toEqual([
      'Package: stone',
    ]);
    expect(await release()).toBe(third);
  } finally {
    for (const each of back) each();
  }
});

test('many ask at once while packages come: each index is the one of its release', async () => {
  const base = `${ofProject()}/dists/sid`;
  const uploads = Array.from({ length: 8 }, (_, at) =>
    put(`stone_${at}_amd64.deb`, stone({ Version: String(at) }), { to: SID }),
  );
  const releases = Array.from({ length: 8 }, async () => {
    const { status, text } = await get(`${base}/InRelease`);
    expect(status).toBe(200);
    const digest = listed(text)['main/binary-amd64/Packages'];
    const index = await get(`${base}/main/binary-amd64/by-hash/SHA256/${digest}`);
    expect(sha256(index.bytes)).toBe(digest);
  });
  await Promise.all([...uploads, ...releases]);
  const shown = (await get(`${base}/main/binary-amd64/Packages`)).text;
  expect(shown.match(/^Package: stone$/gm)).toHaveLength(8);
});

test('a release is signed anew before it is no longer valid', async () => {
  const day = 86_400;
  await app.root(`PUT /projects/${project.id}/debian_distributions/sid`, {
    body: { valid_time_duration_seconds: day },
  });
  const ask = async () => (await get(`${ofProject()}/dists/sid/Release`)).text;
  const times = (release: string) =>
    ['Date', 'Valid-Until'].map((name) =>
      Date.parse(new RegExp(`^${name}: (.*)$`, 'm').exec(release)?.[1] ?? ''),
    );
  const first = await ask();
  const [date = 0, until = 0] = times(first);
  expect(until - date).toBe(day * 1_000);
  const back = moveClock(day * 500);
  try {
    const [later = 0] = times(await ask());
    expect(later).toBeGreaterThanOrEqual(date + day * 500);
  } finally {
    back();
  }
});

const source = {
  'stone_1.0.orig.tar.gz': Buffer.from('orig'),
  'stone_1.0-1.debian.tar.xz': Buffer.from('one'),
};
const describing = (version: string, files: Record<string, Buffer>) =>
  Buffer.from(`Format: 3.0 (quilt)\nSource: stone\nBinary: stone\nVersion: ${version}\n${listsOf(files)}`);
const changes = (version: string, files: Record<string, Buffer>, section = 'net', to = 'unstable') =>
  Buffer.from(
    `Format: 1.8\nSource: stone\nVersion: ${version}\nDistribution: ${to}\n${listsOf(files, section)}`,
  );

async function upload(files: Record<string, Buffer>) {
  for (const [name, content] of Object.entries(files)) expect((await put(name, content)).status).toBe(201);
}

test('files wait for the description of their upload', async () => {
  const files = {
    ...source,
    'stone_1.0-1.dsc': describing('1.0-1', source),
    'stone_1.0-1_amd64.deb': stone(),
    'stone-dev_1.0-1_all.deb': stone({ Package: 'stone-dev', Source: 'stone', Architecture: 'all' }),
    'stone_1.0-1_amd64.buildinfo': Buffer.from('a'),
  };
  await upload(files);
  const base = `${ofProject()}/dists/sid/main`;
  expect((await get(`${base}/binary-amd64/Packages`)).text).toBe('');
  expect(bodyOf(await app.root(`GET /projects/${project.id}/packages`), 200)).toEqual([]);
  expect((await put('stone_1.0-1_amd64.changes', changes('1.0-1', files))).status).toBe(201);
  expect((await get(`${base}/binary-amd64/Packages`)).text.match(/^Package: .*$/gm)).toEqual([
    'Package: stone',
    'Package: stone-dev',
  ]);
  const sources = (await get(`${base}/source/Sources`)).text;
  expect(sources).toMatch(/^Package: stone\nFormat: 3.0 \(quilt\)\n/);
  expect(sources).toMatch(/\nFiles:\n \w{32} \d+ stone_1.0-1.dsc\n \w{32} 4 stone_1.0.orig.tar.gz\n/);
  expect(sources).toMatch(/\nChecksums-Sha256:\n \w{64} \d+ stone_1.0-1.dsc\n/);
  expect(sources).toContain('\nDirectory: pool/sid/s/stone/1.0-1\n');
  for (const [name, content] of Object.entries(files))
    expect((await get(`${ofProject()}/pool/sid/s/stone/1.0-1/${name}`)).bytes).toEqual(content);
  const [row, ...others] = bodyOf(await app.root(`GET /projects/${project.id}/packages`), 200) as unknown as [
    { id: number; name: string; version: string },
  ];
  expect([row.name, row.version, others]).toEqual(['stone', '1.0-1', []]);
  const kept = bodyOf(await app.root(`GET /projects/${project.id}/packages/${row.id}/package_files`), 200);
  expect(kept).toHaveLength(7);
});

test('the archive of a source came with the version before', async () => {
  const first = { ...source, 'stone_1.0-1.dsc': describing('1.0-1', source) };
  await upload(first);
  await put('stone_1.0-1_source.changes', changes('1.0-1', first));
  const archives = {
    'stone_1.0.orig.tar.gz': source['stone_1.0.orig.tar.gz'],
    'stone_1.0-2.debian.tar.xz': Buffer.from('two'),
  };
  const { 'stone_1.0.orig.tar.gz': _, ...came } = archives;
  const second = { ...came, 'stone_1.0-2.dsc': describing('1.0-2', archives) };
  await upload(second);
  expect((await put('stone_1.0-2_source.changes', changes('1.0-2', second))).status).toBe(201);
  const pool = `${ofProject()}/pool/sid/s/stone`;
  expect((await get(`${pool}/1.0-2/stone_1.0.orig.tar.gz`)).text).toBe('orig');
  // What was copied once is there when the same comes again.
  await upload({ 'stone_1.0-2.dsc': describing('1.0-2', archives) });
  const again = changes('1.0-2', { 'stone_1.0-2.dsc': describing('1.0-2', archives) });
  expect((await put('stone_1.0-2_source.changes', again)).status).toBe(201);
  const rows = bodyOf(await app.root(`GET /projects/${project.id}/packages`), 200) as unknown as {
    id: number;
    version: string;
  }[];
  const id = rows.find(({ version }) => version === '1.0-2')?.id;
  const kept = bodyOf(
    await app.root(`GET /projects/${project.id}/packages/${id}/package_files`),
    200,
  ) as unknown as { file_name: string }[];
  expect(kept.filter(({ file_name }) => file_name === 'stone_1.0.orig.tar.gz')).toHaveLength(1);
  expect((await get(`${pool}/1.0-2/stone_1.0.orig.tar.gz`)).text).toBe('orig');
  // In another distribution it is another file.
  await distribution({ codename: 'bookworm', suite: null });
  await upload({ 'stone_1.0-2.dsc': describing('1.0-2', archives) });
  const { 'stone_1.0-2.debian.tar.xz': __, ...described } = second;
  expect(
    (await put('stone_1.0-2_source.changes', changes('1.0-2', described, 'net', 'bookworm'))).status,
  ).toBe(201);
  for (const codename of ['sid', 'bookworm'])
    expect((await get(`${ofProject()}/pool/${codename}/s/stone/1.0-2/stone_1.0.orig.tar.gz`)).text).toBe(
      'orig',
    );
  const third = { 'stone_1.0-3.dsc': describing('1.0-3', { 'stone_1.0.orig.tar.gz': Buffer.from('other') }) };
  await upload(third);
  const refused = await put('stone_1.0-3_source.changes', changes('1.0-3', third));
  expect(refused).toMatchObject({ status: 400, text: expect.stringContaining('has not been uploaded') });
});

test('an archive that came with the version before is as it is described', async () => {
  const archives = { 'stone_1.0.orig.tar.gz': Buffer.from('orig') };
  const first = { ...archives, 'stone_1.0-1.dsc': describing('1.0-1', archives) };
  await upload(first);
  await put('stone_1.0-1_source.changes', changes('1.0-1', first));
  const right = describing('1.0-2', archives).toString();
  const digestOf = (algorithm: string) => createHash(algorithm).update('orig').digest('hex');
  for (const [description, status] of [
    [right.replaceAll(' 4 stone', ' 5 stone'), 400],
    [right.replace(digestOf('md5'), '0'.repeat(32)), 400],
    [right.replace(digestOf('sha1'), '0'.repeat(40)), 400],
    [right, 201],
  ] as const) {
    const second = { 'stone_1.0-2.dsc': Buffer.from(description) };
    await upload(second);
    const sent = await put('stone_1.0-2_source.changes', changes('1.0-2', second));
    expect(sent.status).toBe(status);
    if (status === 400) expect(sent.text).toContain('stone_1.0.orig.tar.gz is not the file that is listed');
  }
});

test('an upload that is not as it is described is refused, and nothing of it is kept', async () => {
  const files = { 'stone_1.0-1_amd64.deb': stone() };
  const problem = async (description: Buffer) => {
    const { status, text } = await put('stone_1.0-1_amd64.changes', description);
    expect(status).toBe(400);
    return text;
  };
  expect(await problem(changes('1.0-1', files))).toContain('stone_1.0-1_amd64.deb has not been uploaded');
  await upload(files);
  const other = { 'stone_1.0-1_amd64.deb': stone({ Description: 'other' }) };
  expect(await problem(changes('1.0-1', other))).toContain('is not the file that is listed');
  expect(await problem(changes('1.0-2', files))).toContain('is of stone 1.0-1');
  expect(await problem(changes('1.0-1', files, 'contrib/net'))).toContain('no component contrib');
  expect(await problem(changes('1.0-1', files, 'net', 'other'))).toContain('no distribution other');
  expect(await problem(changes('1.0-1', { ...files, 'a.deb': Buffer.from('a') }))).toContain(
    'a.deb has not been',
  );
  expect(await problem(Buffer.from('granite'))).toContain('a line that is no field');
  expect(await problem(Buffer.alloc(1_048_577, 'a'))).toContain('more than 1048576 bytes');
  expect(bodyOf(await app.root(`GET /projects/${project.id}/packages`), 200)).toEqual([]);
  // What waits has waited for this.
  expect((await put('stone_1.0-1_amd64.changes', changes('1.0-1', files))).status).toBe(201);
});

test('what waited a day is gone', async () => {
  const files = { 'stone_1.0-1_amd64.deb': stone() };
  await upload(files);
  const back = moveClock(86_400_001);
  try {
    await upload({ 'other_1_amd64.deb': stone() });
    const { status, text } = await put('stone_1.0-1_amd64.changes', changes('1.0-1', files));
    expect([status, text]).toEqual([400, expect.stringContaining('has not been uploaded')]);
  } finally {
    back();
  }
});

test('what waited a day is gone by the clock, and what came since waits', async () => {
  const [second, third] = [
    await makeProject(app, { namespace_id: group.id }),
    await makeProject(app, { namespace_id: group.id }),
  ];
  const by = own({ token: ROOT_TOKEN });
  await upload({ 'stone_1.0-1_amd64.deb': stone(), 'stone_1.0-1.dsc': describing('1.0-1', source) });
  expect((await put('slate_1_amd64.deb', stone({ Package: 'slate' }), { by, at: second })).status).toBe(201);
  await put('clay_1_amd64.deb', stone({ Package: 'clay' }), { to: SID });
  const { services } = app.app;
  const projects = [project.id, second.id, third.id];
  const names = async () => {
    const rows = await services.database.sql<{ file_name: string }[]>`
      select file_name from package_files f join packages p on p.id = f.package_id
      where p.project_id = any(${projects}::bigint[]) order by f.id`;
    return rows.map(({ file_name }) => file_name);
  };
  const published = 'clay_1_amd64.deb';
  const waiting = ['stone_1.0-1_amd64.deb', 'stone_1.0-1.dsc', 'slate_1_amd64.deb'];
  const back = moveClock(86_400_001);
  try {
    const recent = 'iron_1_amd64.deb';
    expect((await put(recent, stone({ Package: 'iron' }), { by, at: third })).status).toBe(201);
    expect(await names()).toEqual([...waiting, published, recent]);
    // What is left after a turn is another job.
    await removeWaiting(services, 0);
    await until(async () => (await names()).length === 2, 'old files are there');
    expect(await names()).toEqual([published, recent]);
  } finally {
    back();
  }
});

test('what is no package, and what has no place, is refused', async () => {
  const problem = async (name: string, content: Buffer, to = SID) => {
    const { status, text } = await put(name, content, { to });
    return [status, (JSON.parse(text) as { message: string }).message.replace('400 Bad request - ', '')];
  };
  const deb = 'stone_1.0-1_amd64.deb';
  expect(await problem(deb, Buffer.from('granite'))).toEqual([400, 'the file is not a Debian package']);
  expect(await problem(deb, Buffer.alloc(0))).toEqual([400, 'the file is not a Debian package']);
  expect(await problem(deb, Buffer.from('granite'), '')).toEqual([400, 'the file is not a Debian package']);
  expect(await problem(deb, stone({ Package: '../a' }))).toEqual([400, 'control file: Package is invalid']);
  expect(await problem(deb, stone({ Architecture: 'arm64' }))).toEqual([
    400,
    'the distribution sid has no architecture arm64',
  ]);
  expect(await problem(deb, stone(), '?distribution=sid&component=other')).toEqual([
    400,
    'the distribution sid has no component other',
  ]);
  expect(await problem(deb, stone(), '?distribution=sid')).toEqual([400, 'component is missing']);
  expect(await problem(deb, stone(), '?distribution=other&component=main')).toEqual([
    404,
    '404 Distribution Not Found',
  ]);
  expect((await problem('stone_1.0.dsc', describing('1.0', source)))[1]).toContain('distribution is for');
  expect((await problem('stone.exe', stone()))[1]).toContain('file_name is not');
  expect((await problem('..%2Fstone.deb', stone()))[1]).toContain('file_name is not');
  expect(bodyOf(await app.root(`GET /projects/${project.id}/packages`), 200)).toEqual([]);
});

test('who uploads, reads and fetches', async () => {
  const deb = 'stone_1.0-1_amd64.deb';
  await put(deb, stone(), { to: SID });
  const made = await app.as(maintainer.token)(`POST /projects/${project.id}/deploy_tokens`, {
    body: { name: 'd', scopes: ['read_package_registry'] },
  });
  const deploy = bodyOf(made, 201) as unknown as { username: string; token: string };
  const paths = [
    ...['dists/sid/InRelease', 'dists/sid/main/binary-amd64/Packages', `pool/sid/s/stone/1.0-1/${deb}`].map(
      (path) => `${ofProject()}/${path}`,
    ),
    `projects/${project.id}/debian_distributions/sid/key.asc`,
  ];
  for (const path of paths) {
    expect((await get(path, basic(deploy.username, deploy.token))).status).toBe(200);
    expect((await get(path, basic('x', reporter.token))).status).toBe(200);
    expect((await get(path, basic('x', 'wrong'))).status).toBe(401);
    expect((await get(path, {})).status).toBe(401);
    expect((await get(path, own(guest))).status).toBe(403);
  }
  for (const [by, status] of [
    [{}, 401],
    [own(reporter), 403],
    [basic(deploy.username, deploy.token), 403],
  ] as const)
    expect((await put(deb, stone(), { to: SID, by })).status).toBe(status);
  await openToAll(app, { group, project });
  for (const path of paths) expect((await get(path, {})).status).toBe(200);
});

test('a group shows what the caller reads, of distributions of the same codename', async () => {
  await distribution({ suite: null }, `groups/${group.id}/-`);
  const other = await makeProject(app, { namespace_id: group.id });
  await distribution({ suite: null }, `projects/${other.id}`);
  await distribution({ codename: 'bookworm', suite: null }, `projects/${other.id}`);
  const root = own({ token: ROOT_TOKEN });
  const deb = 'stone_1.0-1_amd64.deb';
  await put(deb, stone(), { to: SID });
  await put('slate_1.0-1_amd64.deb', stone({ Package: 'slate' }), { to: SID, by: root, at: other });
  await put('clay_1.0-1_amd64.deb', stone({ Package: 'clay' }), {
    ...{ to: '?distribution=bookworm&component=main', by: root, at: other },
  });
  const base = `${ofGroup()}/dists/sid`;
  const shown = async (by: Headers) =>
    (await get(`${base}/main/binary-amd64/Packages`, by)).text.match(/^(Package|Filename): .*$/gm);
  const mine = ['Package: stone', `Filename: pool/sid/${project.id}/s/stone/1.0-1/${deb}`];
  const hidden = ['Package: slate', `Filename: pool/sid/${other.id}/s/slate/1.0-1/slate_1.0-1_amd64.deb`];
  expect(await shown(own(reporter))).toEqual(mine);
  expect(await shown(root)).toEqual([...mine, ...hidden]);
  // A release that shows more is not theirs, whoever tells them its digest.
  const release = (await get(`${base}/Release`, root)).text;
  const byHash = `${base}/main/binary-amd64/by-hash/SHA256/${listed(release)['main/binary-amd64/Packages']}`;
  expect((await get(byHash, root)).status).toBe(200);
  expect((await get(byHash, own(reporter))).status).toBe(404);
  const pool = `${ofGroup()}/pool/sid`;
  expect((await get(`${pool}/${project.id}/s/stone/1.0-1/${deb}`)).bytes).toEqual(stone());
  const secret = `${pool}/${other.id}/s/slate/1.0-1/slate_1.0-1_amd64.deb`;
  expect((await get(secret, root)).status).toBe(200);
  expect((await get(secret)).status).toBe(404);
  expect((await get(`${pool}/${other.id}/s/stone/1.0-1/${deb}`, root)).status).toBe(404);
  expect((await get(`${base}/InRelease`, {})).status).toBe(401);
});

test('the last releases are kept of each set of projects', async () => {
  await distribution({ suite: null }, `groups/${group.id}/-`);
  const other = await makeProject(app, { namespace_id: group.id });
  await distribution({ suite: null }, `projects/${other.id}`);
  const root = own({ token: ROOT_TOKEN });
  await put('stone_1.0-1_amd64.deb', stone(), { to: SID });
  const base = `${ofGroup()}/dists/sid`;
  const path = 'main/binary-amd64/Packages';
  const digestFor = async (by: Headers) => String(listed((await get(`${base}/Release`, by)).text)[path]);
  const isThere = async (digest: string, by: Headers) =>
    (await get(`${base}/main/binary-amd64/by-hash/SHA256/${digest}`, by)).status === 200;
  const mine = await digestFor(own(reporter));
  const theirs: string[] = [];
  for (const Version of Array.from({ length: 11 }, (_, index) => String(index + 1))) {
    await put(`slate_${Version}_amd64.deb`, stone({ Package: 'slate', Version }), {
      ...{ to: SID, by: root, at: other },
    });
    theirs.push(await digestFor(root));
  }
  const found: boolean[] = [];
  for (const digest of theirs) found.push(await isThere(digest, root));
  expect(found).toEqual([false, ...Array(10).fill(true)]);
  expect(await isThere(mine, own(reporter))).toBe(true);
});

test('the installer has an index of its own, and symbols are packages like others', async () => {
  await put('stone_1.0-1_amd64.udeb', stone(), { to: SID });
  await put('stone-dbgsym_1.0-1_amd64.ddeb', stone({ Package: 'stone-dbgsym', Source: 'stone' }), {
    to: SID,
  });
  const base = `${ofProject()}/dists/sid/main`;
  expect((await get(`${base}/debian-installer/binary-amd64/Packages`)).text).toMatch(/^Package: stone\n/);
  expect((await get(`${base}/debian-installer/binary-all/Packages`)).status).toBe(404);
  expect((await get(`${base}/binary-amd64/Packages`)).text.match(/^(Package|Filename): .*$/gm)).toEqual([
    'Package: stone-dbgsym',
    'Filename: pool/sid/s/stone/1.0-1/stone-dbgsym_1.0-1_amd64.ddeb',
  ]);
});

test('the same upload twice at once is published once', async () => {
  const files = { 'stone_1.0-1_amd64.deb': stone() };
  await upload(files);
  const sent = await Promise.all([1, 2].map(() => put('stone_1.0-1_amd64.changes', changes('1.0-1', files))));
  expect(sent.map(({ status }) => status).sort()).toEqual([201, 400]);
  const { text } = await get(`${ofProject()}/dists/sid/main/binary-amd64/Packages`);
  expect(text.match(/^Package: /gm)).toHaveLength(1);
});

test('what is for every architecture counts in the index of each', async () => {
  const architectures = Array.from({ length: 30 }, (_, at) => `a${at}`);
  await distribution({ codename: 'wide', suite: null, architectures });
  const names = ['one', 'two', 'three', 'four', 'five'];
  const Description = 'a'.repeat(250_000);
  for (const Package of names)
    await put(`${Package}_1.0_all.deb`, stone({ Package, Architecture: 'all', Description }), {
      to: '?distribution=wide&component=main',
    });
  for (const architecture of ['all', 'a29']) {
    const { text } = await get(`${ofProject()}/dists/wide/main/binary-${architecture}/Packages`);
    // 33,554,432 characters have room for 31 times four of them.
    expect(text.match(/^Package: .*$/gm)).toEqual(names.slice(1).map((name) => `Package: ${name}`));
  }
});

test('releases of one caller wait behind each other, and others have their turns', async () => {
  const names = Array.from({ length: 23 }, (_, at) => `sid${at}`);
  for (const codename of names) await distribution({ codename, suite: null });
  const ask = (codename: string, by = own(developer)) =>
    get(`${ofProject()}/dists/${codename}/InRelease`, by);
  const { sql } = app.app.services.database;
  const { asked } = await sql.begin(async (tx) => {
    // None is made until the transaction ends.
    await tx`lock table debian_indexes in share mode`;
    const refused: string[] = [];
    const asking = names.map(async (codename) => {
      const { status } = await ask(codename);
      if (status === 429) refused.push(codename);
      return status;
    });
    await vi.waitFor(() => expect(refused).toHaveLength(2), 10_000);
    const others = refused.map(async (codename) => (await ask(codename, own(reporter))).status);
    return { asked: [...asking, ...others] };
  });
  const statuses = await Promise.all(asked);
  expect(statuses.filter((status) => status === 200)).toHaveLength(23);
  expect(statuses.filter((status) => status === 429)).toHaveLength(2);
});

test('a deleted distribution leaves its packages, and one of the same name has another key and nothing in it', async () => {
  const deb = 'stone_1.0-1_amd64.deb';
  await put(deb, stone(), { to: SID });
  const keyOf = async () => (await get(`projects/${project.id}/debian_distributions/sid/key.asc`)).text;
  const first = await keyOf();
  await get(`${ofProject()}/dists/sid/InRelease`);
  await app.root(`DELETE /projects/${project.id}/debian_distributions/sid`);
  expect((await get(`${ofProject()}/dists/sid/InRelease`)).status).toBe(404);
  expect(bodyOf(await app.root(`GET /projects/${project.id}/packages`), 200)).toMatchObject([
    { name: 'stone' },
  ]);
  await distribution();
  expect(await keyOf()).not.toBe(first);
  expect((await get(`${ofProject()}/dists/sid/main/binary-amd64/Packages`)).text).toBe('');
  expect((await get(`${ofProject()}/pool/sid/s/stone/1.0-1/${deb}`)).status).toBe(404);
});

test('a private key is not in the database as it is', async () => {
  const [row] = await app.app.services.database.sql<{ private_key_sealed: string }[]>`
    select private_key_sealed from debian_distributions where project_id = ${project.id}`;
  expect(row?.private_key_sealed).toMatch(/^v1\.[0-9a-f]{16}\./);
});

test('a deploy token of a group reads what is below it', async () => {
  await distribution({ suite: null }, `groups/${group.id}/-`);
  await put('stone_1.0-1_amd64.deb', stone(), { to: SID });
  const made = await app.root(`POST /groups/${group.id}/deploy_tokens`, {
    body: { name: 'd', scopes: ['read_package_registry'] },
  });
  const deploy = bodyOf(made, 201) as unknown as { username: string; token: string };
  const by = basic(deploy.username, deploy.token);
  for (const path of [`${ofGroup()}/dists/sid`, `${ofProject()}/dists/sid`])
    expect((await get(`${path}/main/binary-amd64/Packages`, by)).text).toMatch(/^Package: stone\n/);
  expect((await get(`groups/${group.id}/-/debian_distributions/sid/key.asc`, by)).status).toBe(200);
});
