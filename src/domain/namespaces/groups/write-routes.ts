/** Creating, changing, sharing, moving and deleting groups. */
import Type from 'typebox';
import { onGroup, onInstance, signedIn } from '../../../kernel/access/access.ts';
import { type AuthorizedGroup, authorizeGroup, authorizeProject } from '../../../kernel/access/find.ts';
import type { Actor } from '../../../kernel/actor.ts';
import {
  Accepted,
  accepted,
  type Context,
  type Endpoint,
  endpoint,
  noContent,
  Reply,
} from '../../../kernel/api/endpoint.ts';
import { Group, presentGroup } from '../../../kernel/namespaces/group-records.ts';
import { notFound } from '../../../platform/failure.ts';
import { nullable } from '../../../platform/http/parameters/schema.ts';
import { findTargetNamespace, transferProject } from '../projects/changes/actions.ts';
import { authorizeParent, createGroup, updateGroup } from './actions.ts';
import {
  removeGroup,
  restoreGroup,
  scheduleDeletion,
  setArchived,
  transferGroup,
} from './lifecycle-actions.ts';
import { groupView, presentGroupDetail } from './present.ts';
import { CreateGroup, GroupDetail, ShareGroup, UpdateGroup } from './schema.ts';
import { shareGroup, unshareGroup } from './share-actions.ts';

type Writing = Context<unknown, unknown, Actor>;

const presentDetail = (
  { db, services, settings, actor }: Writing,
  group: AuthorizedGroup,
  { isNew = false } = {},
) => presentGroupDetail(db, groupView(services, settings, actor), actor, group, { projects: false, isNew });

/** The detailed record after a change, as the caller sees it now. */
async function showDetail(context: Writing, id: number, options?: { isNew: boolean }) {
  const group = await authorizeGroup(context.services.database.sql, context.actor, 'read_group', id);
  return presentDetail(context, group, options);
}

async function showGroup({ services, settings, actor }: Writing, id: number) {
  const group = await authorizeGroup(services.database.points, actor, 'read_group', id);
  return presentGroup(groupView(services, settings, actor), group.row);
}

/** POST /groups/:id/archive and its counterpart. */
const archiving = (verb: 'archive' | 'unarchive', summary: string): Endpoint =>
  endpoint({
    method: 'POST',
    path: `/groups/:id/${verb}`,
    summary,
    access: onGroup('archive_group'),
    also: [422],
    limit: {
      name: 'group_archive_unarchive_api',
      setting: 'group_archive_unarchive_api_limit',
      periodSeconds: 60,
    },
    reply: Group,
    handle: async (context) => {
      await setArchived(context.services, context.actor, context.subject, verb === 'archive');
      return showGroup(context, context.subject.id);
    },
  });

/** The target of a transfer; nothing, or null, is the top level. */
async function findTarget(context: Writing, group: AuthorizedGroup, targetId: number | null | undefined) {
  // A group that is there already is refused by the transfer, not by creation rights.
  if (!targetId && group.row.parent_id === null) return undefined;
  return authorizeParent(context, targetId);
}

export const writeEndpoints: Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/groups/:id/projects/:project_id',
    summary: 'Moves a project into a group.',
    access: onInstance,
    also: [409],
    input: Type.Object({ id: Type.String(), project_id: Type.String({ description: 'Id or full path.' }) }),
    reply: GroupDetail,
    handle: async (context) => {
      const { services, actor, input } = context;
      const { sql } = services.database;
      const target = await findTargetNamespace(services, actor, input.id);
      const project = await authorizeProject(sql, actor, 'transfer_project', input.project_id);
      if (target.kind !== 'group') throw notFound('Group');
      await transferProject(services, actor, project, target);
      return showDetail(context, target.id);
    },
  }),
  endpoint({
    method: 'POST',
    path: '/groups',
    summary: 'Create a group.',
    access: signedIn,
    input: CreateGroup,
    reply: GroupDetail,
    handle: async (context) =>
      showDetail(context, await createGroup(context, context.input), { isNew: true }),
  }),
  endpoint({
    method: 'PUT',
    path: '/groups/:id',
    summary: 'Change a group.',
    access: onGroup('update_group'),
    also: [409],
    input: UpdateGroup,
    reply: GroupDetail,
    handle: async (context) => {
      await updateGroup(context, context.subject, context.input);
      return showDetail(context, context.subject.id);
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/groups/:id',
    summary: 'Mark a group for deletion, or remove a marked subgroup for good.',
    access: onGroup('delete_group'),
    input: Type.Object({
      permanently_remove: Type.Optional(Type.Boolean({ description: 'Remove a marked subgroup now.' })),
      full_path: Type.Optional(Type.String({ description: 'The full path, to be sure, when removing now.' })),
    }),
    status: 202,
    reply: Accepted,
    handle: async ({ services, actor, subject, input, unmodified }) => {
      if (input.permanently_remove) await removeGroup(services, actor, subject, input.full_path, unmodified);
      else await scheduleDeletion(services, actor, subject, unmodified);
      return accepted();
    },
  }),
  endpoint({
    method: 'POST',
    path: '/groups/:id/restore',
    summary: 'Restore a group that is marked for deletion.',
    access: onGroup('delete_group'),
    reply: GroupDetail,
    handle: async (context) => {
      await restoreGroup(context.services, context.actor, context.subject);
      return showDetail(context, context.subject.id);
    },
  }),
  archiving('archive', 'Make a group and all in it read-only.'),
  archiving('unarchive', 'Make an archived group writable again.'),
  endpoint({
    method: 'POST',
    path: '/groups/:id/transfer',
    summary: 'Move a group into another, or to the top level.',
    access: onGroup('transfer_group'),
    also: [409],
    input: Type.Object({
      group_id: Type.Optional(
        nullable(Type.Integer({ description: 'Where to; the top level when absent.' })),
      ),
    }),
    reply: GroupDetail,
    handle: async (context) => {
      const { subject, input } = context;
      await transferGroup(context, subject, await findTarget(context, subject, input.group_id));
      return showDetail(context, subject.id);
    },
  }),
  endpoint({
    method: 'POST',
    path: '/groups/:id/share',
    summary: 'Give the members of another group a role in the group.',
    access: onGroup('share_group'),
    also: [409],
    input: ShareGroup,
    reply: GroupDetail,
    handle: async (context) => {
      await shareGroup(context.services, context.actor, context.subject, context.input);
      return presentDetail(context, context.subject);
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/groups/:id/share/:group_id',
    summary: 'Take the role of another group back.',
    access: onGroup('share_group'),
    input: Type.Object({ group_id: Type.Integer() }),
    reply: noContent,
    handle: async ({ services, actor, subject, input, unmodified }) => {
      await unshareGroup(services, actor, subject, input.group_id, unmodified);
      return new Reply(204);
    },
  }),
];
