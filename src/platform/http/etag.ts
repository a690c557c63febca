/** ETags of bytes that are sent as they are read, and so have no hash. */
import { digest } from '../secret.ts';
import type { HttpRequest } from './messages.ts';

/** The weak ETag of bytes that are the same while their identity is, and whether the client has them already. */
export function etagOf(
  identity: string,
  { headers }: Pick<HttpRequest, 'headers'>,
): { etag: string; isKnown: boolean } {
  const etag = `W/"${digest(identity).toString('base64url')}"`;
  const known = headers['if-none-match'];
  return {
    etag,
    isKnown: typeof known === 'string' && known.split(',').some((each) => each.trim() === etag),
  };
}
