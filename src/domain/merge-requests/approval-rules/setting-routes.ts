/** Approval rules of a project under their older addresses. */
import Type from 'typebox';
import { onProject } from '../../../kernel/access/access.ts';
import { type Endpoint, endpoint, found, noContent } from '../../../kernel/api/endpoint.ts';
import { projectSettings } from '../../../kernel/namespaces/project-settings.ts';
import { createRule, deleteRule, updateRule } from './actions.ts';
import { asSettingRule, presentRule, presentRules, type RuleContext } from './present.ts';
import { selectAllRules, selectProtections, selectRule } from './queries.ts';
import { isForBranch } from './rules.ts';
import { CreateInput, OneInput, SettingRuleRecord, SettingRules, UpdateInput } from './schema.ts';

const path = '/projects/:id/approval_settings';
const managing = onProject('manage_approvals');
const deprecated = { use: '/projects/:id/approval_rules' };

const showRule = async (context: RuleContext, id: number): Promise<SettingRuleRecord> =>
  asSettingRule(await presentRule(context, found(await selectRule(context.db, context.subject, id))));

export const settingRuleEndpoints: Endpoint[] = [
  endpoint({
    method: 'GET',
    path,
    summary: 'All approval rules of a project, or those for one branch.',
    tier: 'premium',
    deprecated,
    access: onProject('read_approval_rules'),
    input: Type.Object({
      target_branch: Type.Optional(Type.String({ description: 'Only rules that are for this branch.' })),
    }),
    reply: SettingRules,
    handle: async (context) => {
      const { db, subject, input } = context;
      const { target_branch: branch } = input;
      const rows = await selectAllRules(db, subject);
      const protections = branch === undefined ? undefined : await selectProtections(db, subject.id);
      const shown = rows.filter((row) => {
        if (branch === undefined || !protections) return true;
        const patterns = row.branch_ids.flatMap((id) => protections.get(id) ?? []);
        const appliesToAllProtected = row.applies_to_all_protected_branches;
        return isForBranch({ patterns, appliesToAllProtected }, branch, [...protections.values()]);
      });
      return {
        rules: (await presentRules(context, shown)).map(asSettingRule),
        fallback_approvals_required: projectSettings(subject.row).approvals_before_merge,
      };
    },
  }),
  endpoint({
    method: 'POST',
    path: `${path}/rules`,
    summary: 'Makes an approval rule of a project.',
    tier: 'premium',
    deprecated,
    access: managing,
    input: CreateInput,
    reply: SettingRuleRecord,
    handle: async (context) => {
      const { db, actor, subject, input } = context;
      return showRule(context, await createRule(db, actor, subject, input));
    },
  }),
  endpoint({
    method: 'PUT',
    path: `${path}/rules/:approval_rule_id`,
    summary: 'Changes an approval rule of a project.',
    tier: 'premium',
    deprecated,
    access: managing,
    input: UpdateInput,
    reply: SettingRuleRecord,
    handle: async (context) => {
      const { db, actor, subject, input } = context;
      const { approval_rule_id, ...changes } = input;
      await updateRule(db, actor, subject, approval_rule_id, changes);
      return showRule(context, approval_rule_id);
    },
  }),
  endpoint({
    method: 'DELETE',
    path: `${path}/rules/:approval_rule_id`,
    summary: 'Deletes an approval rule of a project.',
    tier: 'premium',
    deprecated,
    access: managing,
    input: OneInput,
    reply: noContent,
    handle: async ({ db, actor, subject, input, unmodified }) => {
      await deleteRule(db, actor, subject, input.approval_rule_id, unmodified);
      return null;
    },
  }),
];
