/** Group mentions: `@all` for the members of the project or group, and a group's path for its members. */
import type { RawBuilder } from 'kysely';
import { type AuthorizedGroup, type AuthorizedProject, selectGroups } from '../../../kernel/access/find.ts';
import { type MembersOf, memberIds } from '../../../kernel/access/membership-queries.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { groupSettings } from '../../../kernel/namespaces/group-settings.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { Sql } from '../../../platform/db/driver/sql.ts';
import type { Noteable } from '../noteables/noteables.ts';
import { activeUsers, membersOfGroup, type Person } from './queries.ts';

/** Mentions all members. */
export const ALL = 'all';

/** More members than these in one text get no to-dos. */
const MAX_MENTIONED_MEMBERS = 100;

/** The users behind one name. */
export type GroupMention = { name: string; people: Person[] };

const membersOf = ({ id, row }: AuthorizedProject): MembersOf => ({
  projectId: id,
  ancestorIds: row.ancestor_ids,
});

/** Members of the noteable's project or group; only members may mention all. */
function everybody({ project, group }: Noteable): RawBuilder<unknown> | undefined {
  if (project) return project.role > 0 ? memberIds(membersOf(project)) : undefined;
  return group && group.role > 0 ? membersOfGroup(group.id) : undefined;
}

const isOpenToMentions = ({ row }: AuthorizedGroup): boolean => groupSettings(row).mentions_disabled !== true;

/**
 * The group mentions of these names, in their order: `all`, and groups that the actor sees and whose mentions
 * are enabled. One that would exceed the maximum is left out.
 */
export async function findGroupMentions(
  db: Db,
  points: Sql,
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
    // One more than the maximum shows that there are too many.
    const people = ids ? await activeUsers(db, ids, MAX_MENTIONED_MEMBERS + 1) : [];
    if (people.length === 0 || people.length > left) continue;
    left -= people.length;
    mentions.push({ name, people });
  }
  return mentions;
}
