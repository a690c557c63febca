/** Changes to projects: each one transaction that decides, writes and announces. */

import { type Insertable, type RawBuilder, sql } from 'kysely';
import { type AuthorizedProject, authorizeGroup } from '../../../../kernel/access/find.ts';
import { memberFacts } from '../../../../kernel/access/membership-actions.ts';
import { type AuditedEntity, announce } from '../../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../../kernel/actor.ts';
import { type AvatarChange, keepAvatar } from '../../../../kernel/files/pictures.ts';
import {
  forgetRedirect,
  isPathTaken,
  lockNamespace,
  pathTaken,
  redirectProject,
} from '../../../../kernel/namespaces/path-actions.ts';
import { pathProblems } from '../../../../kernel/namespaces/paths.ts';
import { defaultProjectSettings, projectSettings } from '../../../../kernel/namespaces/project-settings.ts';
import type { NamespaceRow } from '../../../../kernel/namespaces/rows.ts';
import { keepTopics } from '../../../../kernel/namespaces/topic-actions.ts';
import { GUEST, MAINTAINER, visibilityLevel, visibilityName } from '../../../../kernel/policy/roles.ts';
import type { Needs } from '../../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../../kernel/settings/definitions.ts';
import { now } from '../../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../../platform/db/database.ts';
import type { Json, ProjectsTable } from '../../../../platform/db/rows.ts';
import {
  badRequest,
  Failure,
  forbidden,
  invalid,
  notFound,
  type ValidationMessages,
} from '../../../../platform/failure.ts';
import type { Fact } from '../../../../platform/outbox/outbox.ts';
import { remapPlanning } from '../../../planning/index.ts';
import { chooseStorage, inheritRule, scheduleMove, storageSet } from '../../../repositories/index.ts';
import { lockVisibility, lockWithParent } from './lock-queries.ts';
import { policies } from './policies.ts';
import {
  branchNameProblems,
  changedSettings,
  initialVisibility,
  mayCreateProjects,
  nameProblems,
  pathFromName,
  storageProblems,
  unsupportedProblems,
  visibilityProblems,
} from './rules.ts';
import type { CreateProject, UpdateProject } from './schema.ts';
import { settingFollowUps } from './setting-follow-ups.ts';

/** The namespace of a new project, in which the caller may create projects. */
export type TargetNamespace = {
  id: number;
  kind: 'user' | 'group';
  visibility: number;
  fullPath: string;
  /** The user whose projects_limit counts there; a group has none. */
  ownerId: number | null;
};

export const projectEntity = (id: number, path: string): AuditedEntity => ({ type: 'Project', id, path });

/** The namespace with this id or full path, when the caller may create projects there; 404 or 403 otherwise. */
export async function findTargetNamespace(
  services: Needs<'database'>,
  actor: Actor,
  reference: string | number,
): Promise<TargetNamespace> {
  const { db, sql: driver } = services.database;
  const group = await authorizeGroup(driver, actor, 'read_group', reference).catch((error: unknown) => {
    if (error instanceof Failure && error.kind === 'not_found') return error;
    throw error;
  });
  if (group instanceof Failure) {
    const personal = await selectPersonal(db, String(reference));
    if (!personal) throw group;
    if (personal.ownerId !== actor.id && !actor.admin) throw notFound('Namespace');
    return personal;
  }
  if (!mayCreateProjects(actor, group) || group.scheduled) throw forbidden();
  return {
    id: group.id,
    kind: 'group',
    visibility: group.row.visibility,
    fullPath: group.row.full_path,
    ownerId: null,
  };
}

/** The namespace of a user with this id or full path. */
async function selectPersonal(db: Db, reference: string): Promise<TargetNamespace | undefined> {
  const row = await db
    .selectFrom('namespaces')
    .select(['id', 'owner_id as ownerId', 'visibility', 'full_path as fullPath'])
    .where('kind', '=', 'user')
    .where('deleting', '=', false)
    .where((eb) =>
      /^\d{1,15}$/.test(reference)
        ? eb('id', '=', Number(reference))
        : eb(sql`lower(full_path) collate "C"`, '=', reference.toLowerCase()),
    )
    .executeTakeFirst();
  return row && { ...row, kind: 'user' };
}

async function ownNamespace(db: Db, userId: number): Promise<TargetNamespace> {
  const { rows } = await sql<{ id: number | null; visibility: number; full_path: string }>`
    select n.id, n.visibility, n.full_path
    from users u left join namespaces n on n.owner_id = u.id and not n.deleting
    where u.id = ${userId} and u.deletion is null`.execute(db);
  const [row] = rows;
  if (!row) throw notFound('User');
  if (row.id === null) throw notFound('Namespace');
  return { id: row.id, kind: 'user', visibility: row.visibility, fullPath: row.full_path, ownerId: userId };
}

const problemsOf = (problems: string[]): string[] | undefined => (problems.length > 0 ? problems : undefined);

/** The messages of an invalid name, path or visibility; every problem at once. */
function messagesOf(problems: Record<string, string[] | undefined>): ValidationMessages | undefined {
  const messages: ValidationMessages = {};
  for (const [property, texts] of Object.entries(problems)) if (texts) messages[property] = texts;
  return Object.keys(messages).length > 0 ? messages : undefined;
}

const takenPath = (): Failure => new Failure('conflict', { path: ['has already been taken'] });

/**
 * Reserves a path inside a namespace, whose row stays locked until the commit; returns it, and the full path
 * it gives.
 */
async function requireFreePath(
  tx: Db,
  namespaceId: number,
  path: string,
  projectId?: number,
): Promise<{ parent: NamespaceRow; fullPath: string }> {
  const parent = await lockNamespace(tx, namespaceId);
  if (!parent) throw notFound('Namespace');
  if (await isPathTaken(tx, parent, path, projectId === undefined ? {} : { projectId })) {
    throw takenPath();
  }
  return { parent, fullPath: `${parent.full_path}/${path}` };
}

/**
 * Where the instance says so, only users with more than a guest's role in some place create projects of their
 * own.
 */
async function refuseGuests(db: Db, actor: Actor, settings: ApplicationSettings): Promise<void> {
  if (settings.allow_project_creation_for_guest_and_below || actor.admin) return;
  const more = await db
    .selectFrom('members')
    .select('id')
    .where('user_id', '=', actor.id)
    .where('access_level', '>', GUEST)
    .limit(1)
    .executeTakeFirst();
  if (!more) throw forbidden();
}

/** The number of projects that the owner may have, where it is reached. */
const reachedLimit = ({ id, ownerId }: TargetNamespace): RawBuilder<number | null> =>
  ownerId === null
    ? sql`null::integer`
    : sql`(select u.projects_limit from users u where u.id = ${ownerId}
        and u.projects_limit <= (select count(*) from projects where namespace_id = ${id}))`;

const overLimit = (limit: number): Failure =>
  invalid({
    limit_reached: [
      `Your project limit is ${limit} projects! Please contact your administrator to increase it`,
    ],
  });

async function refuseOverLimit(tx: Db, target: TargetNamespace): Promise<void> {
  if (target.ownerId === null) return;
  const { rows } = await sql<{ reached: number | null }>`select ${reachedLimit(target)} as reached`.execute(
    tx,
  );
  const reached = rows[0]?.reached ?? null;
  if (reached !== null) throw overLimit(reached);
}

/** Inserts the project where its path is free, and its owner's limit not reached; returns its id. */
async function insertProject(
  tx: Db,
  target: TargetNamespace,
  parent: NamespaceRow,
  project: Insertable<ProjectsTable>,
): Promise<number> {
  const columns = Object.keys(project).map((name) => sql.ref(name));
  const { rows } = await sql<{ taken: boolean; reached: number | null; id: number | null }>`
    with room as materialized (
      select ${pathTaken(parent, project.path)} as taken, ${reachedLimit(target)} as reached),
    made as (
      insert into projects (${sql.join(columns)})
      select ${sql.join(Object.values(project))} from room where not taken and reached is null returning id)
    select taken, reached, (select id from made) as id from room`.execute(tx);
  const [row] = rows;
  if (row?.taken) throw takenPath();
  if (row && row.reached !== null) throw overLimit(row.reached);
  if (!row || row.id === null) throw new Error('an insert returns its row');
  return row.id;
}

/** Settings that use the shared disk are for administrators to change. */
function refuseProtected(actor: Actor, input: UpdateProject): void {
  const { max_artifacts_size: artifacts, repository_size_limit: repository } = input;
  if ((artifacts !== undefined || repository !== undefined) && !actor.admin) throw forbidden();
}

/**
 * Creates a project for `owner` (the actor, or another user for an administrator); returns its id. `complete`
 * adds to it before the commit.
 */
export async function createProject(
  services: Needs<'config' | 'database' | 'repositories' | 'registered'>,
  settings: ApplicationSettings,
  actor: Actor,
  input: CreateProject & { avatar?: AvatarChange },
  owner: { id: number } = actor,
  complete: (tx: Db, id: number) => Promise<void> = async () => {},
): Promise<number> {
  const { db } = services.database;
  const target =
    input.namespace_id === undefined
      ? await ownNamespace(db, owner.id)
      : await findTargetNamespace(services, actor, input.namespace_id);
  if (actor.external && target.kind === 'user' && !actor.admin) throw forbidden();
  await refuseGuests(db, actor, settings);
  const name = input.name ?? input.path ?? '';
  const path = input.path ?? pathFromName(name);
  const visibility = initialVisibility(
    input.visibility && visibilityLevel(input.visibility),
    visibilityLevel(settings.default_project_visibility),
    target.kind === 'group' ? target.visibility : 20,
  );
  refuseProtected(actor, input);
  const storages = storageSet(services, settings);
  const storage = actor.admin ? input.repository_storage : undefined;
  const chosen = {
    ...changedSettings(input, services.config),
    ...(await policies(defaultProjectSettings, input)),
  };
  return inTransaction(db, async (tx) => {
    const parent = await lockNamespace(tx, target.id);
    if (!parent) throw notFound('Namespace');
    const fullPath = `${parent.full_path}/${path}`;
    const problems = messagesOf({
      name: nameProblems(name),
      path: problemsOf(pathProblems(path, 'nested')),
      default_branch: branchNameProblems(input.default_branch),
      ...unsupportedProblems(input),
      repository_storage: storageProblems(storages, storage),
      visibility_level: visibilityProblems({
        asked: visibility,
        name: visibilityName(visibility),
        namespace: parent,
        restricted: settings.restricted_visibility_levels,
        admin: actor.admin,
      }),
    });
    if (problems) {
      if (await isPathTaken(tx, parent, path)) throw takenPath();
      throw invalid(problems);
    }
    await forgetRedirect(tx, fullPath);
    const time = now();
    const id = await insertProject(tx, target, parent, {
      namespace_id: target.id,
      creator_id: owner.id,
      name,
      path,
      description: input.description ?? null,
      visibility,
      default_branch: input.default_branch ?? null,
      repository_storage: storage ?? chooseStorage(services, settings),
      avatar: (await keepAvatar(tx, input.avatar)) ?? null,
      topics: await keepTopics(tx, input.topics ?? input.tag_list ?? []),
      settings: chosen as Json,
      last_activity_at: time,
      created_at: time,
      updated_at: time,
    });
    if (target.kind === 'group') await addCreator(tx, id, owner.id, target.id);
    if (target.kind === 'group' && services.config.tier !== 'free') await inheritRule(tx, id, target.id);
    for (const followUp of settingFollowUps.all(services)) await followUp(tx, id, chosen);
    await complete(tx, id);
    await announce(tx, {
      author: actor,
      activity: { action: 'created', projectId: id },
      audit: {
        entity: projectEntity(id, fullPath),
        event: 'project_created',
        details: {
          target_id: id,
          target_type: 'Project',
          target_details: fullPath,
          visibility: visibilityName(visibility),
        },
      },
      fact: { name: 'project_created', payload: { project_id: id } },
    });
    return id;
  });
}

/** The creator of a project in a group maintains it, unless the group already gives them more. */
async function addCreator(tx: Db, projectId: number, userId: number, groupId: number): Promise<void> {
  const time = now();
  await sql`
    with joined as (
      insert into members (user_id, project_id, access_level, created_by_id, created_at, updated_at)
      select ${userId}, ${projectId}, ${MAINTAINER}, ${userId}, ${time}, ${time}
      where not exists (
        select from members m join namespaces n on m.namespace_id = any(n.ancestor_ids)
        where n.id = ${groupId} and m.user_id = ${userId} and m.access_level >= ${MAINTAINER}
          and (m.expires_at is null or m.expires_at > ${time.toISOString().slice(0, 10)}::date))
      returning *)
    ${memberFacts('member_created', 'joined')}`.execute(ahead(tx));
}

/** The fact that the project has another full path now. */
const movedFact = (projectId: number, paths: { from: string; to: string; is_transfer: boolean }): Fact => ({
  name: 'project_moved',
  payload: { project_id: projectId, ...paths },
});

const updatedFact = (projectId: number): Fact => ({
  name: 'project_updated',
  payload: { project_id: projectId },
});

/** Changes the properties that the request names, and what `complete` does; a new path leaves a redirect behind. */
export async function updateProject(
  services: Needs<'config' | 'database' | 'repositories' | 'registered'>,
  settings: ApplicationSettings,
  actor: Actor,
  project: AuthorizedProject,
  input: UpdateProject & { avatar?: AvatarChange },
  complete: (tx: Db) => Promise<unknown> = async () => {},
): Promise<void> {
  const { db } = services.database;
  const visibility = input.visibility && visibilityLevel(input.visibility);
  const settingChanges = changedSettings(input, services.config);
  refuseProtected(actor, input);
  const named = input.topics ?? input.tag_list;
  const storages = storageSet(services, settings);
  await inTransaction(db, async (tx) => {
    // Before the project, as changes of topics have it.
    const topics = named && (await keepTopics(tx, named));
    const { row, parent, fullPath } = await lockWithParent(tx, project);
    const changes = { ...settingChanges, ...(await policies(projectSettings(row), input)) };
    const wished = actor.admin ? input.repository_storage : undefined;
    const storage = wished === row.repository_storage ? undefined : wished;
    const moved = input.path !== undefined && input.path !== row.path;
    const changesVisibility = visibility !== undefined && visibility !== row.visibility;
    if (changesVisibility && !project.may('change_project_visibility')) throw forbidden();
    const problems = messagesOf({
      name: input.name === undefined ? undefined : nameProblems(input.name),
      path: moved ? problemsOf(pathProblems(input.path ?? '', 'nested')) : undefined,
      default_branch: branchNameProblems(input.default_branch),
      ...unsupportedProblems(input),
      repository_storage: storageProblems(storages, storage),
      visibility_level: changesVisibility
        ? visibilityProblems({
            asked: visibility,
            name: visibilityName(visibility),
            namespace: parent,
            forkSource:
              row.forked_from_id === null ? undefined : await lockVisibility(tx, row.forked_from_id),
            restricted: settings.restricted_visibility_levels,
            admin: actor.admin,
          })
        : undefined,
    });
    if (problems) throw invalid(problems);
    if (moved) {
      const claimed = await requireFreePath(tx, parent.id, input.path ?? '', project.id);
      await redirectProject(tx, project.id, fullPath, claimed.fullPath);
      const paths = { from: fullPath, to: claimed.fullPath, is_transfer: false };
      await announce(tx, { author: actor, fact: movedFact(project.id, paths) });
    }
    const avatar = await keepAvatar(tx, input.avatar);
    await ahead(tx)
      .updateTable('projects')
      .set({
        ...(input.name !== undefined && { name: input.name }),
        ...(moved && input.path !== undefined && { path: input.path }),
        ...(input.description !== undefined && { description: input.description }),
        ...(input.default_branch !== undefined && { default_branch: input.default_branch }),
        ...(avatar !== undefined && { avatar }),
        ...(topics && { topics }),
        ...(visibility !== undefined && { visibility }),
        settings: sql`settings || ${JSON.stringify(changes)}::text::jsonb`,
        updated_at: now(),
      })
      .where('id', '=', project.id)
      .execute();
    for (const followUp of settingFollowUps.all(services)) await followUp(tx, project.id, changes);
    await complete(tx);
    if (storage !== undefined) await scheduleMove(tx, storages, actor, 'project', project.id, storage);
    const before: Record<string, Json> = { ...projectSettings(row) };
    const changed: [property: string, from: Json, to: Json | undefined][] = [
      ['name', row.name, input.name],
      ['path', row.path, input.path],
      ['visibility', visibilityName(row.visibility), input.visibility],
      ['description', row.description, input.description],
      ['default_branch', row.default_branch, input.default_branch],
      ['avatar', row.avatar, avatar],
      ['topics', row.topics, topics],
      ...Object.entries(changes).map(([name, to]): [string, Json, Json] => [name, before[name] ?? null, to]),
    ];
    const differing = changed.filter(
      ([, from, to]) => to !== undefined && JSON.stringify(to) !== JSON.stringify(from),
    );
    if (differing.length > 0 && !moved) await announce(tx, { author: actor, fact: updatedFact(project.id) });
    for (const [property, from, to = null] of differing)
      await announce(tx, {
        author: actor,
        audit: {
          entity: projectEntity(project.id, fullPath),
          event: `project_${property}_updated`,
          details: { change: property, from, to },
        },
      });
  });
}

/** Archives a project, or unarchives it: read-only, and hidden from lists of active ones. */
export async function setArchived(
  services: Needs<'database'>,
  actor: Actor,
  project: AuthorizedProject,
  archived: boolean,
): Promise<void> {
  await inTransaction(services.database.db, async (tx) => {
    const changed = await tx
      .updateTable('projects')
      .set({ archived, updated_at: now() })
      .where('id', '=', project.id)
      .where('archived', '<>', archived)
      .executeTakeFirst();
    if (changed.numUpdatedRows === 0n) return;
    const event = archived ? 'project_archived' : 'project_unarchived';
    await announce(tx, {
      author: actor,
      audit: { entity: projectEntity(project.id, project.fullPath), event },
      fact: updatedFact(project.id),
    });
  });
}

/** Moves the project into another namespace; the old path redirects. */
export async function transferProject(
  services: Needs<'database' | 'registered'>,
  actor: Actor,
  project: AuthorizedProject,
  target: TargetNamespace,
): Promise<void> {
  if (actor.external && target.kind === 'user' && !actor.admin) throw forbidden();
  await inTransaction(services.database.db, async (tx) => {
    const { row, fullPath: from } = await lockWithParent(tx, project);
    if (target.id === row.namespace_id) throw badRequest('Project is already in this namespace.');
    const { parent, fullPath: to } = await requireFreePath(tx, target.id, row.path);
    if (parent.kind === 'group' && row.visibility > parent.visibility) {
      throw invalid({ visibility_level: ['is higher than the new namespace allows'] });
    }
    await refuseOverLimit(tx, target);
    await redirectProject(tx, project.id, from, to);
    await ahead(tx)
      .updateTable('projects')
      .set({ namespace_id: target.id, updated_at: now() })
      .where('id', '=', project.id)
      .execute();
    await remapPlanning(tx, services, [project.id]);
    await announce(tx, {
      author: actor,
      audit: {
        entity: projectEntity(project.id, to),
        event: 'project_transferred',
        details: { change: 'namespace', from, to },
      },
      fact: movedFact(project.id, { from, to, is_transfer: true }),
    });
  });
}
