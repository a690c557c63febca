/**
 * Refreshing: requests at the same time share a statement and its commit, so that a hundred clients cost the
 * disk what one does. A grant's row is locked while it is renewed: its revocation comes before or after, and
 * never between. The grant's access token keeps its row and gets another value, so that no old row is left to
 * be swept.
 */

import { now } from '../../../platform/clock.ts';
import type { Sql } from '../../../platform/db/driver/sql.ts';
import { digest } from '../../../platform/secret.ts';
import { type Person, personOf } from '../identity/queries.ts';
import { ACCESS_SECONDS, type Issued, newSecret, type StoredRefresh } from './actions.ts';

type Renewal = {
  refreshId: number;
  name: string;
  scopes: readonly string[];
  resolve(issued: Issued | undefined): void;
  reject(error: unknown): void;
};

/** Renewals that wait for the next statement, and the number of running statements: for each database. */
type Queue = { waiting: Renewal[]; running: number };
const queues = new WeakMap<Sql, Queue>();

const MAX_AT_ONCE = 100;
/** One commits while the next runs. */
const STATEMENTS = 2;

/**
 * Uses the refresh token up and issues new tokens instead of the grant's old ones; undefined when another
 * request has used it, or the grant was revoked meanwhile: of two at once, one wins.
 */
export function renewTokens(
  sql: Sql,
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

function writeNext(sql: Sql, queue: Queue): void {
  if (queue.running >= STATEMENTS || queue.waiting.length === 0) return;
  const batch = queue.waiting.splice(0, MAX_AT_ONCE);
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

async function writeBatch(sql: Sql, batch: readonly Renewal[]): Promise<void> {
  const byToken = new Map<number, Renewal>();
  for (const renewal of batch) {
    // The same token twice at once: the first wins.
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
    const person = won.get(renewal.refreshId);
    renewal.resolve(person === undefined ? undefined : { accessToken, refreshToken, createdAt, person });
  }
}

type Made = { renewal: Renewal; accessToken: string; refreshToken: string };

const DEADLOCK = '40P01';

/** The refresh tokens that this statement used up, each with its user where an identity token needs it. */
async function write(sql: Sql, createdAt: Date, made: readonly Made[]): Promise<Map<number, Person | null>> {
  const requested = made.map(({ renewal, accessToken, refreshToken }) => ({
    refresh_id: renewal.refreshId,
    name: renewal.name,
    scopes: renewal.scopes,
    access: digest(accessToken).toString('hex'),
    refresh: digest(refreshToken).toString('hex'),
  }));
  const expiresAt = new Date(createdAt.getTime() + ACCESS_SECONDS * 1_000);
  for (let attempt = 1; ; attempt++) {
    try {
      const rows = await sql<{ refresh_id: number; person: Person | null }[]>`
        with asked as (
          select * from json_to_recordset(${JSON.stringify(requested)}::text::json)
            as a(refresh_id bigint, name text, scopes text[], access text, refresh text)),
        used as (
          update oauth_refresh_tokens r set used_at = ${createdAt} from asked
          where r.id = asked.refresh_id and r.used_at is null
          returning r.grant_id, asked.*),
        live as (
          select g.id, g.user_id, used.* from oauth_grants g join used on g.id = used.grant_id
          where g.revoked_at is null for update of g),
        replaced as (
          update access_tokens t set digest = decode(live.access, 'hex'), scopes = live.scopes,
            expires_at = ${expiresAt}, created_at = ${createdAt}, updated_at = ${createdAt}, last_used_at = null
          from live where t.grant_id = live.id and t.revoked_at is null
          returning t.grant_id),
        made as (
          insert into access_tokens (kind, digest, user_id, grant_id, name, scopes, expires_at, created_at, updated_at)
          select 'oauth', decode(access, 'hex'), user_id, id, name, scopes, ${expiresAt}::timestamptz,
            ${createdAt}::timestamptz, ${createdAt}::timestamptz from live
          where id not in (select grant_id from replaced)),
        renewed as (
          insert into oauth_refresh_tokens (digest, grant_id, created_at)
          select decode(refresh, 'hex'), id, ${createdAt}::timestamptz from live),
        -- Once for each, however many of their tokens are renewed here.
        people as materialized (
          select person.id, to_jsonb(person) as person from (select distinct user_id from live where 'openid' = any(scopes)) asker,
            lateral (${personOf(sql, sql`asker.user_id`)}) person)
        select refresh_id, case when 'openid' = any(scopes) then
          (select people.person from people where people.id = live.user_id) end as person
        from live`;
      return new Map(rows.map((row) => [row.refresh_id, row.person]));
    } catch (error) {
      if (attempt === 3 || (error as { code?: unknown }).code !== DEADLOCK) throw error;
    }
  }
}
