/** Statements over device authorizations (RFC 8628): insert, decide, poll, redeem, expire. */
import { sql as fragment } from 'kysely';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { Sql } from '../../../platform/db/driver/sql.ts';
import type { Schedule, Tasks } from '../../../platform/jobs/jobs.ts';
import { digest, randomKey } from '../../../platform/secret.ts';
import { newSecret } from '../grants/actions.ts';
import { RANDOM_BYTES, userCodeFrom } from './user-code.ts';

/** Seconds that a device code and its user code live. */
export const DEVICE_SECONDS = 300;
/** Seconds that a device waits between polls, until a response slows it down. */
export const POLL_SECONDS = 5;
const MAX_POLL_SECONDS = 60;
/** Seconds that a device is kept after it has expired. */
const KEPT_SECONDS = 3_600;

const later = (time: Date, seconds: number): Date => new Date(time.getTime() + seconds * 1_000);

/** Of 20^8 codes another is soon free, however many devices request one. */
const ATTEMPTS = 5;

/** Inserts a device that waits for a decision; returns its codes, of which the device code is stored as a digest alone. */
export async function insertDevice(
  db: Db,
  requested: { application_id: number; scopes: readonly string[] },
): Promise<{ deviceCode: string; userCode: string }> {
  const time = now();
  const deviceCode = newSecret();
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const userCode = userCodeFrom(randomKey(RANDOM_BYTES));
    const inserted = await db
      .insertInto('oauth_devices')
      .values({
        application_id: requested.application_id,
        digest: digest(deviceCode),
        user_code: userCode,
        scopes: [...requested.scopes],
        interval_seconds: POLL_SECONDS,
        expires_at: later(time, DEVICE_SECONDS),
        created_at: time,
      })
      .onConflict((conflict) => conflict.column('user_code').doNothing())
      .returning('id')
      .executeTakeFirst();
    if (inserted) return { deviceCode, userCode };
  }
  throw new Error('no user code is free');
}

/** A device that waits for a decision, with its application. */
export type AskingDevice = {
  id: number;
  user_code: string;
  scopes: string[];
  application_id: number;
  application_name: string;
  trusted: boolean;
};

/** The device of a user code that waits for a decision; undefined when it has expired, was decided or does not exist. */
export const findAskingDevice = (db: Db, userCode: string): Promise<AskingDevice | undefined> =>
  db
    .selectFrom('oauth_devices as d')
    .innerJoin('oauth_applications as a', 'a.id', 'd.application_id')
    .select([
      'd.id',
      'd.user_code',
      'd.scopes',
      'd.application_id',
      'a.name as application_name',
      'a.trusted',
    ])
    .where('d.user_code', '=', userCode)
    .where('d.state', '=', 'pending')
    .where('d.expires_at', '>', now())
    .executeTakeFirst();

/**
 * Records the decision of a session's user; false when another came first, or code or session have ended
 * meanwhile. Session and user are locked: their end comes before or after, never between.
 */
export async function decideDevice(
  tx: Db,
  deviceId: number,
  decision: { state: 'authorized' | 'denied'; sessionToken: string },
): Promise<boolean> {
  const session = await tx
    .selectFrom('users as u')
    .innerJoin('sessions as s', 's.user_id', 'u.id')
    .select(['u.id', 's.created_at'])
    .where('s.digest', '=', digest(decision.sessionToken))
    .where('u.state', '=', 'active')
    .where('u.deletion', 'is', null)
    .forShare()
    .executeTakeFirst();
  if (!session) return false;
  const decided = await tx
    .updateTable('oauth_devices')
    .set({ state: decision.state, user_id: session.id, authenticated_at: session.created_at })
    .where('id', '=', deviceId)
    .where('state', '=', 'pending')
    .where('expires_at', '>', now())
    .returning('id')
    .executeTakeFirst();
  return decided !== undefined;
}

export type StoredDevice = {
  id: number;
  application_id: number;
  state: string;
  expires_at: Date;
  scopes: string[];
  user_id: number | null;
  authenticated_at: Date | null;
  /** Null before the decision, and while its user is being deleted. */
  user_state: string | null;
};

/** The device of a device code, with whether its user is active; undefined without one. */
export async function selectDevice(sql: Sql, deviceCode: string): Promise<StoredDevice | undefined> {
  const [row] = await sql<StoredDevice[]>`
    select d.id, d.application_id, d.state, d.expires_at, d.scopes, d.user_id, d.authenticated_at,
      case when u.deletion is null then u.state end as user_state
    from oauth_devices d left join users u on u.id = d.user_id
    where d.digest = ${digest(deviceCode)}`;
  return row;
}

/**
 * Records a poll; false when it comes too early, which makes the interval five seconds longer (RFC 8628,
 * section 3.5). One statement over a locked row: of polls at once in several processes, one is in time. Only
 * a pending device is slowed down: after the decision or the code's end the next poll learns of it.
 */
export async function markPoll(db: Db, deviceId: number): Promise<boolean> {
  const time = now();
  const { rows } = await fragment<{ early: boolean }>`
    with polled as (
      select id, state = 'pending' and expires_at > ${time}
        and coalesce(last_polled_at + make_interval(secs => interval_seconds) > ${time}, false) as early
      from oauth_devices where id = ${deviceId} for update)
    update oauth_devices d set last_polled_at = ${time}, interval_seconds =
      case when polled.early then least(d.interval_seconds + 5, ${MAX_POLL_SECONDS}) else d.interval_seconds end
    from polled where d.id = polled.id
    returning polled.early`.execute(db);
  return rows[0]?.early !== true;
}

/**
 * Uses the approval up; false when another request has, or its user was blocked or changed the password
 * meanwhile. The user's row is locked first, so that an end of the user's grants comes before or after, never
 * between.
 */
export async function redeemDevice(tx: Db, deviceId: number): Promise<boolean> {
  const user = await tx
    .selectFrom('users as u')
    .innerJoin('oauth_devices as d', 'd.user_id', 'u.id')
    .select('u.id')
    .where('d.id', '=', deviceId)
    .where('u.state', '=', 'active')
    .where('u.deletion', 'is', null)
    .forShare('u')
    .executeTakeFirst();
  if (!user) return false;
  const redeemed = await tx
    .updateTable('oauth_devices')
    .set({ state: 'redeemed' })
    .where('id', '=', deviceId)
    .where('state', '=', 'authorized')
    .where('expires_at', '>', now())
    .returning('id')
    .executeTakeFirst();
  return redeemed !== undefined;
}

/** Deletes the devices that expired an hour ago: until then their clients read why there is no token. */
export async function forgetDevices(db: Db, time: Date): Promise<void> {
  await db.deleteFrom('oauth_devices').where('expires_at', '<', later(time, -KEPT_SECONDS)).execute();
}

const FORGET = 'forget_oauth_devices';

export const deviceTasks = (services: Needs<'database'>): Tasks => ({
  [FORGET]: () => forgetDevices(services.database.background, now()),
});

export const deviceSchedules: readonly Schedule[] = [{ task: FORGET, pattern: '*/10 * * * *' }];
