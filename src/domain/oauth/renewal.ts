/**
 * Refreshing: those under way at once share a statement and its commit, so that a hundred clients cost the disk what one
 * does. A grant's row is locked while it is renewed: its revocation comes before or after, and never between.
 */
import type postgres from 'postgres';
import { now } from '../../platform/clock.ts';
import { digest } from '../../platform/secret.ts';
import { ACCESS_SECONDS, type Issued, newSecret, type StoredRefresh } from './grants.ts';

type Renewal = {
  refreshId: number;
  name: string;
  scopes: readonly string[];
  resolve(issued: Issued | undefined): void;
  reject(error: unknown): void;
};

/** What waits for the next statement, and how many statements are under way: for each database. */
type Queue = { waiting: Renewal[]; running: number };
const queues = new WeakMap<postgres.Sql, Queue>();

const MOST_AT_ONCE = 100;
/** One is being written while the next is under way. */
const STATEMENTS = 2;

/**
 * Uses the refresh token up, ends the grant's access tokens and issues new ones; undefined when another request has used
 * it, or the grant was revoked, since it was looked at: of two at once, one wins.
 */
export function renewTokens(
  sql: postgres.Sql,
  stored: Pick<StoredRefresh, 'refresh_id' | 'client'>,
  scopes: readonly string[],
): Promise<Issued | undefined> {
  const queue = queues.get(sql) ?? { waiting: [], running: 0 };
  queues.set(sql, queue);
  const { promise, resolve, reject } = Promise.withResolvers<Issued | undefined>();
  const name = stored.client?.name ?? 'password';
  queue.waiting.push({ refreshId: stored.refresh_id, name, scopes, resolve, reject });
  writeNext(sql, queue);
  return promise;
}

function writeNext(sql: postgres.Sql, queue: Queue): void {
  if (queue.running >= STATEMENTS || queue.waiting.length === 0) return;
  const batch = queue.waiting.splice(0, MOST_AT_ONCE);
  queue.running += 1;
  void writeBatch(sql, batch)
    .catch((error: unknown) => {
      for (const { reject } of batch) reject(error);
    })
    .finally(() => {
      queue.running -= 1;
      writeNext(sql, queue);
    });
}

async function writeBatch(sql: postgres.Sql, batch: readonly Renewal[]): Promise<void> {
  const byToken = new Map<number, Renewal>();
  for (const renewal of batch) {
    // The same token twice at once: the first has it.
    if (byToken.has(renewal.refreshId)) renewal.resolve(undefined);
    else byToken.set(renewal.refreshId, renewal);
  }
  const createdAt = now();
  // Locked in one order everywhere, so that two processes do not wait for each other.
  const made = [...byToken.values()]
    .sort((left, right) => left.refreshId - right.refreshId)
    .map((renewal) => ({ renewal, accessToken: newSecret(), refreshToken: newSecret() }));
  const won = await write(sql, createdAt, made);
  for (const { renewal, accessToken, refreshToken } of made) {
    renewal.resolve(won.has(renewal.refreshId) ? { accessToken, refreshToken, createdAt } : undefined);
  }
}

type Made = { renewal: Renewal; accessToken: string; refreshToken: string };

const DEADLOCK = '40P01';

/** The ids of the refresh tokens that were used up by this and not before. */
async function write(sql: postgres.Sql, createdAt: Date, made: readonly Made[]): Promise<Set<number>> {
  const asked = made.map(({ renewal, accessToken, refreshToken }) => ({
    refresh_id: renewal.refreshId,
    name: renewal.name,
    scopes: renewal.scopes,
    access: digest(accessToken).toString('hex'),
    refresh: digest(refreshToken).toString('hex'),
  }));
  const expiresAt = new Date(createdAt.getTime() + ACCESS_SECONDS * 1_000);
  for (let attempt = 1; ; attempt++) {
    try {
      const rows = await sql<{ refresh_id: number }[]>`
        with asked as (
          select * from jsonb_to_recordset(${JSON.stringify(asked)}::text::jsonb)
            as a(refresh_id bigint, name text, scopes text[], access text, refresh text)),
        used as (
          update oauth_refresh_tokens r set used_at = ${createdAt} from asked
          where r.id = asked.refresh_id and r.used_at is null
          returning r.grant_id, asked.*),
        live as (
          select g.id, g.user_id, used.* from oauth_grants g join used on g.id = used.grant_id
          where g.revoked_at is null for update of g),
        ended as (
          update access_tokens t set revoked_at = ${createdAt}, updated_at = ${createdAt} from live
          where t.grant_id = live.id and t.revoked_at is null),
        made as (
          insert into access_tokens (kind, digest, user_id, grant_id, name, scopes, expires_at, created_at, updated_at)
          select 'oauth', decode(access, 'hex'), user_id, id, name, scopes, ${expiresAt}::timestamptz,
            ${createdAt}::timestamptz, ${createdAt}::timestamptz from live),
        renewed as (
          insert into oauth_refresh_tokens (digest, grant_id, created_at)
          select decode(refresh, 'hex'), id, ${createdAt}::timestamptz from live)
        select refresh_id from live`;
      return new Set(rows.map((row) => row.refresh_id));
    } catch (error) {
      if (attempt === 3 || (error as { code?: unknown }).code !== DEADLOCK) throw error;
    }
  }
}
