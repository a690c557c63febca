/** Projects and groups as the owners of tokens: the shared parts of their endpoints, and the differences. */
import { type Access, onGroup, onProject } from '../../kernel/access/access.ts';
import type { AuthorizedGroup, AuthorizedProject } from '../../kernel/access/find.ts';
import type { MembershipSource } from '../../kernel/access/membership-actions.ts';
import type { Actor } from '../../kernel/actor.ts';
import type { Whose } from './queries.ts';

export type Resource<Subject extends AuthorizedProject | AuthorizedGroup> = {
  of: 'project' | 'group';
  manageTokens: Access<Subject, Actor>;
  rotateOwnToken: Access<Subject, Actor>;
  manageDeployTokens: Access<Subject, Actor>;
  place(subject: Subject): MembershipSource;
  whose(subject: Subject): Whose;
};

export const projects: Resource<AuthorizedProject> = {
  of: 'project',
  manageTokens: onProject('manage_project_tokens'),
  rotateOwnToken: onProject('rotate_own_project_token'),
  manageDeployTokens: onProject('manage_deploy_tokens'),
  place: ({ id, fullPath }) => ({
    column: 'project_id',
    id,
    entity: { type: 'Project', id, path: fullPath },
  }),
  whose: ({ id }) => ({ list: 'project', projectId: id }),
};

export const groups: Resource<AuthorizedGroup> = {
  of: 'group',
  manageTokens: onGroup('manage_group_tokens'),
  rotateOwnToken: onGroup('rotate_own_group_token'),
  manageDeployTokens: onGroup('manage_group_deploy_tokens'),
  place: ({ id, row }) => ({
    column: 'namespace_id',
    id,
    entity: { type: 'Group', id, path: row.full_path },
  }),
  whose: ({ id }) => ({ list: 'group', groupId: id }),
};
