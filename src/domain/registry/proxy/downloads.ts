/**
 * Blobs that come from another registry while clients wait for them: one download each, into a draft from which all its
 * clients read as it grows. The last byte is handed out when the digest was right: what is cut off, or is not what it was
 * called, is a response that ends before its end.
 */
import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { Needs } from '../../../kernel/services.ts';
import { monotonic } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import { createShare, currentCaller } from '../../../platform/fair-share.ts';
import type { Digest } from '../names/rules.ts';
import { RegistryError } from '../refusals/errors.ts';
import { requireSame } from '../uploads/receive.ts';
import { type Pace, paceAfter } from './rules.ts';
import { fetchBlob, lengthOf, type Upstream, UpstreamError } from './upstream.ts';

/** What arrived, and was what it was called. */
type Arrived = { sha256: Buffer; size: number; keep(tx: Db): Promise<void> };

type Wanted = {
  /** Who may read the same download. */
  key: string;
  upstream: Upstream;
  digest: Digest & { text: string };
  keep(arrived: Arrived): Promise<unknown>;
};

/** The bytes as they arrive, and how many they will be, where the registry says it. */
type Arriving = { length: number | undefined; body: Readable };

/** A layer of the largest images. */
const MAX_BLOB_BYTES = 5 * 1_073_741_824;
const PIECE_BYTES = 65_536;
/** However a registry sends, it holds no place for good. */
const MAX_DOWNLOAD_MS = 2 * 3_600_000;

type Download = {
  /** Its place among all downloads: that of the first of its callers who gets one. Rejects where none does. */
  place: PromiseWithResolvers<() => void>;
  /** Aborted when it has a place: nobody waits for one any more. */
  placed: AbortController;
  /** Who waits for a place, or has one: a caller once. */
  claims: Map<string | undefined, Promise<void>>;
  /** Resolves with the length when the first byte may come; rejects where none does. */
  begun: Promise<number | undefined>;
  /** The draft, to be read. */
  file: FileHandle | undefined;
  /** Bytes that clients may have. */
  readable: number;
  state: 'arriving' | 'whole' | 'failed';
  /** Clients, and the download itself: who goes last closes the file. */
  users: number;
  /** Called when there is more to read, or no more. */
  waiting: Set<() => void>;
  stop: AbortController;
};

function wake(download: Download): void {
  const waiting = [...download.waiting];
  download.waiting.clear();
  for (const each of waiting) each();
}

async function leave(download: Download): Promise<void> {
  download.users -= 1;
  // No client is left.
  if (download.users === 1) download.stop.abort();
  if (download.users === 0) await download.file?.close().catch(() => undefined);
}

/** Counts one more client in; the function that counts it out may be called twice. */
function join(download: Download): () => Promise<void> {
  download.users += 1;
  let joined = true;
  return async () => {
    if (joined) {
      joined = false;
      await leave(download);
    }
  };
}

/** The bytes from the first on, as they come. */
function reader(download: Download, end: () => Promise<void>): Readable {
  let position = 0;
  async function next(): Promise<Buffer | null> {
    while (position >= download.readable) {
      if (download.state === 'whole') return null;
      if (download.state === 'failed') throw new Error('the download came to nothing');
      await new Promise<void>((more) => download.waiting.add(more));
    }
    const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, download.readable - position));
    const { bytesRead = 0 } = (await download.file?.read(piece, 0, piece.length, position)) ?? {};
    if (bytesRead === 0) throw new Error('the draft ended before its end');
    position += bytesRead;
    return piece.subarray(0, bytesRead);
  }
  return new Readable({
    read() {
      next().then(
        (piece) => void (this.destroyed || this.push(piece)),
        (error: Error) => void this.destroy(error),
      );
    },
    destroy(error, done) {
      void end().then(() => done(error));
    },
  });
}

export type Downloads = {
  /** Begins to download, or reads with those who wait for the same; rejects where the first byte does not come. */
  read(wanted: Wanted, signal: AbortSignal): Promise<Arriving>;
};

export function createDownloads({ blobs, log }: Needs<'blobs' | 'log'>): Downloads {
  const running = new Map<string, Download>();
  const share = createShare({
    of: 'downloads through the dependency proxy',
    places: 32,
    perCaller: 8,
    waitingPerCaller: 64,
    waiting: 512,
    timeoutMs: 60_000,
  });

  async function receive(
    { upstream, digest, keep }: Wanted,
    download: Download,
    begin: (length?: number) => void,
  ) {
    const draft = await blobs.draft(digest.algorithm === 'sha256' ? [] : [digest.algorithm]);
    try {
      download.file = await open(draft.path, 'r');
      let written = 0;
      await fetchBlob(upstream, digest.text, {
        maximumBytes: MAX_BLOB_BYTES,
        signal: AbortSignal.any([download.stop.signal, AbortSignal.timeout(MAX_DOWNLOAD_MS)]),
        receive: async (headers, pieces) => {
          const length = lengthOf(headers);
          if (length !== undefined && length > MAX_BLOB_BYTES)
            throw new RegistryError('SIZE_INVALID', `a blob has ${MAX_BLOB_BYTES} bytes at most`, {
              status: 413,
            });
          begin(length);
          let pace: Pace | undefined = { since: monotonic(), bytes: 0 };
          for await (const piece of pieces) {
            pace = paceAfter(pace, piece.length, monotonic());
            if (!pace) throw new UpstreamError('unreachable', 'the upstream registry sends too slowly');
            await draft.write(piece);
            await draft.flush();
            written += piece.length;
            download.readable = Math.max(0, written - 1);
            wake(download);
          }
        },
      });
      const received = await draft.finish();
      requireSame(digest, received);
      const { sha256, size } = received;
      // Its clients have what they asked for, whether it is kept or not.
      await keep({ sha256, size, keep: draft.keep }).catch((error: unknown) =>
        log.error('a blob of the dependency proxy is not kept', error),
      );
      download.readable = size;
      download.state = 'whole';
    } finally {
      await draft.discard();
    }
  }

  /** Waits for a place in the caller's own queue; rejects where the caller gets none before another one does. */
  function claim(download: Download): Promise<void> {
    const { place, placed, claims, stop } = download;
    const caller = currentCaller();
    const known = claims.get(caller);
    if (known || placed.signal.aborted) return known ?? Promise.resolve();
    const taking = share.take(AbortSignal.any([placed.signal, stop.signal])).then(
      (give) => {
        if (placed.signal.aborted) return give();
        placed.abort();
        place.resolve(give);
      },
      (error: unknown) => {
        if (placed.signal.aborted) return;
        claims.delete(caller);
        if (claims.size === 0) place.reject(error);
        throw error;
      },
    );
    claims.set(caller, taking);
    return taking;
  }

  function start(wanted: Wanted): Download {
    const begun = Promise.withResolvers<number | undefined>();
    const download: Download = {
      place: Promise.withResolvers(),
      placed: new AbortController(),
      claims: new Map(),
      begun: begun.promise,
      file: undefined,
      readable: 0,
      state: 'arriving',
      users: 1,
      waiting: new Set(),
      stop: new AbortController(),
    };
    running.set(wanted.key, download);
    begun.promise.catch(() => undefined);
    download.place.promise
      .then((give) => receive(wanted, download, begun.resolve).finally(give))
      .catch((error: unknown) => {
        download.state = 'failed';
        begun.reject(error);
        if (download.file && !download.stop.signal.aborted)
          log.error('a download of the dependency proxy came to nothing', error);
      })
      .finally(async () => {
        if (running.get(wanted.key) === download) running.delete(wanted.key);
        wake(download);
        await leave(download);
      })
      .catch((error: unknown) => log.error('a download of the dependency proxy did not end', error));
    return download;
  }

  return {
    async read(wanted, signal) {
      const known = running.get(wanted.key);
      // One that its clients have left ends.
      const download = known && !known.stop.signal.aborted ? known : start(wanted);
      const end = join(download);
      const gone = () => void end();
      signal.addEventListener('abort', gone, { once: true });
      try {
        signal.throwIfAborted();
        await claim(download);
        const length = await download.begun;
        return { length, body: reader(download, end) };
      } catch (error) {
        await end();
        throw signal.aborted ? new UpstreamError('unreachable', 'its client is gone', error) : error;
      } finally {
        signal.removeEventListener('abort', gone);
      }
    },
  };
}
