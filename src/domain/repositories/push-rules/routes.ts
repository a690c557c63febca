/** Push rules of projects and groups: the same endpoints, mounted for both (facts: Project and group operations). */
import { type Access, onGroup, onProject } from '../../../kernel/access/access.ts';
import type { ResourceParent } from '../../../kernel/access/resource-parents.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { type Endpoint, endpoint, found, noContent } from '../../../kernel/api/endpoint.ts';
import { createRule, deleteRule, updateRule } from './actions.ts';
import { type PushRuleRow, selectRule } from './queries.ts';
import { PushRuleRecord, RuleInput } from './schema.ts';

type Home = { kind: 'project' | 'group'; manage: Access<ResourceParent, Actor> };

const homes: readonly Home[] = [
  { kind: 'project', manage: onProject('manage_push_rules') },
  { kind: 'group', manage: onGroup('manage_push_rules') },
];

const present = (row: PushRuleRow) => ({
  id: row.id,
  ...(row.project_id !== null && { project_id: row.project_id }),
  created_at: row.created_at.toISOString(),
  commit_message_regex: row.commit_message_regex,
  commit_message_negative_regex: row.commit_message_negative_regex,
  branch_name_regex: row.branch_name_regex,
  deny_delete_tag: row.deny_delete_tag,
  member_check: row.member_check,
  prevent_secrets: row.prevent_secrets,
  author_email_regex: row.author_email_regex,
  file_name_regex: row.file_name_regex,
  max_file_size: row.max_file_size,
  commit_committer_check: row.commit_committer_check,
  commit_committer_name_check: row.commit_committer_name_check,
  reject_unsigned_commits: row.reject_unsigned_commits,
  reject_non_dco_commits: row.reject_non_dco_commits,
});

function endpointsOf({ kind, manage }: Home): Endpoint[] {
  const path = `/${kind}s/:id/push_rule` as const;
  // The record of a group is that of a project without its id.
  const reply = PushRuleRecord[kind] as typeof PushRuleRecord.group;
  return [
    endpoint({
      method: 'GET',
      path,
      summary: `The push rule of a ${kind}.`,
      access: manage,
      tier: 'premium',
      reply,
      handle: async ({ db, subject }) => present(found(await selectRule(db, subject), 'Push Rule')),
    }),
    endpoint({
      method: 'POST',
      path,
      summary:
        kind === 'project'
          ? 'Gives a project a push rule.'
          : 'Gives a group a push rule, which its new projects have.',
      access: manage,
      tier: 'premium',
      also: [422],
      input: RuleInput,
      reply,
      handle: async ({ db, actor, subject, input }) => present(await createRule(db, actor, subject, input)),
    }),
    endpoint({
      method: 'PUT',
      path,
      summary: `Changes the push rule of a ${kind}; what is not sent stays as it is.`,
      access: manage,
      tier: 'premium',
      input: RuleInput,
      reply,
      handle: async ({ db, actor, subject, input }) => present(await updateRule(db, actor, subject, input)),
    }),
    endpoint({
      method: 'DELETE',
      path,
      summary: `Removes the push rule of a ${kind}.`,
      access: manage,
      tier: 'premium',
      reply: noContent,
      handle: async ({ db, actor, subject, unmodified }) => {
        await deleteRule(db, actor, subject, unmodified);
        return null;
      },
    }),
  ];
}

export const pushRuleEndpoints: Endpoint[] = homes.flatMap(endpointsOf);
