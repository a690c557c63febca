/** Uploaded files on the disk: stored, read, and removed. */
import { mkdir, open, readdir, rename, stat, unlink } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { Failure } from '../../platform/failure.ts';
import { type ReceivedFile, receiveFile } from '../../platform/http/bodies/multipart-file.ts';
import { syncFolder, uploadPaths, uploadsFolder } from './upload-paths.ts';

const codeOf = (error: unknown): unknown => (error as { code?: unknown } | null)?.code;

/**
 * Stores the body's `file` under the secret, synced when this returns; undefined when the body has none. 413
 * beyond `maximum` bytes, 503 when the disk is full. A failure leaves no file.
 */
export async function storeFile(
  dataFolder: string,
  secret: string,
  body: { stream: Readable; headers: IncomingHttpHeaders; maximum: number },
): Promise<ReceivedFile | undefined> {
  const { folder, file } = uploadPaths(dataFolder, secret);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const temporary = join(folder, `.${secret}`);
  const handle = await open(temporary, 'wx', 0o600);
  let received: ReceivedFile | undefined;
  try {
    received = await receiveFile(body.stream, body.headers, {
      name: 'file',
      maximum: body.maximum,
      write: (piece) => handle.writeFile(piece),
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
  dataFolder: string,
  secret: string,
): Promise<{ size: number; stream(): Readable; close(): Promise<void> } | undefined> {
  try {
    const handle = await open(uploadPaths(dataFolder, secret).file, 'r');
    const { size } = await handle.stat();
    return { size, stream: () => handle.createReadStream(), close: () => handle.close() };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Removes the files; missing ones are ignored. */
export async function removeFiles(dataFolder: string, secrets: readonly string[]): Promise<void> {
  for (const secret of secrets) {
    await unlink(uploadPaths(dataFolder, secret).file).catch((error: unknown) => {
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
  dataFolder: string,
  before: Date,
): AsyncGenerator<{ path: string; secret: string }[]> {
  const root = uploadsFolder(dataFolder);
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
