/** The memberships of a token's user, so that its owner sees how far the token reaches (facts: Tokens). */
import { type RawBuilder, sql } from 'kysely';
import Type, { type Static } from 'typebox';
import { CALLER, callerCte, reachedCtes, TODAY } from '../../kernel/access/membership-queries.ts';
import type { Actor } from '../../kernel/actor.ts';
import { ORGANIZATION_ID } from '../../kernel/namespaces/group-records.ts';
import {
  type BasicProjectView,
  ProjectIdentity,
  presentBasicProject,
} from '../../kernel/namespaces/project-records.ts';
import { groupWebUrl, NamespaceBasic } from '../../kernel/namespaces/records.ts';
import {
  type GroupRow,
  type ProjectRow,
  projectColumns,
  projectTables,
} from '../../kernel/namespaces/rows.ts';
import { assignableLevels, GUEST, visibilityName } from '../../kernel/policy/roles.ts';
import type { Db } from '../../platform/db/database.ts';
import { nullable } from '../../platform/http/parameters/schema.ts';
import { pageFields } from '../../platform/pagination/pagination.ts';

type Around = Omit<BasicProjectView, 'admin' | 'signedIn'>;

const MAX_PER_PAGE = 100;

/** One page number for both lists; there are no page headers, because there are two lists. */
export const AssociationsInput = Type.Object({
  ...pageFields,
  min_access_level: Type.Optional(
    Type.Unsafe<number>({
      type: 'integer',
      enum: [...assignableLevels],
      description: 'Only where the user has at least this role.',
    }),
  ),
});

const AssociatedGroup = Type.Object({
  id: Type.Integer(),
  web_url: Type.String(),
  name: Type.String(),
  parent_id: nullable(Type.Integer()),
  organization_id: Type.Integer(),
  access_levels: Type.Integer(),
  visibility: Type.String(),
});

const AssociatedProject = Type.Object({
  ...ProjectIdentity.properties,
  access_levels: Type.Object({
    project_access_level: nullable(Type.Integer()),
    group_access_level: nullable(Type.Integer()),
  }),
  visibility: Type.String(),
  web_url: Type.String(),
  namespace: NamespaceBasic,
});

export const TokenAssociations = Type.Object({
  groups: Type.Array(AssociatedGroup),
  projects: Type.Array(AssociatedProject),
});

type Levels = { level_project: number | null; level_group: number | null };

const fragment = (text: string): RawBuilder<unknown> => sql.raw(text);
const withReached = (actor: Actor): RawBuilder<unknown> =>
  sql`with ${callerCte(actor)}, ${fragment(reachedCtes(CALLER, TODAY))}`;

/** The same page of the groups and of the projects that the user reaches by membership, each by id. */
export async function listAssociations(
  db: Db,
  actor: Actor,
  input: Static<typeof AssociationsInput>,
  around: Around,
): Promise<Static<typeof TokenAssociations>> {
  const { page = 1, per_page = 20, min_access_level: leastLevel = GUEST } = input;
  const perPage = Math.min(per_page, MAX_PER_PAGE);
  const bounds = sql`limit ${perPage} offset ${(page - 1) * perPage}`;
  const { rows: groups } = await sql<GroupRow & { level: number }>`
    ${withReached(actor)}
    select n.*, r.level from reached_groups r join namespaces n on n.id = r.id
    where n.kind = 'group' and not n.deleting and r.level >= ${leastLevel} order by n.id ${bounds}`.execute(
    db,
  );
  const { rows: projects } = await sql<ProjectRow & Levels>`
    ${withReached(actor)},
    levels as (
      select p.id, g.level as level_group, r.level as level_project from projects p
      left join reached_groups g on g.id = p.namespace_id left join reached_projects r on r.id = p.id
      where not p.deleting and (p.namespace_id in (select id from reached_groups) or p.id in (select id from reached_projects))
        and greatest(g.level, r.level) >= ${leastLevel} order by p.id ${bounds})
    select ${fragment(projectColumns)}, levels.level_project, levels.level_group
    from levels join ${fragment(projectTables)} on p.id = levels.id order by p.id`.execute(db);
  return {
    groups: groups.map((row) => ({
      id: row.id,
      web_url: groupWebUrl(around, row.full_path),
      name: row.name,
      parent_id: row.parent_id,
      organization_id: ORGANIZATION_ID,
      access_levels: row.level,
      visibility: visibilityName(row.visibility),
    })),
    projects: projects.map((row) => presentProject(around, row)),
  };
}

/** The owner reaches a personal namespace directly, not through a group. */
function presentProject(around: Around, row: ProjectRow & Levels): Static<typeof AssociatedProject> {
  const record = presentBasicProject({ ...around, admin: false, signedIn: true }, row);
  const personal = row.namespace_kind === 'user';
  return {
    id: record.id,
    description: record.description,
    name: record.name,
    name_with_namespace: record.name_with_namespace,
    path: record.path,
    path_with_namespace: record.path_with_namespace,
    created_at: record.created_at,
    access_levels: {
      project_access_level: personal ? (row.level_group ?? row.level_project) : row.level_project,
      group_access_level: personal ? null : row.level_group,
    },
    visibility: record.visibility,
    web_url: record.web_url,
    namespace: record.namespace,
  };
}
