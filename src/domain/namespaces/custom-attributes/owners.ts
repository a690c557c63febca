/** Owners of custom attributes: how administrators find them, and their entities in audit events. */
import { type Access, onUserAsAdmin } from '../../../kernel/access/access.ts';
import { authorizeGroup, authorizeInstance, authorizeProject } from '../../../kernel/access/find.ts';
import type { AuditedEntity } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import type { AttributeOwner } from '../../../kernel/namespaces/custom-attributes.ts';

export type Owner = { column: AttributeOwner; id: number; entity: AuditedEntity };

export type OwnerKind = { path: string; noun: string; access: Access<Owner, Actor> };

const users: OwnerKind = {
  path: '/users/:id',
  noun: 'a user',
  access: {
    ...onUserAsAdmin(),
    find: async (request) => {
      const { subject, actor } = await onUserAsAdmin().find(request);
      const { id, row } = subject;
      return { subject: { column: 'user_id', id, entity: { type: 'User', id, path: row.username } }, actor };
    },
  },
};

const groups: OwnerKind = {
  path: '/groups/:id',
  noun: 'a group',
  access: {
    sentence: { on: 'group', ability: 'administer_custom_attributes' },
    anonymous: false,
    find: async ({ sql, caller, params }) => {
      const { actor } = authorizeInstance(caller);
      const { id, row } = await authorizeGroup(sql, actor, 'read_group', params.id ?? '');
      const entity = { type: 'Group', id, path: row.full_path } as const;
      return { subject: { column: 'namespace_id', id, entity }, actor };
    },
  },
};

const projects: OwnerKind = {
  path: '/projects/:id',
  noun: 'a project',
  access: {
    sentence: { on: 'project', ability: 'administer_custom_attributes' },
    anonymous: false,
    find: async ({ sql, caller, params }) => {
      const { actor } = authorizeInstance(caller);
      const { id, fullPath } = await authorizeProject(sql, actor, 'read_project', params.id ?? '');
      return {
        subject: { column: 'project_id', id, entity: { type: 'Project', id, path: fullPath } },
        actor,
      };
    },
  },
};

export const ownerKinds: readonly OwnerKind[] = [users, groups, projects];
