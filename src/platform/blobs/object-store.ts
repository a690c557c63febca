/** Blobs in a bucket of an object store that speaks the protocol of S3, at the same paths as in a folder. */
import { openAsBlob } from 'node:fs';
import { Readable } from 'node:stream';
import type { S3mini } from 's3mini';
import { Failure } from '../failure.ts';
import type { ByteRange } from '../http/byte-range.ts';
import { type BlobStore, isBlobName, pathOfBlob } from './blob-store.ts';

/** Of one request; larger files go in parts. */
const MAX_OBJECT_BYTES = 5 * 1_024 ** 3;
/** Four are in memory at once; a store takes 10,000 of one file. */
const PART_BYTES = 16 * 1_048_576;
const PAGE = 1_000;
const CONNECT_TIMEOUT_MS = 10_000;
/** For the headers of a reply, and between two pieces of a body. */
const REPLY_TIMEOUT_MS = 30_000;
/** From the beginning of a request whose body may take long. */
const UPLOAD_TIMEOUT_MS = 3_600_000;

/** `https://<key>:<secret>@<host>/<bucket>?region=<region>`, as the setting admits it. */
async function connect(address: string): Promise<S3mini> {
  const [{ S3mini }, { Agent, fetch }] = await Promise.all([import('s3mini'), import('undici')]);
  const url = new URL(address);
  const agentOf = (headersTimeout: number) =>
    new Agent({ connect: { timeout: CONNECT_TIMEOUT_MS }, headersTimeout, bodyTimeout: REPLY_TIMEOUT_MS });
  const [replies, uploads] = [agentOf(REPLY_TIMEOUT_MS), agentOf(UPLOAD_TIMEOUT_MS)];
  const send = (input: string, init: { method?: string }) =>
    fetch(input, { ...init, dispatcher: init.method === 'PUT' ? uploads : replies });
  return new S3mini({
    accessKeyId: decodeURIComponent(url.username),
    secretAccessKey: decodeURIComponent(url.password),
    endpoint: `${url.origin}${url.pathname}`,
    region: url.searchParams.get('region') ?? 'us-east-1',
    minPartSize: PART_BYTES,
    // The same standard in the words of another package's types.
    fetch: send as unknown as typeof globalThis.fetch,
  });
}

const isMissing = (error: unknown): boolean => {
  const { status, cause } = (error ?? {}) as { status?: unknown; cause?: unknown };
  return status === 404 || (cause !== undefined && cause !== error && isMissing(cause));
};

/** 503 for whatever the store does not do. */
const inStore = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure('unavailable', '503 Service Unavailable: the object store does not answer', {
      cause: error,
    });
  }
};

export type ObjectStore = BlobStore & {
  /** Throws what is wrong with the bucket. */
  check(): Promise<void>;
};

export function createObjectStore(address: string): ObjectStore {
  let connecting: Promise<S3mini> | undefined;
  // Late: a process without an object store loads no client.
  const connected = (): Promise<S3mini> => {
    connecting ??= connect(address);
    return connecting;
  };

  async function sizeOf(name: string): Promise<number | undefined> {
    const bucket = await connected();
    try {
      return await bucket.getContentLength(pathOfBlob(name));
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  async function list(maximum: number, token?: string) {
    const bucket = await connected();
    const page = await bucket.listObjectsPaged('/', '', maximum, token);
    if (!page) throw new Error(`the object store has no bucket ${bucket.bucketName}`);
    return { ...page, objects: page.objects ?? [] };
  }

  async function* read(name: string, range?: ByteRange): AsyncGenerator<Uint8Array> {
    const bucket = await connected();
    const path = pathOfBlob(name);
    const reply = await inStore(
      range ? bucket.getObjectRaw(path, false, range.start, range.end + 1) : bucket.getObjectRaw(path),
    );
    if (reply.body) yield* reply.body;
  }

  async function send(name: string, content: Blob): Promise<void> {
    const bucket = await connected();
    const type = 'application/octet-stream';
    const path = pathOfBlob(name);
    if (content.size <= MAX_OBJECT_BYTES) {
      // The store compares it with what arrives.
      const checksum = { 'x-amz-checksum-sha256': Buffer.from(name, 'hex').toString('base64') };
      const reply = await bucket.putObject(path, content, type, undefined, checksum);
      await reply.body?.cancel();
      return;
    }
    await bucket.putAnyObject(path, content, type);
    if ((await sizeOf(name)) !== content.size) throw new Error(`${path} has another size than its file`);
  }

  return {
    async keep(name, file) {
      const content = await openAsBlob(file);
      // One with another size is what an interrupted copy by another program left.
      if ((await inStore(sizeOf(name))) !== content.size) await inStore(send(name, content));
    },
    async open(name) {
      const size = await inStore(sizeOf(name));
      if (size === undefined) return undefined;
      return {
        size,
        stream: (range) => Readable.from(size === 0 ? [] : read(name, range), { objectMode: false }),
        async read(target, position) {
          const end = Math.min(position + target.length, size) - 1;
          if (end < position) return 0;
          let filled = 0;
          for await (const piece of read(name, { start: position, end })) {
            target.set(piece, filled);
            filled += piece.length;
          }
          return filled;
        },
        close: async () => {},
      };
    },
    remove: (name) =>
      inStore(
        connected().then(async (bucket) => {
          await bucket.deleteObject(pathOfBlob(name));
        }),
      ),
    async *older(before) {
      for (let token: string | undefined; ; ) {
        const page = await inStore(list(PAGE, token));
        yield page.objects
          .filter(({ LastModified }) => LastModified < before)
          .map(({ Key }) => Key.slice(Key.lastIndexOf('/') + 1))
          .filter(isBlobName);
        token = page.nextContinuationToken;
        if (token === undefined) return;
      }
    },
    check: async () => {
      await list(1);
    },
  };
}
