/** Creating and changing groups: each one transaction that decides, writes and announces. */
import { type Insertable, sql } from 'kysely';
import { type AuthorizedGroup, authorizeGroup } from '../../../kernel/access/find.ts';
import { joinAsNew } from '../../../kernel/access/membership-actions.ts';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import { avatarChange, keepAvatar } from '../../../kernel/files/pictures.ts';
import { groupSettings } from '../../../kernel/namespaces/group-settings.ts';
import { lockNamespace, moveNamespace } from '../../../kernel/namespaces/path-actions.ts';
import { pathProblems } from '../../../kernel/namespaces/paths.ts';
import type { NamespaceRow } from '../../../kernel/namespaces/rows.ts';
import { OWNER, visibilityLevel, visibilityName } from '../../../kernel/policy/roles.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import type { Json, NamespacesTable } from '../../../platform/db/rows.ts';
import { forbidden, invalid } from '../../../platform/failure.ts';
import {
  changedSettings,
  type GroupWriteContext,
  groupEntity,
  lockWithParent,
  MAX_DEPTH,
  refusePatterns,
  refuseProblems,
  tooDeep,
} from './changes.ts';
import { selectVisibilityInside, takenInside } from './queries.ts';
import {
  initialVisibility,
  leastToCreateSubgroups,
  mayCreateTopLevelGroup,
  nameProblems,
  nothingInside,
  projectCreationNames,
  visibilityProblems,
} from './rules.ts';
import type { CreateGroup, UpdateGroup } from './schema.ts';

const taken = (is: boolean): string[] => (is ? ['has already been taken'] : []);

/** The messages for a path and name that are in use inside the parent. */
async function takenProblems(
  tx: Db,
  parent: NamespaceRow | undefined,
  wanted: { path: string; name: string },
  id = 0,
): Promise<{ path: string[]; name: string[] }> {
  const { rows } = await takenInside(parent, wanted, id).execute(tx);
  return { path: taken(rows[0]?.path ?? false), name: taken(rows[0]?.name ?? false) };
}

/** The group to create in, when the actor may; undefined for the top level. 403 or 404 otherwise. */
export async function authorizeParent(
  { services, settings, actor }: GroupWriteContext,
  parentId: number | null | undefined,
): Promise<AuthorizedGroup | undefined> {
  const { db, sql: driver } = services.database;
  if (parentId !== null && parentId !== undefined) {
    const parent = await authorizeGroup(driver, actor, 'create_subgroup', parentId);
    const least = leastToCreateSubgroups(groupSettings(parent.row).subgroup_creation_level);
    if (parent.role < least || parent.scheduled) throw forbidden();
    return parent;
  }
  const { can_create_group } = await db
    .selectFrom('users')
    .select('can_create_group')
    .where('id', '=', actor.id)
    .executeTakeFirstOrThrow();
  const allowed = settings.top_level_group_creation_enabled;
  if (!mayCreateTopLevelGroup({ ...actor, can_create_group }, allowed)) throw forbidden();
  return undefined;
}

/** Creates a group of which the actor is the first Owner; returns its id. `complete` adds to it before the commit. */
export async function createGroup(
  context: GroupWriteContext,
  input: CreateGroup,
  complete: (tx: Db, id: number) => Promise<void> = async () => {},
): Promise<number> {
  const { services, settings, actor } = context;
  const { parent_id, ...fields } = input;
  const above = await authorizeParent(context, parent_id);
  const changes = {
    project_creation_level: projectCreationNames[settings.default_project_creation] ?? 'developer',
    ...changedSettings(context, fields, { settings: {} }),
  };
  refuseProblems({
    name: nameProblems(input.name),
    path: pathProblems(input.path, above ? 'nested' : 'top_level'),
  });
  const picture = avatarChange(services, input.avatar);
  await refusePatterns(input);
  return inTransaction(services.database.db, async (tx) => {
    const parent = above && found(await lockNamespace(tx, above.id), 'Group');
    if (parent && parent.ancestor_ids.length >= MAX_DEPTH) throw invalid({ parent_id: [tooDeep] });
    const bounds = {
      parent: parent?.visibility,
      restricted: settings.restricted_visibility_levels,
      admin: actor.admin,
    };
    const visibility = input.visibility ?? initialVisibility(settings.default_group_visibility, bounds);
    const visibility_level = visibilityProblems(visibility, { ...bounds, inside: nothingInside });
    if (visibility_level.length > 0)
      refuseProblems({ ...(await takenProblems(tx, parent, input)), visibility_level });
    const row = await insertGroup(tx, parent, {
      name: input.name,
      path: input.path,
      description: input.description ?? '',
      visibility: visibilityLevel(visibility),
      avatar: (await keepAvatar(tx, picture)) ?? null,
      settings: changes,
    });
    const entity = groupEntity(row);
    const owner = {
      user_id: actor.id,
      name: actor.name,
      access_level: OWNER,
      expires_at: null,
      created_by_id: actor.id,
    };
    await announce(tx, {
      author: actor,
      audit: {
        entity,
        event: 'group_created',
        details: { add: 'group', target_id: row.id, target_type: 'Group', target_details: row.full_path },
      },
      fact: { name: 'group_created', payload: { namespace_id: parent?.id ?? null, group_id: row.id } },
    });
    await joinAsNew(tx, { column: 'namespace_id', id: row.id, entity }, actor, owner);
    await complete(tx, row.id);
    return row.id;
  });
}

export type NewGroup = {
  name: string;
  path: string;
  description: string;
  visibility: number;
  avatar: string | null;
  settings: Json;
};

/** Inserts the group where its path and name are free inside the parent. */
export async function insertGroup(
  tx: Db,
  parent: NamespaceRow | undefined,
  group: NewGroup,
): Promise<{ id: number; full_path: string }> {
  const time = now();
  const full_path = parent ? `${parent.full_path}/${group.path}` : group.path;
  const columns: Insertable<NamespacesTable> = {
    ...group,
    kind: 'group',
    parent_id: parent?.id ?? null,
    ancestor_ids: [],
    full_path,
    full_name: parent ? `${parent.full_name} / ${group.name}` : group.name,
    created_at: time,
    updated_at: time,
  };
  const { rows } = await sql<{ path: boolean; name: boolean; id: number | null }>`
    with room as materialized (${takenInside(parent, group)}),
    made as (
      insert into namespaces (${sql.join(Object.keys(columns).map((name) => sql.ref(name)))})
      select ${sql.join(Object.values(columns))} from room where not path and not name returning id)
    select path, name, (select id from made) as id from room`.execute(tx);
  const [made] = rows;
  refuseProblems({ path: taken(made?.path ?? false), name: taken(made?.name ?? false) });
  const id = made?.id;
  if (typeof id !== 'number') throw new Error('an insert returns its row');
  await ahead(tx)
    .updateTable('namespaces')
    .set({ ancestor_ids: [...(parent?.ancestor_ids ?? []), id] })
    .where('id', '=', id)
    .execute();
  return { id, full_path };
}

/** Changes the properties that the request names. A new path leaves redirects for the projects below. */
export async function updateGroup(
  context: GroupWriteContext,
  group: AuthorizedGroup,
  input: UpdateGroup,
): Promise<void> {
  const { services, actor } = context;
  const picture = avatarChange(services, input.avatar);
  await refusePatterns(input);
  await inTransaction(services.database.db, async (tx) => {
    const { row, parent } = await lockWithParent(tx, group);
    const changes = changedSettings(context, input, row);
    await refuseUpdate(tx, context, row, parent, input);
    const { name = row.name, path = row.path } = input;
    if (name !== row.name || path !== row.path) await moveNamespace(tx, row, { parent, name, path });
    const avatar = await keepAvatar(tx, picture);
    await ahead(tx)
      .updateTable('namespaces')
      .set({
        ...(input.description !== undefined && { description: input.description ?? '' }),
        ...(input.visibility !== undefined && { visibility: visibilityLevel(input.visibility) }),
        ...(avatar !== undefined && { avatar }),
        settings: sql`settings || ${JSON.stringify(changes)}::text::jsonb`,
        updated_at: now(),
      })
      .where('id', '=', row.id)
      .execute();
    await announceUpdate(tx, actor, row, { ...input, avatar }, changes);
  });
}

async function refuseUpdate(
  tx: Db,
  { settings, actor }: GroupWriteContext,
  row: NamespaceRow,
  parent: NamespaceRow | undefined,
  input: UpdateGroup,
): Promise<void> {
  const { name = row.name, path = row.path } = input;
  const moves = path !== row.path;
  const renamed = name !== row.name;
  const inUse =
    moves || renamed ? await takenProblems(tx, parent, { path, name }, row.id) : { path: [], name: [] };
  const visibility = input.visibility;
  const changesVisibility = visibility !== undefined && visibilityLevel(visibility) !== row.visibility;
  refuseProblems({
    name: renamed ? [...nameProblems(name), ...inUse.name] : [],
    path: moves ? [...pathProblems(path, parent ? 'nested' : 'top_level'), ...inUse.path] : [],
    visibility_level: changesVisibility
      ? visibilityProblems(visibility, {
          parent: parent?.visibility,
          inside: await selectVisibilityInside(tx, row.id),
          restricted: settings.restricted_visibility_levels,
          admin: actor.admin,
        })
      : [],
    prevent_sharing_groups_outside_hierarchy:
      parent && input.prevent_sharing_groups_outside_hierarchy ? ['only available on top-level groups'] : [],
  });
}

/** One audit event for each property that is another than before, and the fact that a path changed. */
async function announceUpdate(
  tx: Db,
  actor: Actor,
  row: NamespaceRow,
  input: Omit<UpdateGroup, 'avatar'> & { avatar: string | null | undefined },
  changes: Record<string, Json>,
): Promise<void> {
  const before: Record<string, Json> = { ...groupSettings(row) };
  const changed: [property: string, from: Json, to: Json | undefined][] = [
    ['name', row.name, input.name],
    ['path', row.path, input.path],
    ['description', row.description, input.description === null ? '' : input.description],
    ['visibility', visibilityName(row.visibility), input.visibility],
    ['avatar', row.avatar, input.avatar],
    ...Object.entries(changes).map(([name, to]): [string, Json, Json] => [name, before[name] ?? null, to]),
  ];
  for (const [property, from, to] of changed) {
    if (to === undefined || JSON.stringify(to) === JSON.stringify(from)) continue;
    await announce(tx, {
      author: actor,
      audit: {
        entity: groupEntity(row),
        event: `group_${property}_updated`,
        details: { change: property, from, to },
      },
      ...(property === 'path' && {
        fact: { name: 'namespace_moved', payload: { namespace_id: row.id, from: row.full_path } },
      }),
    });
  }
}
