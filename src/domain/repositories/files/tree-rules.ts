/** Page tokens of trees: the end of a page, as an opaque text. Pure. */
import { type Failure, invalid } from '../../../platform/failure.ts';

export const badPageToken = (): Failure => invalid({ page_token: ['is invalid'] });

/** The token of an entry: its path below the listed folder, for one id may stand in a tree many times. */
export const tokenOf = (place: readonly string[]): string =>
  Buffer.from(JSON.stringify(place)).toString('base64url');

/** The path that a token names; 400 for a text that tokenOf() did not make. */
export function pathOfToken(token: string): string[] {
  let place: unknown;
  try {
    place = JSON.parse(Buffer.from(token, 'base64url').toString('utf8'));
  } catch {
    throw badPageToken();
  }
  if (!Array.isArray(place) || place.length === 0 || !place.every((part) => typeof part === 'string'))
    throw badPageToken();
  return place;
}
