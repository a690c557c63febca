/** The projects of a list over several, as a condition over `projects p`. */
import { type RawBuilder, sql } from 'kysely';
import type { AuthorizedGroup } from '../../../kernel/access/find.ts';
import { isProject, type ResourceParent } from '../../../kernel/access/resource-parents.ts';

const notArchived = sql`not p.archived and not exists (
  select from namespaces n join namespaces a on a.id = any(n.ancestor_ids) where n.id = p.namespace_id and a.archived)`;

/** All projects, or those of a group and its subgroups; with archived ones or without. */
export function projectsAcross(
  group: AuthorizedGroup | undefined,
  nonArchived: boolean,
): RawBuilder<unknown> {
  const inGroup = group ? projectsOf(group) : sql`true`;
  return nonArchived ? sql`${inGroup} and ${notArchived}` : inGroup;
}

/** The project itself, or those of a group and its subgroups. */
export const projectsOf = (parent: ResourceParent): RawBuilder<unknown> =>
  isProject(parent)
    ? sql`p.id = ${parent.id}`
    : sql`p.namespace_id in (select id from namespaces where ancestor_ids @> array[${parent.id}]::bigint[])`;
