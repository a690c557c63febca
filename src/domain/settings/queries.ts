/** Statements over the instance's own rows, and the counts that its statistics show. */
import { sql } from 'kysely';
import { type ApplicationSettings, defaultSettings } from '../../core/settings/definitions.ts';
import { now } from '../../platform/clock.ts';
import type { Db } from '../../platform/db/database.ts';

/** The settings as stored, with their row locked until the transaction ends: two changes at once are checked in turn. */
export async function lockSettings(tx: Db): Promise<ApplicationSettings> {
  const { rows } = await sql<{ values: Partial<ApplicationSettings> }>`
    insert into application_settings (id, updated_at) values (1, ${now()})
    on conflict (id) do update set id = excluded.id returning values`.execute(tx);
  return { ...defaultSettings, ...rows[0]?.values };
}

export type InstanceCounts = {
  forks: number;
  ssh_keys: number;
  users: number;
  projects: number;
  groups: number;
  active_users: number;
};

/** How many there are of what exists; bots and what is being deleted do not count. */
export async function countInstance(db: Db): Promise<InstanceCounts> {
  const { rows } = await sql<InstanceCounts>`
    select
      (select count(*) from projects where not deleting and forked_from_id is not null) as forks,
      (select count(*) from ssh_keys) as ssh_keys,
      (select count(*) from users where deletion is null and kind = 'human') as users,
      (select count(*) from projects where not deleting) as projects,
      (select count(*) from namespaces where not deleting and kind = 'group') as groups,
      (select count(*) from users where deletion is null and kind = 'human' and state = 'active')
        as active_users`.execute(db);
  const [counts] = rows;
  if (!counts) throw new Error('a select without a from clause gives one row');
  return counts;
}

/** Users who hold a seat. */
export async function countActiveUsers(db: Db): Promise<number> {
  const row = await db
    .selectFrom('users')
    .where('deletion', 'is', null)
    .where('kind', '=', 'human')
    .where('state', '=', 'active')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return row.count;
}

export const selectFeatureGates = (db: Db) =>
  db.selectFrom('feature_gates').select(['name', 'value', 'updated_at']).orderBy('name').execute();

/** Sets the gate and returns what it was before, if it was set. */
export async function writeFeatureGate(tx: Db, name: string, value: boolean): Promise<string | undefined> {
  const before = await tx
    .selectFrom('feature_gates')
    .where('name', '=', name)
    .select('value')
    .forUpdate()
    .executeTakeFirst();
  const written = { value: String(value), updated_at: now() };
  await tx
    .insertInto('feature_gates')
    .values({ name, ...written })
    .onConflict((conflict) => conflict.column('name').doUpdateSet(written))
    .execute();
  return before?.value;
}
