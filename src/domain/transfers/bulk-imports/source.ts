/** Another instance of the same API, called with a token of the one who fetches from it. */
import type { Fetch } from '../../../kernel/api/outbound-fetch.ts';
import { OutboundFailure } from '../../../platform/outbound/outbound.ts';

/** What the source refuses, in words for whoever fetches from it. */
export class SourceFailure extends Error {}

/** It is busy, or not there: another look, in seconds. */
export class TryLater extends Error {
  readonly seconds: number;
  constructor(seconds: number) {
    super('the source is asked again later');
    this.seconds = seconds;
  }
}

const TIMEOUT_MS = 30_000;
/** Of a whole download: the other archives wait for it. */
const LONGEST_DOWNLOAD_MS = 3_600_000;
const MAX_JSON_BYTES = 4 * 1_048_576;
const DEFAULT_WAIT_SECONDS = 15;
const MAX_WAIT_SECONDS = 300;

export type Source = {
  request(
    method: 'GET' | 'POST' | 'HEAD',
    path: string,
  ): Promise<{ status: number; headers: Record<string, string | string[] | undefined>; json: unknown }>;
  /** Hands on the pieces of a file. */
  download(path: string, maximum: number, write: (piece: Buffer) => Promise<void>): Promise<void>;
};

const parsed = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
};

/** An address that may not be called is refused for good; what is not there may be there again. */
function inWords(error: unknown): unknown {
  if (!(error instanceof OutboundFailure)) return error;
  return error.reason === 'network' || error.reason === 'timeout'
    ? new TryLater(DEFAULT_WAIT_SECONDS)
    : new SourceFailure(`The source could not be called: ${error.message}`);
}

function refuse(status: number, headers: Record<string, string | string[] | undefined>): void {
  if (status === 429 || status >= 500) {
    const wait = Number(headers['retry-after']);
    throw new TryLater(
      Number.isInteger(wait) && wait > 0 ? Math.min(wait, MAX_WAIT_SECONDS) : DEFAULT_WAIT_SECONDS,
    );
  }
}

export function sourceAt(fetch: Fetch, url: string, token: string): Source {
  const base = `${url.replace(/\/+$/, '')}/api/v4`;
  const headers = { 'private-token': token, accept: 'application/json' };
  return {
    async request(method, path) {
      const reply = await fetch(`${base}${path}`, {
        method,
        headers,
        timeoutMilliseconds: TIMEOUT_MS,
        maximumBytes: MAX_JSON_BYTES,
        keepRedirects: true,
      }).catch((error: unknown) => {
        throw inWords(error);
      });
      refuse(reply.status, reply.headers);
      return { status: reply.status, headers: reply.headers, json: parsed(reply.body) };
    },
    async download(path, maximum, write) {
      let isReceived = false;
      const longest = AbortSignal.timeout(LONGEST_DOWNLOAD_MS);
      const reply = await fetch(`${base}${path}`, {
        headers,
        timeoutMilliseconds: TIMEOUT_MS,
        maximumBytes: maximum,
        keepRedirects: true,
        signal: longest,
        async receive(_, pieces) {
          for await (const piece of pieces) await write(piece);
          isReceived = true;
        },
      }).catch((error: unknown) => {
        if (longest.aborted) throw new SourceFailure('The download took longer than an hour.');
        throw inWords(error);
      });
      refuse(reply.status, reply.headers);
      if (!isReceived) throw new SourceFailure(`The source answered ${reply.status} to the download.`);
    },
  };
}
