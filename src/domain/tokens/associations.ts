/** The memberships of a token's user, so that its owner sees how far the token reaches (facts: Tokens). */
import Type, { type Static } from 'typebox';
import type { Actor } from '../../kernel/actor.ts';
import { ORGANIZATION_ID } from '../../kernel/namespaces/group-records.ts';
import {
  type BasicProjectView,
  ProjectIdentity,
  presentBasicProject,
} from '../../kernel/namespaces/project-records.ts';
import { groupWebUrl, NamespaceBasic } from '../../kernel/namespaces/records.ts';
import { assignableLevels, GUEST, visibilityName } from '../../kernel/policy/roles.ts';
import type { Db } from '../../platform/db/database.ts';
import { nullable } from '../../platform/http/parameters/schema.ts';
import { pageFields } from '../../platform/pagination/pagination.ts';
import { type AssociatedRow, selectReachedGroups, selectReachedProjects } from './association-queries.ts';

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

/** The same page of the groups and of the projects that the user reaches by membership, each by id. */
export async function listAssociations(
  db: Db,
  actor: Actor,
  input: Static<typeof AssociationsInput>,
  around: Around,
): Promise<Static<typeof TokenAssociations>> {
  const { page = 1, per_page = 20, min_access_level: leastLevel = GUEST } = input;
  const perPage = Math.min(per_page, MAX_PER_PAGE);
  const reach = { leastLevel, limit: perPage, offset: (page - 1) * perPage };
  const groups = await selectReachedGroups(db, actor, reach);
  const projects = await selectReachedProjects(db, actor, reach);
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
function presentProject(around: Around, row: AssociatedRow): Static<typeof AssociatedProject> {
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
