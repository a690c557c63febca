/** Verifies a copy of a repository: undamaged files, the source's refs, and connected objects. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createInflate } from 'node:zlib';
import { spawnGit } from '../program/program.ts';
import { allRefs, eachOf, headOf, objectFiles } from './copy.ts';

/** The copy differs from the source, or the source was damaged before: the message says how. */
export class BadCopy extends Error {}

const CHECKSUM_BYTES = 20;
/** Small enough to serve other requests between two pieces. */
const PIECE_BYTES = 1_048_576;

/** Packs and their indexes end with the SHA-1 of all before. */
async function checkSealed(path: string, signal?: AbortSignal): Promise<void> {
  const hash = createHash('sha1');
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const sealed = size - CHECKSUM_BYTES;
    for (let at = 0; at < sealed; ) {
      signal?.throwIfAborted();
      const { bytesRead } = await file.read(piece, 0, Math.min(PIECE_BYTES, sealed - at), at);
      if (bytesRead === 0) break;
      hash.update(piece.subarray(0, bytesRead));
      at += bytesRead;
    }
    const seal = Buffer.alloc(CHECKSUM_BYTES);
    await file.read(seal, 0, CHECKSUM_BYTES, Math.max(0, sealed));
    if (!hash.digest().equals(seal)) throw new BadCopy(`The file ${basename(path)} is damaged.`);
  } finally {
    await file.close();
  }
}

/** A loose object's name is the SHA-1 of its inflated content. */
async function checkLoose(path: string): Promise<void> {
  const oid = `${basename(dirname(path))}${basename(path)}`;
  const hash = createHash('sha1');
  const read = pipeline(createReadStream(path), createInflate(), async (pieces: AsyncIterable<Buffer>) => {
    for await (const piece of pieces) hash.update(piece);
  });
  await read.catch((error: NodeJS.ErrnoException) => {
    if (error.code?.startsWith('Z_')) throw new BadCopy(`The object ${oid} is damaged.`);
    throw error;
  });
  if (hash.digest('hex') !== oid) throw new BadCopy(`The object ${oid} is damaged.`);
}

/** Checks for ref files that git cannot read, which it skips silently. */
async function checkLooseRefs(folder: string, refs: string): Promise<void> {
  const known = new Set(refs.split('\n').map((line) => line.slice(line.indexOf(' ') + 1)));
  const names = await readdir(join(folder, 'refs'), { recursive: true, encoding: 'latin1' });
  for (const name of names) {
    if (known.has(`refs/${name}`) || name.endsWith('.lock')) continue;
    const file = await stat(Buffer.from(join(folder, 'refs', name), 'latin1')).catch(() => undefined);
    if (file?.isFile()) throw new BadCopy(`The ref refs/${name} is damaged.`);
  }
}

/** Checks that every object reachable from a ref exists. Takes minutes, so it is not among the short runs. */
export async function checkConnections(folder: string, signal?: AbortSignal): Promise<void> {
  const args = ['fsck', '--connectivity-only', '--no-dangling', '--no-reflogs', '--no-progress'];
  const { stdin, stdout, ended } = await spawnGit(args, { folder, ...(signal && { signal }) });
  stdin.end();
  let said = '';
  stdout.on('data', (text: Buffer) => {
    if (said.length < 2_000) said += text.toString('utf8');
  });
  const { code, complaint } = await ended;
  if (code === 0) return;
  signal?.throwIfAborted();
  const found = `${said}\n${complaint}`
    .split('\n')
    .find((line) => line !== '' && !line.startsWith('notice:'));
  throw new BadCopy(`The history is damaged: ${found ?? 'git says no more'}.`);
}

/** Throws BadCopy unless the destination has everything of the source, which must not change meanwhile. */
export async function verifyCopy(source: string, destination: string, signal?: AbortSignal): Promise<void> {
  const refs = await allRefs(source);
  if ((await allRefs(destination)) !== refs)
    throw new BadCopy('The refs of the copy are not those of the source.');
  if ((await headOf(destination)) !== (await headOf(source)))
    throw new BadCopy('HEAD of the copy is not that of the source.');
  await checkLooseRefs(source, refs);
  const objects = join(destination, 'objects');
  const { packs, loose } = await objectFiles(objects);
  for (const name of packs) await checkSealed(join(objects, name), signal);
  await eachOf(loose, (name) => checkLoose(join(objects, name)));
  await checkConnections(destination, signal);
}
