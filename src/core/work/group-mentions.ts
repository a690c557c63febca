/** Whom a text calls all at once: the members of the project with `@all`, and those of a group with its path. */
import { type RawBuilder, sql } from 'kysely';
import type postgres from 'postgres';
import { now } from '../../platform/clock.ts';
import type { Db } from '../../platform/db/database.ts';
import { type AuthorizedGroup, type AuthorizedProject, selectGroups } from '../access/find.ts';
import { type MembersOf, memberIds } from '../access/memberships.ts';
import type { Actor } from '../identity/actor.ts';
import { groupSettings } from '../namespaces/group-settings.ts';
import type { Person } from './mentions.ts';
import type { Noteable } from './noteables.ts';

/** Calls everybody. */
export const ALL = 'all';

/** A text calls no more people than these by calls for many: whether each may read it costs a question. */
const MAX_MENTIONED_MEMBERS = 100;

/** Those who are called by one name. */
export type GroupMention = { name: string; people: Person[] };

const current = (alias: string): RawBuilder<boolean> =>
  sql`(${sql.ref(`${alias}.expires_at`)} is null or ${sql.ref(`${alias}.expires_at`)} > ${now().toISOString().slice(0, 10)}::date)`;

/** Ids of the members of the group itself. */
const membersOfGroup = (id: number): RawBuilder<unknown> =>
  sql`select m.user_id from members m where m.namespace_id = ${id} and ${current('m')}`;

/** The people who are active; one more than there may be tells that there are too many. */
async function activeOf(db: Db, ids: RawBuilder<unknown>): Promise<Person[]> {
  const { rows } = await sql<Person>`
    select id, username, name, kind, admin, auditor, external from users
    where id in (${ids}) and deletion is null and state = 'active' order by id limit ${MAX_MENTIONED_MEMBERS + 1}`.execute(
    db,
  );
  return rows;
}

const membersOf = ({ id, row }: AuthorizedProject): MembersOf => ({
  projectId: id,
  ancestorIds: row.ancestor_ids,
});

/** Everybody of where the target is; only its members call them. */
function everybody({ project, group }: Noteable): RawBuilder<unknown> | undefined {
  if (project) return project.role > 0 ? memberIds(membersOf(project)) : undefined;
  return group && group.role > 0 ? membersOfGroup(group.id) : undefined;
}

const isOpenToMentions = ({ row }: AuthorizedGroup): boolean => groupSettings(row).mentions_disabled !== true;

/**
 * The crowds that these names call, in their order: `all`, and groups that the actor sees and that may be called. One that
 * would make the people too many is called in vain.
 */
export async function findGroupMentions(
  db: Db,
  points: postgres.Sql,
  { actor, target: noteable, names }: { actor: Actor; target: Noteable; names: readonly string[] },
): Promise<GroupMention[]> {
  const groups = await selectGroups(
    points,
    actor,
    'read_group',
    names.filter((name) => name !== ALL),
  );
  const mentions: GroupMention[] = [];
  let left = MAX_MENTIONED_MEMBERS;
  for (const name of names) {
    if (left === 0) break;
    const group = groups.get(name);
    const ids =
      name === ALL ? everybody(noteable) : group && isOpenToMentions(group) && membersOfGroup(group.id);
    const people = ids ? await activeOf(db, ids) : [];
    if (people.length === 0 || people.length > left) continue;
    left -= people.length;
    mentions.push({ name, people });
  }
  return mentions;
}
