/** To-do items as records, and the filters of their list (facts: Resource entities, Todo). */
import Type, { type Static } from 'typebox';
import { ProjectIdentity } from '../../../kernel/namespaces/project-records.ts';
import { NamespaceBasic } from '../../../kernel/namespaces/records.ts';
import { UserBasic } from '../../../kernel/users/records.ts';
import { dateTime, integerId, stringEnum } from '../../../platform/http/parameters/schema.ts';
import type { TargetRecord } from './targets.ts';

export const TodoRecord = Type.Object({
  id: Type.Integer(),
  project: Type.Optional(ProjectIdentity),
  group: Type.Optional(NamespaceBasic),
  author: UserBasic,
  action_name: Type.String(),
  target_type: Type.String(),
  target: Type.Unsafe<TargetRecord>({
    type: 'object',
    additionalProperties: true,
    description: 'The issue, epic, commit or alert.',
  }),
  target_url: Type.String(),
  body: Type.String({ description: 'Of the note; without one, the title of the target.' }),
  state: stringEnum(['pending', 'done']),
  created_at: dateTime(),
  updated_at: dateTime(),
});
export type TodoRecord = Static<typeof TodoRecord>;

const actions = [
  'assigned',
  'mentioned',
  'build_failed',
  'marked',
  'approval_required',
  'added_approver',
  'unmergeable',
  'directly_addressed',
  'merge_train_removed',
  'member_access_requested',
  'review_requested',
  'review_submitted',
] as const;

const types = [
  'Issue',
  'MergeRequest',
  'Commit',
  'Epic',
  'DesignManagement::Design',
  'AlertManagement::Alert',
  'Project',
  'Namespace',
  'Vulnerability',
  'WikiPage::Meta',
] as const;

export const ListInput = Type.Object({
  action: Type.Optional(stringEnum(actions)),
  author_id: Type.Optional(integerId()),
  project_id: Type.Optional(integerId()),
  group_id: Type.Optional(integerId({ description: 'In the group, and below it.' })),
  state: Type.Optional(stringEnum(['pending', 'done'], { default: 'pending' })),
  type: Type.Optional(stringEnum(types)),
});
export type TodoFilters = Static<typeof ListInput>;

export const UserCounts = Type.Object({
  merge_requests: Type.Integer(),
  assigned_issues: Type.Integer(),
  assigned_merge_requests: Type.Integer(),
  review_requested_merge_requests: Type.Integer(),
  todos: Type.Integer(),
});
export type UserCounts = Static<typeof UserCounts>;
