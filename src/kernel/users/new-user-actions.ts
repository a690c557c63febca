/** Creates users: the row, the unique mail address, and the personal namespace. */
import { type Insertable, type RawBuilder, sql } from 'kysely';
import { now } from '../../platform/clock.ts';
import { ahead, type Db } from '../../platform/db/database.ts';
import type { UsersTable } from '../../platform/db/rows.ts';
import { insertFacts } from '../../platform/outbox/outbox.ts';
import type { InternalKind } from '../actor.ts';
import { PUBLIC } from '../policy/roles.ts';
import type { ApplicationSettings } from '../settings/definitions.ts';

type NewUser = Omit<Insertable<UsersTable>, 'created_at' | 'updated_at' | 'external'> & {
  external?: boolean | RawBuilder<boolean>;
};

/** Default permissions of a new user. */
export const newUserDefaults = (settings: ApplicationSettings) => ({
  projects_limit: settings.default_projects_limit,
  can_create_group: settings.can_create_group,
  external: settings.user_default_external,
  private_profile: settings.user_defaults_to_private_profile,
});

/** Inserts a user with the mail address, the fact and, for a human, the personal namespace, by one statement; returns the id. */
export async function insertUser(tx: Db, user: NewUser): Promise<number> {
  const { email, name, username, kind = 'human' } = user;
  const time = now();
  const made = tx
    .insertInto('users')
    .values({ ...user, created_at: time, updated_at: time })
    .returning(['id', 'created_at']);
  const addressed = sql`
    insert into emails (user_id, email, confirmed_at, created_at, updated_at)
    select id, ${email}, ${user.confirmed_at ?? null}, ${time}, ${time} from made`;
  const placed = sql`
    insert into namespaces (id, kind, owner_id, ancestor_ids, name, path, full_path, full_name, visibility, created_at, updated_at)
    overriding system value
    select s.id, 'user', made.id, array[s.id], ${name}, ${username}, ${username}, ${name}, ${PUBLIC}, ${time}, ${time}
    from made, (select nextval(pg_get_serial_sequence('namespaces', 'id')) as id) s`;
  const fact = insertFacts(`select 'user_created', jsonb_build_object('user_id', id), created_at from made`);
  const { rows } = await sql<{ id: number }>`
    with made as (${made}), addressed as (${addressed}), announced as (${sql.raw(fact)})
      ${kind === 'human' ? sql`, placed as (${placed})` : sql``}
    select id from made`.execute(tx);
  const [row] = rows;
  if (!row) throw new Error('an insert returns its row');
  return row.id;
}

const internalUsers = {
  ghost: {
    username: 'ghost',
    name: 'Ghost User',
    email: 'ghost@noreply.invalid',
    bio: 'This is a "Ghost User", created to hold all that was made by users who are no longer there.',
  },
  alert_bot: {
    username: 'alert-bot',
    name: 'Alert Bot',
    email: 'alert-bot@noreply.invalid',
    bio: 'Makes incidents of alerts, and says what becomes of them.',
  },
} as const satisfies Record<InternalKind, object>;

/** The internal user of this kind, created when first needed; concurrent requests create it once. */
export async function internalUserId(tx: Db, kind: InternalKind): Promise<number> {
  const find = () => tx.selectFrom('users').select('id').where('kind', '=', kind).executeTakeFirst();
  const known = await find();
  if (known) return known.id;
  await sql`select pg_advisory_xact_lock(hashtextextended(${`${kind} user`}, 0))`.execute(ahead(tx));
  const madeMeanwhile = await find();
  if (madeMeanwhile) return madeMeanwhile.id;
  const user = internalUsers[kind];
  return insertUser(tx, {
    ...user,
    username: await freeName(tx, user.username),
    kind,
    confirmed_at: now(),
    projects_limit: 0,
    can_create_group: false,
  });
}

/** The owner of records of deleted users. */
export const ghostUserId = (tx: Db): Promise<number> => internalUserId(tx, 'ghost');

/** The name, or the first of name1, name2… that no user or namespace has. */
async function freeName(tx: Db, name: string): Promise<string> {
  const result = await sql<{ name: string }>`
    select candidate as name from (
      select 0 as n, ${name}::text as candidate union all select n, ${name}::text || n from generate_series(1, 1000) n) c
    where not exists (select from users u where lower(u.username) collate "C" = candidate)
      and not exists (select from namespaces n where lower(n.full_path) collate "C" = candidate)
    order by c.n limit 1`.execute(tx);
  return result.rows[0]?.name ?? name;
}
