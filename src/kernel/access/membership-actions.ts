/** Adds members, however they join: added, approved, invited or imported; and ends the memberships of a user who goes. */
import { type RawBuilder, sql } from 'kysely';
import { now } from '../../platform/clock.ts';
import { ahead, type Db } from '../../platform/db/database.ts';
import { type Fact, insertFacts } from '../../platform/outbox/outbox.ts';
import { type Announcement, type AuditedEntity, announceAll } from '../activity/announce-actions.ts';
import { levelName } from '../policy/roles.ts';

/** The source of memberships: a project or a group, by its column. */
export type MembershipSource = {
  column: 'project_id' | 'namespace_id';
  id: number;
  entity: AuditedEntity;
};

type Newcomer = {
  user_id: number;
  name: string;
  access_level: number;
  expires_at: string | null;
  created_by_id: number | null;
  /** A custom role beside the level, which is its base. */
  member_role_id?: number | null;
};

/** The source of a stored membership, whose project's or group's full path is selected with it. */
export const membershipSourceOf = (row: {
  project_id: number | null;
  namespace_id: number;
  full_path: string;
}): MembershipSource =>
  row.project_id === null
    ? {
        column: 'namespace_id',
        id: row.namespace_id,
        entity: { type: 'Group', id: row.namespace_id, path: row.full_path },
      }
    : {
        column: 'project_id',
        id: row.project_id,
        entity: { type: 'Project', id: row.project_id, path: row.full_path },
      };

/** The two columns of a row of the source. */
export const sourceColumns = ({ column, id }: Pick<MembershipSource, 'column' | 'id'>) => ({
  project_id: column === 'project_id' ? id : null,
  namespace_id: column === 'namespace_id' ? id : null,
});

/** What the facts about a membership tell of it. */
type MembershipSnapshot = {
  user_id: number;
  access_level: number;
  expires_at: string | null;
  created_at: Date;
  updated_at: Date;
};
type MemberFactName = 'member_created' | 'member_updated' | 'member_destroyed';

/** The fact that there is a membership, or another than before, or none any more. */
export const memberFact = (
  name: MemberFactName,
  { column, id }: Pick<MembershipSource, 'column' | 'id'>,
  { user_id, access_level, expires_at, created_at, updated_at }: MembershipSnapshot,
): Fact => ({
  name,
  payload: {
    [column]: id,
    user_id,
    access_level,
    expires_at,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  },
});

/** A statement that writes such facts of the memberships in a relation. */
export const memberFacts = (name: MemberFactName, relation: string): RawBuilder<unknown> => sql`
  ${sql.raw(insertFacts(''))} select ${name}::text, jsonb_strip_nulls(jsonb_build_object(
    'project_id', project_id, 'namespace_id', namespace_id, 'user_id', user_id, 'access_level', access_level,
    'expires_at', expires_at, 'created_at', created_at, 'updated_at', updated_at)), ${now()}::timestamptz
  from ${sql.ref(relation)}`;

const membersOf = (source: MembershipSource, newcomers: readonly Newcomer[], time: Date) =>
  newcomers.map(({ name: _, ...newcomer }) => ({
    ...newcomer,
    ...sourceColumns(source),
    created_at: time,
    updated_at: time,
  }));

const announceJoined = (
  tx: Db,
  source: MembershipSource,
  author: Announcement['author'],
  newcomers: readonly Newcomer[],
  time: Date,
): Promise<void> =>
  announceAll(
    tx,
    newcomers.map(
      (newcomer): Announcement => ({
        author,
        audit: {
          entity: source.entity,
          event: 'member_created',
          details: {
            add: 'user_access',
            as: levelName(newcomer.access_level),
            target_id: newcomer.user_id,
            target_type: 'User',
            target_details: newcomer.name,
          },
        },
        // Only projects have activity events of memberships (facts: Activity events).
        ...(source.column === 'project_id' && {
          activity: { action: 'joined', projectId: source.id, authorId: newcomer.user_id },
        }),
        fact: memberFact('member_created', source, { ...newcomer, created_at: time, updated_at: time }),
      }),
    ),
  );

/** Adds and announces the first member of a group that this transaction makes, or a user whom it makes. */
export async function joinAsNew(
  tx: Db,
  source: MembershipSource,
  author: Announcement['author'],
  newcomer: Newcomer,
): Promise<void> {
  const time = now();
  await ahead(tx)
    .insertInto('members')
    .values(membersOf(source, [newcomer], time))
    .execute();
  await announceJoined(tx, source, author, [newcomer], time);
}

/**
 * Adds users who are not members yet, removes their access requests, and announces each; returns the ids of
 * new members. A user who is left out was a member before, or became one at the same time.
 */
export async function joinMembers(
  tx: Db,
  source: MembershipSource,
  author: Announcement['author'],
  newcomers: readonly Newcomer[],
): Promise<Set<number>> {
  if (newcomers.length === 0) return new Set();
  const time = now();
  const awaiting = await tx
    .selectFrom('awaiting_members')
    .select('user_id')
    .where(source.column, '=', source.id)
    .where(
      'user_id',
      'in',
      newcomers.map(({ user_id }) => user_id),
    )
    .execute();
  // Who waits for access gets it by those who took it, and is a member already.
  const waiting = new Set(awaiting.map(({ user_id }) => user_id));
  const others = newcomers.filter(({ user_id }) => !waiting.has(user_id));
  if (others.length === 0) return new Set();
  const rows = await tx
    .insertInto('members')
    .values(membersOf(source, others, time))
    .onConflict((conflict) => conflict.doNothing())
    .returning('user_id')
    .execute();
  const joined = new Set(rows.map((row) => row.user_id));
  if (joined.size === 0) return joined;
  await ahead(tx)
    .deleteFrom('access_requests')
    .where(source.column, '=', source.id)
    .where('user_id', 'in', [...joined])
    .execute();
  await announceJoined(
    tx,
    source,
    author,
    newcomers.filter((each) => joined.has(each.user_id)),
    time,
  );
  return joined;
}

/**
 * Parts of a `with` that end the memberships of users whose accounts end, with the facts, and their requests for others: the
 * rows of `ended` are the memberships.
 */
export const endedMemberships = (userIds: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  unrequested as (delete from access_requests where user_id in (${userIds})),
  ended as (delete from members where user_id in (${userIds}) returning *),
  ended_facts as (${memberFacts('member_destroyed', 'ended')})`;

export async function endMemberships(tx: Db, userId: number): Promise<void> {
  await sql`with ${endedMemberships(sql`${userId}::bigint`)} select`.execute(ahead(tx));
}
