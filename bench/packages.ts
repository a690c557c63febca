/** The figures of packages and images: large files both ways, metadata of npm, long lists of tags, and images that many pull. */
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { connect } from '../src/platform/db/database.ts';
import { encodeCursor } from '../src/platform/pagination/pagination.ts';
import { makeFolder, type Program, ROOT_TOKEN, startProgram } from '../test/journeys/support.ts';
import { tarFile } from '../test/support/tar.ts';
import { databaseOf } from './database.ts';
import { compareLatency, compareLoad, median } from './measure.ts';
import { memoryOf, startScript } from './processes.ts';
import { atMost, type Figure, ratioOf } from './table.ts';

const run = promisify(execFile);
const authorization = `Basic ${Buffer.from(`root:${ROOT_TOKEN}`).toString('base64')}`;
const MEBIBYTE = 1_048_576;
const SIZE = 1_024;

/** A file of so many mebibytes that no other has. */
function makeFile(path: string, mebibytes: number): string {
  const file = openSync(path, 'w');
  const piece = randomBytes(MEBIBYTE);
  for (let n = 0; n < mebibytes; n++) {
    piece.writeUInt32BE(n);
    writeSync(file, piece);
  }
  return path;
}

/** MB per second of `work` with so many mebibytes. */
async function rateOf(mebibytes: number, work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return mebibytes / ((performance.now() - start) / 1_000);
}

/** Copies, verifies and syncs a file: what a store has to do at least. */
const copy = (from: string, to: string) =>
  run('sh', ['-c', `tee '${to}' < '${from}' | sha256sum && sync '${to}'`]);

/** The highest memory while the work is done, above that before it, in MB. */
async function memoryAbove(program: Program, work: () => Promise<void>): Promise<number> {
  const before = memoryOf(program.pid);
  let highest = before;
  let isDone = false;
  const watching = (async () => {
    while (!isDone) {
      highest = Math.max(highest, memoryOf(program.pid));
      await sleep(100);
    }
  })();
  await work();
  isDone = true;
  await watching;
  return highest - before;
}

const ROUNDS = 3;

async function measureLargeFiles(program: Program): Promise<Figure[]> {
  const folder = makeFolder();
  const from = makeFile(join(folder, 'large'), SIZE);
  const address = (round: number) =>
    `${program.url}/api/v4/projects/1/packages/generic/large/${round}.0/large`;
  const curl = (...more: string[]) =>
    run('curl', ['-sSf', '-u', `root:${ROOT_TOKEN}`, '-o', '/dev/null', ...more]);
  const rates = { copied: [] as number[], uploaded: [] as number[], downloaded: [] as number[] };
  const memory = await memoryAbove(program, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      rates.copied.push(await rateOf(SIZE, () => copy(from, join(folder, `copy ${round}`))));
      await run('sh', ['-c', `head -c 16 /dev/urandom | dd of='${from}' conv=notrunc status=none`]);
      rates.uploaded.push(await rateOf(SIZE, () => curl('-T', from, address(round))));
      rates.downloaded.push(await rateOf(SIZE, () => curl(address(round))));
    }
  });
  const bare = median(rates.copied);
  const against = (what: string, measured: readonly number[]): Figure => ({
    what,
    value: `${median(measured).toFixed(0)} MB/s`,
    baseline: `${bare.toFixed(0)} MB/s (a copy, its SHA-256 and a sync)`,
    result: `${((100 * median(measured)) / bare).toFixed(0)} %`,
    target: '≥ 80 %',
    met: median(measured) >= 0.8 * bare,
  });
  return [
    against('1 GB published', rates.uploaded),
    against('1 GB fetched', rates.downloaded),
    atMost('memory (PSS) above idle meanwhile', memory, 60, 'MB'),
  ];
}

async function measureMetadata(program: Program): Promise<Figure[]> {
  for (let version = 0; version < 100; version++) {
    const content = JSON.stringify({ name: 'stone', version: `${version}.0.0` });
    const data = gzipSync(tarFile({ name: 'package/package.json', content }));
    const integrity = `sha512-${createHash('sha512').update(data).digest('base64')}`;
    const name = `stone-${version}.0.0.tgz`;
    const manifest = {
      name: 'stone',
      version: `${version}.0.0`,
      dependencies: { granite: '^1.0.0', marble: '^2.0.0', slate: '~3.1.0', chalk: '4.x' },
      dist: { integrity, shasum: createHash('sha1').update(data).digest('hex'), tarball: `${program.url}/x` },
    };
    const sent = await fetch(`${program.url}/api/v4/projects/1/packages/npm/stone`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${ROOT_TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        _id: 'stone',
        name: 'stone',
        'dist-tags': { latest: manifest.version },
        versions: { [manifest.version]: manifest },
        _attachments: { [name]: { data: data.toString('base64'), length: data.length } },
      }),
    });
    if (sent.status >= 300) throw new Error(`npm: ${sent.status} ${await sent.text()}`);
  }
  const metadata = {
    url: `${program.url}/api/v4/projects/1/packages/npm/stone`,
    headers: { authorization: `Bearer ${ROOT_TOKEN}` },
  };
  const bytes = (await (await fetch(metadata.url, { headers: metadata.headers })).arrayBuffer()).byteLength;
  const bare = await startScript('baseline.ts', [program.data, program.url, ROOT_TOKEN]);
  const { subject } = await compareLoad(metadata, { url: `${bare.line}/user` }, 5);
  await bare.stop();
  return [
    {
      what: `metadata of npm, ${(bytes / 1_024).toFixed(0)} KB`,
      value: `${subject.toFixed(0)}/s`,
      baseline: '',
      result: `${subject.toFixed(0)}/s`,
      target: '≥ 1500/s',
      met: subject >= 1_500,
    },
  ];
}

const LAYERS = 20;
const LAYER = 10;
const CLIENTS = 10;

const tokenFor = async (program: Program, path: string, actions: string): Promise<Record<string, string>> => {
  const scope = encodeURIComponent(`repository:${path}:${actions}`);
  const reply = await fetch(`${program.url}/jwt/auth?service=container_registry&scope=${scope}`, {
    headers: { authorization },
  });
  const { token } = (await reply.json()) as { token: string };
  return { authorization: `Bearer ${token}` };
};

async function put(url: string, headers: Record<string, string>, body: Buffer): Promise<void> {
  const reply = await fetch(url, { method: 'PUT', headers, body: new Uint8Array(body) });
  if (reply.status !== 201) throw new Error(`${url}: ${reply.status} ${await reply.text()}`);
}

async function measureImages(program: Program): Promise<Figure[]> {
  const name = 'root/stone';
  const headers = await tokenFor(program, name, 'pull,push');
  const v2 = `${program.url}/v2/${name}`;
  const push = async (content: Buffer) => {
    const digest = `sha256:${createHash('sha256').update(content).digest('hex')}`;
    const begun = await fetch(`${v2}/blobs/uploads/`, { method: 'POST', headers });
    const at = new URL(begun.headers.get('location') ?? '', program.url);
    at.searchParams.set('digest', digest);
    await put(at.href, { ...headers, 'content-type': 'application/octet-stream' }, content);
    return { digest, size: content.length };
  };
  const type = 'application/vnd.oci.image';
  const layers: { mediaType: string; digest: string; size: number }[] = [];
  for (let layer = 0; layer < LAYERS; layer++)
    layers.push({ mediaType: `${type}.layer.v1.tar`, ...(await push(randomBytes(LAYER * MEBIBYTE))) });
  const manifest = {
    schemaVersion: 2,
    mediaType: `${type}.manifest.v1+json`,
    config: { mediaType: `${type}.config.v1+json`, ...(await push(Buffer.from('{}'))) },
    layers,
  };
  await put(
    `${v2}/manifests/latest`,
    { ...headers, 'content-type': manifest.mediaType },
    Buffer.from(JSON.stringify(manifest)),
  );
  const pull = async () => {
    const own = await tokenFor(program, name, 'pull');
    const arguments_ = layers.flatMap(({ digest }) => ['-o', '/dev/null', `${v2}/blobs/${digest}`]);
    await run('curl', ['-sSf', '-H', `authorization: ${own.authorization}`, ...arguments_]);
  };
  const folder = makeFolder();
  const from = makeFile(join(folder, 'all'), LAYERS * LAYER);
  const bare: number[] = [];
  const pulled: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    bare.push(await rateOf(LAYERS * LAYER, () => copy(from, join(folder, `copy ${round}`))));
    pulled.push(
      await rateOf(CLIENTS * LAYERS * LAYER, () => Promise.all(Array.from({ length: CLIENTS }, pull))),
    );
  }
  return [
    {
      what: `an image of ${LAYERS} layers, pulled by ${CLIENTS} clients at once`,
      value: `${median(pulled).toFixed(0)} MB/s`,
      baseline: `${median(bare).toFixed(0)} MB/s (a copy, its SHA-256 and a sync)`,
      result: `${((100 * median(pulled)) / median(bare)).toFixed(0)} %`,
      target: '≥ 100 %',
      met: median(pulled) >= median(bare),
    },
    ...(await measureTags(program, v2)),
  ];
}

const TAGS = 1_000_000;

async function measureTags(program: Program, v2: string): Promise<Figure[]> {
  const sql = connect(databaseOf(program.data), { max: 1, statementTimeout: 0, name: 'bench' });
  await sql`insert into container_tags (repository_id, name, manifest_id, created_at, updated_at)
    select t.repository_id, 'v' || lpad(i::text, 7, '0'), t.manifest_id, t.created_at, t.updated_at
    from container_tags t, generate_series(1, ${TAGS}) i where t.name = 'latest'`;
  await sql`vacuum analyze container_tags`;
  const [{ id = 0 } = {}] = await sql<
    { id: number }[]
  >`select repository_id as id from container_tags limit 1`;
  await sql.end();
  const middle = `v${String(TAGS / 2).padStart(7, '0')}`;
  const headers = await tokenFor(program, 'root/stone', 'pull');
  const lists = [
    { what: 'protocol', url: `${v2}/tags/list?n=100`, more: `&last=${middle}`, headers },
    {
      what: 'API',
      url: `${program.url}/api/v4/projects/1/registry/repositories/${id}/tags?pagination=keyset&per_page=100`,
      more: `&cursor=${encodeURIComponent(encodeCursor({ name: middle, id: 0 }))}`,
      headers: { 'private-token': ROOT_TOKEN },
    },
  ];
  const figures: Figure[] = [];
  for (const { what, url, more, headers: own } of lists) {
    const { subject, baseline, ratio } = await compareLatency(
      { url: `${url}${more}`, headers: own },
      { url, headers: own },
      220,
    );
    figures.push(
      ratioOf(
        `100 of ${TAGS} tags by the ${what}, in their midst`,
        `${subject.toFixed(2)} ms`,
        `${baseline.toFixed(2)} ms (the first)`,
        ratio,
        1.2,
      ),
    );
  }
  return figures;
}

export async function measurePackages(): Promise<Figure[]> {
  const program = await startProgram();
  const limits = { throttle_authenticated_api_enabled: false, project_api_limit: 0 };
  const set = await program.root('PUT /application/settings', limits);
  if (set.status !== 200) throw new Error(`settings: ${set.status} ${await set.text()}`);
  await program.root('POST /projects', { name: 'Stone' });
  const figures = [
    ...(await measureLargeFiles(program)),
    ...(await measureMetadata(program)),
    ...(await measureImages(program)),
  ];
  await program.stop();
  return figures;
}
