/** The token of the request itself, for the `self` endpoints. */
import type { Actor } from '../../kernel/actor.ts';
import type { Db } from '../../platform/db/database.ts';
import { Failure } from '../../platform/failure.ts';
import { selectToken, type TokenRow, type Whose } from './queries.ts';

/**
 * The row of the presented token when it is of these kinds; undefined for another kind, and for a session.
 */
export async function presentedToken(
  db: Db,
  { credential }: Actor,
  whose: Whose = { list: 'presented' },
): Promise<TokenRow | undefined> {
  return credential.via === 'token' ? selectToken(db, whose, credential.tokenId) : undefined;
}

/** 405: the method rotates tokens of one kind, and this is none (facts: Tokens). */
export const wrongTokenForRotation = (): Failure =>
  new Failure('method_not_allowed', '405 Method Not Allowed', { headers: { allow: 'POST' } });
