/** Statements over the instance's own rows, and the counts that its statistics show. */
import { sql } from 'kysely';
import { type ApplicationSettings, defaultSettings } from '../../kernel/settings/definitions.ts';
import type { FeatureGate } from '../../kernel/settings/queries.ts';
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

/** The instance's counts; bots and rows that are being deleted do not count. */
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

/** Users who take a seat. */
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

/** The most users who took a seat on a day that was counted; 0 before the first. */
export async function selectMostUsers(db: Db): Promise<number> {
  const { users } = await db
    .selectFrom('user_counts')
    .select((eb) => eb.fn.max('users').as('users'))
    .executeTakeFirstOrThrow();
  return users ?? 0;
}

export type UserCount = { counted_at: Date; users: number };

/** Days of the last ten years: a line for each. */
const MAX_DAYS = 3_660;

/** The days that were counted, oldest first. */
export const selectUserCounts = async (db: Db): Promise<UserCount[]> =>
  (
    await db
      .selectFrom('user_counts')
      .select(['counted_at', 'users'])
      .orderBy('day', 'desc')
      .limit(MAX_DAYS)
      .execute()
  ).reverse();

export const selectFeatureGates = (db: Db) =>
  db.selectFrom('feature_gates').selectAll().orderBy('name').execute();

/** The gate of the flag as it is, locked until the transaction ends, or closed where there was none. */
export async function lockFeatureGate(tx: Db, name: string): Promise<FeatureGate & { isNew: boolean }> {
  // One statement: a gate that is removed meanwhile is made anew. An inserted row has no xmax.
  const { is_new, ...gate } = await tx
    .insertInto('feature_gates')
    .values({ name, value: 'false', updated_at: now() })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ name }))
    .returningAll()
    .returning(sql<boolean>`xmax = 0`.as('is_new'))
    .executeTakeFirstOrThrow();
  return { ...gate, isNew: is_new };
}

export const updateFeatureGate = (tx: Db, { name, ...gate }: FeatureGate) =>
  tx
    .updateTable('feature_gates')
    .set({ ...gate, updated_at: now() })
    .where('name', '=', name)
    .execute();

type ActorKind = 'user' | 'group' | 'namespace' | 'project';

/** The actor that a username or a full path names, as `User:7` or `Project:7`; undefined when there is none. */
export async function findFeatureActor(db: Db, kind: ActorKind, path: string): Promise<string | undefined> {
  const tables = {
    user: sql`select 'User:' || id as actor from users where lower(username) = lower(${path}) and deletion is null`,
    group: sql`select 'Group:' || id as actor from namespaces
      where lower(full_path) = lower(${path}) and kind = 'group' and not deleting`,
    namespace: sql`select case kind when 'group' then 'Group:' else 'Namespaces::UserNamespace:' end || id as actor
      from namespaces where lower(full_path) = lower(${path}) and not deleting`,
    project: sql`select 'Project:' || p.id as actor from projects p join namespaces n on n.id = p.namespace_id
      where lower(n.full_path || '/' || p.path) = lower(${path}) and not p.deleting`,
  };
  const { rows } = await sql<{ actor: string }>`${tables[kind]}`.execute(db);
  return rows[0]?.actor;
}
