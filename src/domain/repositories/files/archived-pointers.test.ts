/** Archives with large files of Git LFS in the places of their pointers. */
import { spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROOT_TOKEN, useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeProject, uniqueName } from '../../../../test/support/factories.ts';
import { addressOf, makeHome, mustGit } from '../../../../test/support/git.ts';
import { withZipFile } from '../../../platform/archives/zip-file.ts';

const app = useApp();
const home = makeHome();
const folder = mkdtempSync(join(tmpdir(), 'archives-'));
afterAll(() => {
  for (const each of [home, folder]) rmSync(each, { recursive: true, force: true });
});

const large = randomBytes(700_000);
const digest = createHash('sha256').update(large).digest('hex');
const other = randomBytes(300_000);
const otherDigest = createHash('sha256').update(other).digest('hex');
const pointerTo = (oid: string, size: number) =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${size}\n`;
const long = `${'deep/'.repeat(40)}${'ü'.repeat(60)}.bin`;
const files: Record<string, string> = {
  'art/a.bin': pointerTo(digest, large.length),
  [long]: pointerTo(digest, large.length),
  'art/unknown.bin': pointerTo('1'.repeat(64), 5),
  'art/of-others.bin': pointerTo(otherDigest, other.length),
  'b.txt': 'x'.repeat(130),
  'empty.txt': '',
  'run.sh': '#!/bin/sh\n',
};
const expected: Record<string, string> = { ...files };

let base = '';
let open = (): Promise<unknown> => Promise.resolve();

beforeAll(async () => {
  const project = await makeProject(app);
  base = `/projects/${project.id}/repository`;
  const authorization = `Basic ${Buffer.from(`root:${ROOT_TOKEN}`).toString('base64')}`;
  const bring = async (path: string, content: Buffer, oid: string) => {
    const at = `${app.url}/${path}.git/lfs/objects/${oid}/${content.length}`;
    const reply = await fetch(at, {
      method: 'PUT',
      headers: { authorization },
      body: new Uint8Array(content),
    });
    expect(reply.status).toBe(200);
  };
  await bring(project.path_with_namespace, large, digest);
  // What only another project has is not there for this one.
  await bring((await makeProject(app)).path_with_namespace, other, otherDigest);
  bodyOf(await app.root(`PUT /projects/${project.id}`, { body: { lfs_enabled: false } }), 200);
  const work = join(home, uniqueName('work'));
  await mustGit(home, ['clone', '-q', addressOf(app.url, project.path_with_namespace, ROOT_TOKEN), work]);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(work, path, '..'), { recursive: true });
    writeFileSync(join(work, path), text);
  }
  await mustGit(work, ['add', '--all']);
  await mustGit(work, ['update-index', '--chmod=+x', 'run.sh']);
  spawnSync('ln', ['-s', 'art/a.bin', 'link'], { cwd: work });
  await mustGit(work, ['add', 'link']);
  await mustGit(work, ['commit', '-q', '-m', 'All']);
  await mustGit(work, ['push', '-q', 'origin', 'HEAD:main']);
  bodyOf(await app.root(`PUT /projects/${project.id}`, { body: { lfs_enabled: true } }), 200);
  for (const path of ['art/a.bin', long]) expected[path] = large.toString('latin1');
  open = () => app.app.services.repositories.uses('project', project.id, ['read']);
});

const download = (address: string, headers = {}) =>
  fetch(`${app.url}/api/v4${base}/${address}`, { headers: { 'private-token': ROOT_TOKEN, ...headers } });

/** The files of an archive, as a program unpacks them. */
async function unpacked(address: string, program: readonly string[]): Promise<Record<string, string>> {
  const reply = await download(address);
  expect(reply.status).toBe(200);
  const at = join(folder, uniqueName('archive'));
  mkdirSync(at);
  writeFileSync(join(at, 'archive'), Buffer.from(await reply.arrayBuffer()));
  const [name = '', ...args] = program;
  const { status, stderr } = spawnSync(name, args, { cwd: at, encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
  const [top = ''] = readdirSync(at).filter((each) => each !== 'archive');
  const found: Record<string, string> = {};
  for (const entry of readdirSync(join(at, top), { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const shown = relative(join(at, top), path);
    if (entry.isSymbolicLink()) found[shown] = `-> ${readlinkSync(path)}`;
    if (entry.isFile()) found[shown] = readFileSync(path, 'latin1');
    if (entry.name === 'run.sh') expect(lstatSync(path).mode & 0o100).toBe(0o100);
  }
  return found;
}

/** Its files and links, in the form of unpacked(), as the library for zip files reads them. */
async function unzipped(address: string): Promise<Record<string, string>> {
  const reply = await download(address);
  expect(reply.status).toBe(200);
  const path = join(folder, `${uniqueName('archive')}.zip`);
  writeFileSync(path, Buffer.from(await reply.arrayBuffer()));
  const found: Record<string, string> = {};
  await withZipFile(path, async (zip) => {
    for await (const entry of zip.eachEntry()) {
      const name = entry.fileName;
      if (name.endsWith('/')) continue;
      const mode = entry.externalFileAttributes >>> 16;
      const content = (await buffer(await zip.openReadStreamPromise(entry))).toString('latin1');
      found[name.slice(name.indexOf('/') + 1)] = (mode & 0o170000) === 0o120000 ? `-> ${content}` : content;
      if (name.endsWith('/run.sh')) expect(mode & 0o100).toBe(0o100);
    }
  });
  return found;
}

const tar = (flags: string) => (address: string) => unpacked(address, ['tar', flags, 'archive']);

test.each([
  ['archive.tar', tar('xf')],
  ['archive.tar.gz', tar('xzf')],
  ['archive.tar.bz2', tar('xjf')],
  ['archive.zip', unzipped],
])('%s has the objects of the project', async (address, read) => {
  expect(await read(address)).toEqual({ ...expected, link: '-> art/a.bin' });
  await expect.poll(open).toBe(0);
});

test.each([
  ['archive.tar', tar('xf')],
  ['archive.zip', unzipped],
])(
  '%s has pointers where it is asked for them, and where there are no large files',
  async (address, read) => {
    const pointers = { ...files, link: '-> art/a.bin' };
    expect(await read(`${address}?include_lfs_blobs=false`)).toEqual(pointers);
    const project = base.split('/')[2];
    bodyOf(await app.root(`PUT /projects/${project}`, { body: { lfs_enabled: false } }), 200);
    expect(await read(address)).toEqual(pointers);
    bodyOf(await app.root(`PUT /projects/${project}`, { body: { lfs_enabled: true } }), 200);
  },
);

test('a part has its own, and who has one knows when it is another', async () => {
  const part = await tar('xf')('archive.tar?path=art&exclude_paths=art/unknown.bin');
  expect(Object.keys(part).sort()).toEqual(['art/a.bin', 'art/of-others.bin']);
  expect(part['art/a.bin']).toBe(large.toString('latin1'));
  expect(await tar('xf')('archive.tar?path=art/a.bin')).toEqual({
    'art/a.bin': large.toString('latin1'),
  });
  const whole = await download('archive.tar');
  await whole.arrayBuffer();
  const etag = whole.headers.get('etag') ?? '';
  expect((await download('archive.tar', { 'if-none-match': etag })).status).toBe(304);
  const pointers = await download('archive.tar?include_lfs_blobs=false', { 'if-none-match': etag });
  expect(pointers.status).toBe(200);
  await pointers.arrayBuffer();
});

test('large files that are too much for one archive are 422, however often one is pointed to', async () => {
  const { sql } = app.app.services.database;
  await sql`update lfs_objects set size = 1200000000 where sha256 = ${Buffer.from(digest, 'hex')}`;
  const refused = await app.root(`GET ${base}/archive.tar`);
  await sql`update lfs_objects set size = ${large.length} where sha256 = ${Buffer.from(digest, 'hex')}`;
  expect(refused.status).toBe(422);
  expect(refused.body.message).toContain('include_lfs_blobs=false');
});

test('a client that goes leaves nothing open', async () => {
  const gone = new AbortController();
  const reply = await fetch(`${app.url}/api/v4${base}/archive.zip`, {
    headers: { 'private-token': ROOT_TOKEN },
    signal: gone.signal,
  });
  await reply.body?.getReader().read();
  gone.abort();
  await expect.poll(open).toBe(0);
});
