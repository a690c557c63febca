/** Fetches an archive from another server, by the rules for calls to others. */
import { outboundFetch } from '../../../kernel/api/outbound-fetch.ts';
import { badRequest } from '../../../platform/failure.ts';
import { createShare } from '../../../platform/fair-share.ts';
import { OutboundFailure } from '../../../platform/outbound/outbound.ts';
import type { Archive, Requesting } from './request.ts';
import { largest } from './request.ts';

/** Of each piece of the answer. */
const TIMEOUT_MS = 30_000;
/** Of all of it: the request waits for it. */
const LONGEST_MS = 1_800_000;
const downloads = createShare({
  of: 'downloads of archives',
  places: 8,
  perCaller: 2,
  waitingPerCaller: 4,
  waiting: 100,
  timeoutMs: 30_000,
});
const MAX_BYTES = 10 * 1_024 ** 3;
const contentTypes = [
  'application/gzip',
  'application/x-gzip',
  'application/x-tar',
  'application/octet-stream',
];

/** 400 for an address that may not be called, or whose answer is no archive. */
export const receiveRemote = <T>(
  context: Requesting,
  url: string,
  use: (archive: Archive) => Promise<T>,
): Promise<T> => downloads.run(() => receive(context, url, use));

async function receive<T>(
  context: Requesting,
  url: string,
  use: (archive: Archive) => Promise<T>,
): Promise<T> {
  const { services, settings } = context;
  const draft = await services.blobs.draft();
  try {
    let isReceived = false;
    const reply = await outboundFetch(services, settings)(url, {
      timeoutMilliseconds: TIMEOUT_MS,
      maximumBytes: Math.min(MAX_BYTES, largest(settings)),
      signal: AbortSignal.timeout(LONGEST_MS),
      async receive(headers, pieces) {
        const type =
          String(headers['content-type'] ?? '')
            .split(';', 1)[0]
            ?.trim() ?? '';
        if (!contentTypes.includes(type)) throw badRequest('url does not answer with application/gzip');
        for await (const piece of pieces) await draft.write(piece);
        isReceived = true;
      },
    }).catch((error: unknown) => {
      const cause = error instanceof OutboundFailure ? error.cause : undefined;
      if (cause instanceof Error && 'publicMessage' in cause) throw cause;
      if (error instanceof OutboundFailure) throw badRequest(`url could not be read: ${error.message}`);
      throw error;
    });
    if (!isReceived) throw badRequest(`url could not be read: the server answered ${reply.status}`);
    const { sha256 } = await draft.finish();
    return await use({ sha256, keep: (tx) => draft.keep(tx) });
  } finally {
    await draft.discard();
  }
}
