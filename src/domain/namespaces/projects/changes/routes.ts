/** Creating and changing projects. */
import Type from 'typebox';
import { onInstance, onProject, signedIn } from '../../../../kernel/access/access.ts';
import { type AuthorizedProject, authorizeProject } from '../../../../kernel/access/find.ts';
import { findUser } from '../../../../kernel/access/users.ts';
import type { Actor, Caller } from '../../../../kernel/actor.ts';
import {
  Accepted,
  accepted,
  type Context,
  type Endpoint,
  endpoint,
  found,
  noContent,
  Reply,
} from '../../../../kernel/api/endpoint.ts';
import { avatarChange, avatarFile } from '../../../../kernel/files/pictures.ts';
import type { ReachedProjectRow } from '../../../../kernel/namespaces/rows.ts';
import type { Db } from '../../../../platform/db/database.ts';
import { forbidden, notFound } from '../../../../platform/failure.ts';
import { parameterRulesOf } from '../../../../platform/http/parameters/schema.ts';
import {
  deprecatedPullOptions,
  findOrigin,
  insertSource,
  type OriginFields,
  requirePullChanges,
  requireUser,
  selectSources,
  setSource,
} from '../../../mirrors/index.ts';
import { presentProjects, projectView } from '../reading/present.ts';
import { ProjectRecord } from '../reading/routes.ts';
import {
  createProject,
  findTargetNamespace,
  setArchived,
  transferProject,
  updateProject,
} from './actions.ts';
import { deleteProject, restoreProject } from './deletion-actions.ts';
import {
  removeForkedFrom,
  setForkedFrom,
  setStar,
  shareProject,
  unshareProject,
} from './relation-actions.ts';
import { pointToDefaultBranch, writeReadme } from './repository.ts';
import { CreateProject, ProjectGroupLink, ShareProject, UpdateProject } from './schema.ts';

const avatar = Type.Optional(avatarFile);
/** A picture and the fields around it, in bytes. */
const UPLOAD_LIMIT = 1_048_576;

type Handling<C extends Caller> = Context<unknown, unknown, C>;

async function presentRow({ db, services, settings, actor }: Handling<Actor>, row: ReachedProjectRow) {
  const options = { simple: false, statistics: false, customAttributes: false };
  const view = projectView(services, settings, actor);
  const [record] = await presentProjects(db, view, actor, [row], options);
  return found(record);
}

/** The record of a project after a change, as the caller sees it now. */
export async function showProject(context: Handling<Actor>, id: number) {
  const { services, actor } = context;
  const project = await authorizeProject(services.database.points, actor, 'read_project', id);
  return presentRow(context, project.row);
}

/** The record of a new project, after its first commit where there is to be one. */
async function showCreated(context: Context<CreateProject, unknown, Actor>, id: number) {
  const { services, settings, actor, input } = context;
  // A project that comes from elsewhere begins with what is there.
  if (input.initialize_with_readme && !input.import_url) {
    const project = await authorizeProject(services.database.points, actor, 'read_project', id);
    await writeReadme(services, settings, actor, project);
  }
  return showProject(context, id);
}

const originOf = ({ import_url, mirror, ...input }: UpdateProject): OriginFields => ({
  ...(import_url && { import_url }),
  ...(mirror != null && { mirror }),
  ...Object.fromEntries(
    Object.keys(deprecatedPullOptions).flatMap((name) =>
      input[name as keyof typeof deprecatedPullOptions] === undefined
        ? []
        : [[name, input[name as keyof typeof deprecatedPullOptions]]],
    ),
  ),
});

/** Writes where a new project comes from; nothing where it comes from nowhere. */
async function originWriter(
  { services, settings, actor, input }: Handling<Actor> & { input: CreateProject },
  userId: number,
) {
  const origin = await findOrigin(services, settings, actor, originOf(input));
  return async (tx: Db, id: number): Promise<void> => {
    if (origin) await insertSource(tx, services, id, userId, origin);
  };
}

/** Writes a change of where a project is pulled from, where the request has one. */
async function mirrorWriter(context: Context<UpdateProject, AuthorizedProject, Actor>) {
  const { services, input } = context;
  const { import_url: url, mirror, ...options } = originOf(input);
  const { mirror_user_id } = input;
  const isNamed =
    url !== undefined ||
    mirror !== undefined ||
    mirror_user_id !== undefined ||
    Object.keys(options).length > 0;
  const [row] = isNamed ? (await selectSources(services.database.db, [context.subject.id])).values() : [];
  // Clients that send all fields say of most projects that they are no mirrors.
  if (!isNamed || services.config.tier === 'free' || (!row && !url && !mirror)) return undefined;
  const changes = {
    ...options,
    ...(url && { url }),
    ...(mirror != null && { enabled: mirror }),
    ...(mirror_user_id !== undefined && { mirror_user_id }),
  };
  if (!context.subject.may('manage_mirrors')) throw forbidden();
  await requirePullChanges(context, changes);
  await requireUser(context, mirror_user_id);
  return (tx: Db) => setSource(tx, context, changes, 'import_url');
}

/** POST /projects/:id/<verb> that responds with the project. */
const verb = (
  name: string,
  summary: string,
  ability: 'archive_project' | 'star_project',
  act: (context: Context<unknown, AuthorizedProject, Actor>) => Promise<boolean>,
): Endpoint =>
  endpoint({
    method: 'POST',
    path: `/projects/:id/${name}`,
    summary,
    access: onProject(ability),
    also: [304],
    reply: ProjectRecord,
    handle: async (context) =>
      (await act(context)) ? showProject(context, context.subject.id) : new Reply(304),
  });

export const writeEndpoints: Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/projects',
    summary: 'Create a project.',
    access: signedIn,
    also: [409],
    input: Type.Object({ ...CreateProject.properties, avatar }, parameterRulesOf(CreateProject)),
    bodyLimit: UPLOAD_LIMIT,
    reply: ProjectRecord,
    handle: async (context) => {
      const { services, settings, actor, input } = context;
      const made = { ...input, avatar: avatarChange(services, input.avatar) };
      const complete = await originWriter(context, actor.id);
      return showCreated(context, await createProject(services, settings, actor, made, actor, complete));
    },
  }),
  endpoint({
    method: 'POST',
    path: '/projects/user/:user_id',
    summary: 'Create a project for a user.',
    access: onInstance,
    also: [409],
    input: Type.Object(
      { ...CreateProject.properties, avatar, user_id: Type.Integer() },
      parameterRulesOf(CreateProject),
    ),
    bodyLimit: UPLOAD_LIMIT,
    reply: ProjectRecord,
    handle: async (context) => {
      const { services, settings, actor, input } = context;
      const { user_id: id, ...project } = input;
      // Their own namespace is found with them.
      const owner = input.namespace_id === undefined ? { id } : await findUser(services.database.sql, id);
      const made = { ...project, avatar: avatarChange(services, input.avatar) };
      const complete = await originWriter(context, id);
      return showCreated(context, await createProject(services, settings, actor, made, owner, complete));
    },
  }),
  endpoint({
    method: 'PUT',
    path: '/projects/:id',
    summary: 'Change a project.',
    access: onProject('update_project'),
    also: [409],
    input: Type.Object({ ...UpdateProject.properties, avatar }),
    bodyLimit: UPLOAD_LIMIT,
    reply: ProjectRecord,
    handle: async (context) => {
      const { services, settings, actor, subject, input } = context;
      if (input.default_branch !== undefined)
        await pointToDefaultBranch(services, subject, input.default_branch);
      const changes = { ...input, avatar: avatarChange(services, input.avatar) };
      await updateProject(services, settings, actor, subject, changes, await mirrorWriter(context));
      return showProject(context, subject.id);
    },
  }),
  verb('archive', 'Archive a project: it becomes read-only.', 'archive_project', async (context) => {
    await setArchived(context.services, context.actor, context.subject, true);
    return true;
  }),
  verb('unarchive', 'Bring an archived project back.', 'archive_project', async (context) => {
    await setArchived(context.services, context.actor, context.subject, false);
    return true;
  }),
  verb('star', 'Star a project; 304 when it is starred.', 'star_project', (context) =>
    setStar(context.services, context.actor, context.subject, true),
  ),
  verb('unstar', 'Take a star back; 304 when there is none.', 'star_project', (context) =>
    setStar(context.services, context.actor, context.subject, false),
  ),
  endpoint({
    method: 'PUT',
    path: '/projects/:id/transfer',
    summary: 'Move a project into another namespace.',
    access: onProject('transfer_project'),
    also: [409],
    input: Type.Object({ namespace: Type.String({ minLength: 1, description: 'Id or full path.' }) }),
    reply: ProjectRecord,
    handle: async (context) => {
      const { services, actor, subject, input } = context;
      await transferProject(
        services,
        actor,
        subject,
        await findTargetNamespace(services, actor, input.namespace),
      );
      return showProject(context, subject.id);
    },
  }),
  endpoint({
    method: 'POST',
    path: '/projects/:id/share',
    summary: 'Share a project with a group.',
    access: onProject('share_project'),
    also: [409],
    input: ShareProject,
    reply: ProjectGroupLink,
    handle: ({ services, actor, subject, input }) =>
      shareProject(services, actor, subject, {
        groupId: input.group_id,
        access: input.group_access,
        expiresAt: input.expires_at ?? null,
      }),
  }),
  endpoint({
    method: 'DELETE',
    path: '/projects/:id/share/:group_id',
    summary: 'Stop sharing a project with a group.',
    access: onProject('share_project'),
    input: Type.Object({ group_id: Type.Integer() }),
    reply: noContent,
    handle: async ({ services, actor, subject, input, unmodified }) => {
      if (!(await unshareProject(services, actor, subject, input.group_id, unmodified)))
        throw notFound('Group');
      return new Reply(204);
    },
  }),
  endpoint({
    method: 'POST',
    path: '/projects/:id/fork/:forked_from_id',
    summary: 'Say that a project was forked from another.',
    access: onProject('remove_fork_relation'),
    also: [409],
    input: Type.Object({ forked_from_id: Type.String() }),
    reply: ProjectRecord,
    handle: async (context) => {
      const { services, actor, subject, input } = context;
      const source = await authorizeProject(
        services.database.points,
        actor,
        'fork_project',
        input.forked_from_id,
      );
      const changes = await setForkedFrom(services, actor, subject, source);
      return presentRow(context, { ...subject.row, ...changes });
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/projects/:id/fork',
    summary: 'End a fork relation; 304 when there is none.',
    access: onProject('remove_fork_relation'),
    also: [304],
    reply: noContent,
    handle: async ({ services, actor, subject, unmodified }) => {
      unmodified(subject.row.updated_at);
      return new Reply((await removeForkedFrom(services, actor, subject)) ? 204 : 304);
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/projects/:id',
    summary: 'Mark a project for deletion, or delete a marked one.',
    access: onProject('delete_project'),
    input: Type.Object({
      permanently_remove: Type.Optional(Type.Boolean()),
      full_path: Type.Optional(Type.String()),
    }),
    status: 202,
    reply: Accepted,
    handle: async ({ services, actor, subject, input, unmodified }) => {
      await deleteProject(services, actor, subject, input, unmodified);
      return accepted();
    },
  }),
  endpoint({
    method: 'POST',
    path: '/projects/:id/restore',
    summary: 'Bring back a project that is marked for deletion.',
    access: onProject('delete_project'),
    reply: ProjectRecord,
    handle: async (context) => {
      await restoreProject(context.services, context.actor, context.subject);
      return showProject(context, context.subject.id);
    },
  }),
];
