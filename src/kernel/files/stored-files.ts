/**
 * Files that came with requests, on the disk: stored, read, and removed. Each has a random secret, so that no name from a
 * request is ever a path; a capability has a folder for its own.
 */
import { mkdir, open, readdir, rename, stat, unlink } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { Failure } from '../../platform/failure.ts';
import { type ReceivedFile, receiveFile } from '../../platform/http/bodies/multipart-file.ts';

const SECRET = /^[0-9a-f]{32}$/;

/** The path of the file with this secret below the folder. */
export function storedPath(root: string, secret: string): { folder: string; file: string } {
  if (!SECRET.test(secret)) throw new Error('not the name of a stored file');
  const folder = join(root, secret.slice(0, 2));
  return { folder, file: join(folder, secret) };
}

/** Syncs the folder's names to disk. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const codeOf = (error: unknown): unknown => (error as { code?: unknown } | null)?.code;

/**
 * Stores the body's `file` under the secret, synced when this returns; undefined when the body has none. 413
 * beyond `maximum` bytes, 503 when the disk is full. A failure leaves no file.
 */
export async function storeFile(
  root: string,
  secret: string,
  body: {
    stream: Readable;
    headers: IncomingHttpHeaders;
    maximum: number;
    /** Sees each piece that is written. */
    see?(piece: Buffer): void;
    /** Is told of the other fields of the body. */
    field?(name: string, value: string): void;
  },
): Promise<ReceivedFile | undefined> {
  const { folder, file } = storedPath(root, secret);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const temporary = join(folder, `.${secret}`);
  const handle = await open(temporary, 'wx', 0o600);
  let received: ReceivedFile | undefined;
  try {
    received = await receiveFile(body.stream, body.headers, {
      name: 'file',
      maximum: body.maximum,
      ...(body.field && { field: body.field }),
      write: (piece) => {
        body.see?.(piece);
        return handle.writeFile(piece);
      },
    });
    await handle.sync();
    await handle.close();
    if (received) await rename(temporary, file);
    else await unlink(temporary);
    await syncFolder(folder);
  } catch (error) {
    await handle.close().catch(() => undefined);
    await unlink(temporary).catch(() => undefined);
    if (codeOf(error) !== 'ENOSPC' && codeOf(error) !== 'EDQUOT') throw error;
    throw new Failure('unavailable', '503 Service Unavailable: no space left on disk', { cause: error });
  }
  return received;
}

/** The file's stream and its length in bytes; undefined when it is gone. The caller must read or end the stream. */
export async function openFile(
  root: string,
  secret: string,
): Promise<{ size: number; stream(): Readable; close(): Promise<void> } | undefined> {
  try {
    const handle = await open(storedPath(root, secret).file, 'r');
    const { size } = await handle.stat();
    return { size, stream: () => handle.createReadStream(), close: () => handle.close() };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Removes the files; missing ones are ignored. */
export async function removeFiles(root: string, secrets: readonly string[]): Promise<void> {
  for (const secret of secrets) {
    await unlink(storedPath(root, secret).file).catch((error: unknown) => {
      if (codeOf(error) !== 'ENOENT') throw error;
    });
  }
}

const namesIn = (folder: string): Promise<string[]> =>
  readdir(folder).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  });

const BATCH = 500;

/** Names of files last written before the time, a batch at a time: drafts, with a dot, among them. */
export async function* oldFiles(
  root: string,
  before: Date,
): AsyncGenerator<{ path: string; secret: string }[]> {
  for (const part of await namesIn(root)) {
    const names = await namesIn(join(root, part));
    for (let start = 0; start < names.length; start += BATCH) {
      const batch: { path: string; secret: string }[] = [];
      for (const name of names.slice(start, start + BATCH)) {
        const path = join(root, part, name);
        const found = await stat(path).catch(() => undefined);
        if (found && found.mtimeMs < before.getTime()) batch.push({ path, secret: name });
      }
      yield batch;
    }
  }
}
