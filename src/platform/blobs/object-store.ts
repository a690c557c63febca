/** Blobs in a bucket of an object store that speaks the protocol of S3. */
import { openAsBlob } from 'node:fs';
import { Readable } from 'node:stream';
import type { S3mini } from 's3mini';
import { Failure } from '../failure.ts';
import type { ByteRange } from '../http/byte-range.ts';
import { type ObjectStore, parseObjectName } from './blob-store.ts';

/** Of one request; larger files go in parts. */
const MAX_OBJECT_BYTES = 5 * 1_024 ** 3;
/** Four are in memory at once; a store takes 10,000 of one file. */
const PART_BYTES = 16 * 1_048_576;
const PAGE = 1_000;
const CONNECT_TIMEOUT_MS = 10_000;
/** For the headers of a reply, and between two pieces of a body. */
const REPLY_TIMEOUT_MS = 30_000;
/** Of one request at least, and what it may take for its bytes. */
const UPLOAD_TIMEOUT_MS = 60_000;
const BYTES_PER_MS = 256;

const sizeOfBody = (body: unknown): number =>
  body instanceof Blob ? body.size : ((body as { byteLength?: number } | undefined)?.byteLength ?? 0);

/** `https://<key>:<secret>@<host>/<bucket>?region=<region>`, as the setting admits it. */
async function connect(address: string): Promise<S3mini> {
  const [{ S3mini }, { Agent, fetch }] = await Promise.all([import('s3mini'), import('undici')]);
  const url = new URL(address);
  const agentOf = (headersTimeout: number) =>
    new Agent({ connect: { timeout: CONNECT_TIMEOUT_MS }, headersTimeout, bodyTimeout: REPLY_TIMEOUT_MS });
  // Of an upload the whole request is bounded.
  const [replies, uploads] = [agentOf(REPLY_TIMEOUT_MS), agentOf(0)];
  const send = (input: string, init: { method?: string; body?: unknown }) =>
    fetch(input, {
      ...(init as object),
      ...(init.method === 'PUT'
        ? {
            dispatcher: uploads,
            signal: AbortSignal.timeout(UPLOAD_TIMEOUT_MS + Math.ceil(sizeOfBody(init.body) / BYTES_PER_MS)),
          }
        : { dispatcher: replies }),
    });
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

const isMissing = (error: unknown): boolean => (error as { status?: unknown } | null)?.status === 404;

/** 503 for whatever the store does not do. */
const inStore = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    throw new Failure('unavailable', '503 Service Unavailable: the object store does not answer', {
      cause: error,
    });
  }
};

export function createObjectStore(address: string): ObjectStore & {
  /** Throws what is wrong with the bucket. */
  check(): Promise<void>;
} {
  let connecting: Promise<S3mini> | undefined;
  // Late: a process without an object store loads no client.
  const connected = (): Promise<S3mini> => {
    connecting ??= connect(address);
    return connecting;
  };

  async function list(maximum: number, token?: string) {
    const bucket = await connected();
    const page = await bucket.listObjectsPaged('/', '', maximum, token);
    if (!page) throw new Error(`the object store has no bucket ${bucket.bucketName}`);
    return { ...page, objects: page.objects ?? [] };
  }

  async function* read(object: string, range?: ByteRange): AsyncGenerator<Uint8Array> {
    const bucket = await connected();
    const reply = await inStore(
      range ? bucket.getObjectRaw(object, false, range.start, range.end + 1) : bucket.getObjectRaw(object),
    );
    if (reply.body) yield* reply.body;
  }

  async function send(object: string, content: Blob, sha256: Buffer): Promise<void> {
    const bucket = await connected();
    const type = 'application/octet-stream';
    if (content.size <= MAX_OBJECT_BYTES) {
      // The store compares it with what arrives.
      const checksum = { 'x-amz-checksum-sha256': sha256.toString('base64') };
      const reply = await bucket.putObject(object, content, type, undefined, checksum);
      await reply.body?.cancel();
    } else await bucket.putAnyObject(object, content, type);
    if ((await bucket.getContentLength(object)) !== content.size)
      throw new Error(`${object} has another size than its file`);
  }

  return {
    async put(object, file, sha256) {
      const content = await openAsBlob(file);
      await inStore(send(object, content, sha256));
    },
    async open(object) {
      const { size = 0 } = parseObjectName(object) ?? {};
      const bucket = await connected();
      if (!(await inStore(bucket.objectExists(object)))) return undefined;
      return {
        size,
        stream: (range) => Readable.from(size === 0 ? [] : read(object, range), { objectMode: false }),
        async read(target, position) {
          const end = Math.min(position + target.length, size) - 1;
          if (end < position) return 0;
          let filled = 0;
          for await (const piece of read(object, { start: position, end })) {
            target.set(piece, filled);
            filled += piece.length;
          }
          return filled;
        },
        close: async () => {},
      };
    },
    async remove(object) {
      const bucket = await connected();
      await inStore(
        bucket.deleteObject(object).catch((error: unknown) => {
          if (!isMissing(error)) throw error;
        }),
      );
    },
    async *older(before) {
      for (let token: string | undefined; ; ) {
        const page = await inStore(list(PAGE, token));
        yield page.objects.filter(({ LastModified }) => LastModified < before).map(({ Key }) => Key);
        token = page.nextContinuationToken;
        if (token === undefined) return;
      }
    },
    check: async () => {
      await list(1);
    },
  };
}
