/** A body that is one file as it is, written while it arrives. */
import type { Readable } from 'node:stream';
import { Failure } from '../../failure.ts';

/**
 * Passes the body to `write`, one piece at a time; its size in bytes. 413 beyond `maximum`, 400 when it breaks off. The rest of
 * what is refused, here or by `write`, is read and dropped, or the client never reads the response.
 */
export async function receiveRaw(
  stream: Readable,
  options: { maximum: number; write(piece: Buffer): Promise<unknown> },
): Promise<number> {
  let size = 0;
  const pieces = stream.iterator({ destroyOnReturn: false });
  try {
    for (;;) {
      const next = await pieces.next().catch((cause: unknown) => {
        throw new Failure('bad_request', '400 Bad request - the body broke off', { cause });
      });
      if (next.done) return size;
      const piece: Buffer = next.value;
      size += piece.length;
      if (size > options.maximum) throw new Failure('payload_too_large', '413 Request Entity Too Large');
      await options.write(piece);
    }
  } catch (error) {
    await pieces.return?.();
    stream.resume();
    throw error;
  }
}
