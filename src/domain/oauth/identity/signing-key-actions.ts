/** The keys that sign identities: made at first need, rotated, and published for as long as a client may need them. */
import { sql } from 'kysely';
import type { Needs } from '../../../kernel/services.ts';
import { monotonic, now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import type { Json } from '../../../platform/db/rows.ts';
import {
  type PrivateKey,
  type PublicKey,
  parsePrivateKey,
  parsePublicKey,
  seal,
  unseal,
} from '../../../platform/secret.ts';

export const SIGNING_ALGORITHM = 'RS256';
const DAY = 86_400_000;

type KeyServices = Needs<'database' | 'secretKey'>;

/** Of all processes at the same time, one makes or rotates. */
const lockKeys = (tx: Db) =>
  sql`select pg_advisory_xact_lock(hashtextextended('signing keys', 0))`.execute(ahead(tx));

async function insertKey(tx: Db, secretKey: string): Promise<string> {
  // A key is made at the first need and at each rotation: no start waits for the library.
  const { calculateJwkThumbprint, exportJWK, exportPKCS8, generateKeyPair } = await import('jose');
  const pair = await generateKeyPair(SIGNING_ALGORITHM, { extractable: true });
  const { kty, n, e } = await exportJWK(pair.publicKey);
  if (kty !== 'RSA' || n === undefined || e === undefined) throw new Error('an RSA key expected');
  const kid = await calculateJwkThumbprint({ kty, n, e });
  const public_jwk = { kty, n, e, kid, use: 'sig', alg: SIGNING_ALGORITHM };
  const private_key_sealed = seal(secretKey, await exportPKCS8(pair.privateKey));
  await ahead(tx)
    .insertInto('oauth_signing_keys')
    .values({ kid, public_jwk, private_key_sealed, created_at: now() })
    .execute();
  return kid;
}

/** Makes the first key, unless there is one that signs. */
async function makeFirstKey({ database, secretKey }: KeyServices): Promise<void> {
  await inTransaction(database.db, async (tx) => {
    await lockKeys(tx);
    const current = await tx
      .selectFrom('oauth_signing_keys')
      .select('id')
      .where('retired_at', 'is', null)
      .limit(1)
      .executeTakeFirst();
    if (!current) await insertKey(tx, secretKey);
  });
}

export type SigningKey = { kid: string; privateKey: PrivateKey };

/** In milliseconds: so long may a process sign with a key that another has retired, which stays published for a day. */
const CACHE_LIFETIME_MS = 2_000;

/** The key that this process signed with last for each database, and when it was read. */
const known = new WeakMap<KeyServices['database'], { key: SigningKey; askedAt: number }>();

/** The key that signs now; every process follows a rotation within seconds. */
export async function signingKey(services: KeyServices): Promise<SigningKey> {
  const last = known.get(services.database);
  if (last && monotonic() - last.askedAt < CACHE_LIFETIME_MS) return last.key;
  const key = await currentKey(services, last?.key);
  known.set(services.database, { key, askedAt: monotonic() });
  return key;
}

async function currentKey(services: KeyServices, last: SigningKey | undefined): Promise<SigningKey> {
  const { points } = services.database;
  const select = () => points<{ kid: string; private_key_sealed: string }[]>`
    select kid, private_key_sealed from oauth_signing_keys where retired_at is null order by id desc limit 1`;
  let [row] = await select();
  if (!row) {
    await makeFirstKey(services);
    [row] = await select();
  }
  if (!row) throw new Error('no key signs');
  const { kid, private_key_sealed } = row;
  // To parse a key takes longer than to sign with it; its name is its content's digest.
  if (last?.kid === kid) return last;
  const pem = unseal(services.secretKey, private_key_sealed);
  return { kid, privateKey: parsePrivateKey(pem) };
}

/** Keys that were retired before this time are removed. */
const removedBefore = (): Date => new Date(now().getTime() - DAY);

/** The public keys, the newest first, with those retired in the last 24 hours; there is always one that signs. */
export async function publishedKeys(services: KeyServices): Promise<Json[]> {
  const select = () => services.database.points<{ public_jwk: Json; retired_at: Date | null }[]>`
    select public_jwk, retired_at from oauth_signing_keys
    where retired_at is null or retired_at > ${removedBefore()} order by id desc`;
  let rows = await select();
  if (!rows.some((row) => row.retired_at === null)) {
    await makeFirstKey(services);
    rows = await select();
  }
  return rows.map((row) => row.public_jwk);
}

/** Public keys by their names, of each database: a name is its key's digest. */
const verifying = new WeakMap<KeyServices['database'], { keys: Map<string, PublicKey>; askedAt: number }>();

/** The published key of this name; one that was removed is known for seconds more. */
export async function verifyingKey(services: KeyServices, kid: string): Promise<PublicKey | undefined> {
  const last = verifying.get(services.database);
  const isFresh = last !== undefined && monotonic() - last.askedAt < CACHE_LIFETIME_MS;
  const found = isFresh ? last.keys.get(kid) : undefined;
  if (found || isFresh) return found;
  const published = (await publishedKeys(services)) as { kid: string; n: string; e: string }[];
  const keys = new Map(published.map((jwk) => [jwk.kid, last?.keys.get(jwk.kid) ?? parsePublicKey(jwk)]));
  verifying.set(services.database, { keys, askedAt: monotonic() });
  return keys.get(kid);
}

/** Makes a key that signs from now on, and retires the one that did; returns its id. */
export const rotateSigningKey = (db: Db, secretKey: string): Promise<string> =>
  inTransaction(db, async (tx) => {
    await lockKeys(tx);
    await ahead(tx)
      .updateTable('oauth_signing_keys')
      .set({ retired_at: now() })
      .where('retired_at', 'is', null)
      .execute();
    return insertKey(tx, secretKey);
  });

/** Deletes keys that are not published any more; returns how many. */
export async function dropRetiredKeys(db: Db): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('oauth_signing_keys')
    .where('retired_at', '<=', removedBefore())
    .executeTakeFirst();
  return Number(numDeletedRows);
}
