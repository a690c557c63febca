/** Speaks to git servers over HTTP by the one client for calls to other servers: its rules of addresses hold for each request. */

import { Readable } from 'node:stream';
import { monotonic } from '../../../platform/clock.ts';
import type { Service } from '../../../platform/git/program/transport.ts';
import { BadAnswer, readAdvertisement } from '../../../platform/git/remotes/advertisement.ts';
import type { Exchange, Remote } from '../../../platform/git/remotes/remotes.ts';
import { type Outbound, OutboundFailure, type OutboundRules } from '../../../platform/outbound/outbound.ts';
import { type Address, below } from './address.ts';

/** What came to nothing at the other server; one that is transient may go better soon. The text has no secret in it. */
export class RemoteFailure extends Error {
  readonly transient: boolean;
  constructor(text: string, transient = false) {
    super(text);
    this.transient = transient;
  }
}

export type Bounds = {
  /** Between two pieces of what is sent or received. */
  silenceMs: number;
  /** Of all that is received. */
  bytes: number;
  /** Branches and tags. */
  refs: number;
  /** On average, once the time is over. */
  slowest: { bytesPerSecond: number; afterMs: number };
};

export const usualBounds: Omit<Bounds, 'bytes'> = {
  silenceMs: 120_000,
  refs: 50_000,
  slowest: { bytesPerSecond: 1_024, afterMs: 300_000 },
};

const MAX_ADVERTISEMENT_BYTES = 33_554_432;

type Reach = { outbound: Outbound; rules: OutboundRules; bounds: Bounds; signal: AbortSignal };

/** What a call of the client that failed means for a mirror. */
function remoteFailure(error: unknown): unknown {
  if (!(error instanceof OutboundFailure)) return error;
  // What was thrown while the answer was received.
  if (error.cause instanceof RemoteFailure) return error.cause;
  const { reason, message } = error;
  if (reason === 'address')
    return new RemoteFailure('is blocked: Requests to the local network are not allowed');
  if (reason === 'size') return new RemoteFailure('The repository there is larger than is allowed here.');
  return new RemoteFailure(`The server could not be reached: ${message}.`, true);
}

function requireGood(status: number): void {
  if (status === 200) return;
  if (status === 401 || status === 403)
    throw new RemoteFailure(
      'The server refused the access: the name or password is wrong, or may not do this.',
    );
  if (status === 404) throw new RemoteFailure('The server has no such repository, or does not show it.');
  if (status >= 300 && status < 400)
    throw new RemoteFailure('The server leads elsewhere: give the address of the repository itself.');
  throw new RemoteFailure(`The server answered with ${status}.`, status >= 500 || status === 429);
}

/** The repository that the server leads to by its own other address, as many do that are asked without `.git`. */
function ledTo(url: string, service: Service, status: number, location: unknown): string | undefined {
  if (![301, 302, 307, 308].includes(status) || typeof location !== 'string') return undefined;
  const suffix = `/info/refs?service=git-${service}`;
  const to = URL.parse(location, below(url, 'info/refs'));
  // What opens one server is not told to another.
  if (to?.origin !== new URL(url).origin || to.username !== '' || !to.href.endsWith(suffix)) return undefined;
  return to.href.slice(0, -suffix.length);
}

/** Fails where so little came in so much time that it would hold its place for ever. */
async function* watched(pieces: AsyncIterable<Buffer>, { slowest }: Bounds): AsyncGenerator<Buffer> {
  const since = monotonic();
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.length;
    const passed = monotonic() - since;
    if (passed > slowest.afterMs && (bytes * 1_000) / passed < slowest.bytesPerSecond)
      throw new RemoteFailure('The server is too slow.', true);
    yield piece;
  }
}

/** Bytes of a request that is sent whole, with its length, as git sends it: not every server takes pieces. */
const WHOLE_BYTES = 1_048_576;

/** The request as it is sent. */
async function bodyOf(request: Readable): Promise<Buffer | (() => Readable)> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  const rest = request[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  for (let next = await rest.next(); !next.done; next = await rest.next()) {
    pieces.push(next.value);
    bytes += next.value.length;
    if (bytes > WHOLE_BYTES) return () => Readable.from(joined(pieces, rest), { objectMode: false });
  }
  return Buffer.concat(pieces);
}

async function* joined(first: readonly Buffer[], rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield* first;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}

/** Asks what the repository has; its service takes requests from then on. */
export async function openRemote(
  { url, credentials }: Address,
  service: Service,
  reach: Reach,
  mayBeLed = true,
): Promise<Remote> {
  const { outbound, rules, bounds, signal } = reach;
  const headers = {
    'user-agent': 'git/2 (ashlar)',
    ...(credentials && {
      authorization: `Basic ${Buffer.from(`${credentials.user}:${credentials.password}`).toString('base64')}`,
    }),
  };
  const call = { ...rules, timeoutMilliseconds: bounds.silenceMs, keepRedirects: true, signal } as const;
  let remaining = bounds.bytes;
  const exchange: Exchange = async (request, answer) => {
    try {
      const { status } = await outbound(below(url, `git-${service}`), {
        ...call,
        method: 'POST',
        headers: {
          ...headers,
          'content-type': `application/x-git-${service}-request`,
          accept: `application/x-git-${service}-result`,
        },
        body: await bodyOf(request),
        maximumBytes: remaining,
        receive: async (received, pieces) => {
          if (received['content-type'] !== `application/x-git-${service}-result`)
            throw new RemoteFailure('The answer is not one of a git server.');
          await answer(counted(watched(pieces, bounds)));
        },
      });
      requireGood(status);
    } catch (error) {
      throw remoteFailure(error);
    }
  };
  async function* counted(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const piece of pieces) {
      remaining -= piece.length;
      yield piece;
    }
  }
  try {
    const {
      status,
      headers: said,
      body,
    } = await outbound(below(url, `info/refs?service=git-${service}`), {
      ...call,
      headers,
      maximumBytes: MAX_ADVERTISEMENT_BYTES,
    });
    const led = mayBeLed ? ledTo(url, service, status, said.location) : undefined;
    if (led !== undefined) return await openRemote({ url: led, credentials }, service, reach, false);
    requireGood(status);
    if (said['content-type'] !== `application/x-git-${service}-advertisement`)
      throw new RemoteFailure('The answer is not one of a git server.');
    const advertisement = await readAdvertisement(body, service, bounds.refs);
    return { advertisement, exchange, silenceMs: bounds.silenceMs };
  } catch (error) {
    if (error instanceof BadAnswer) throw new RemoteFailure(error.message);
    throw remoteFailure(error);
  }
}
