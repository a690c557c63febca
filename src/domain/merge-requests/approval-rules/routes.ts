/** Approval rules of projects and of groups. */
import { type Access, onGroup, onProject } from '../../../kernel/access/access.ts';
import type { ResourceParent } from '../../../kernel/access/resource-parents.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { type Endpoint, endpoint, found, listing, noContent } from '../../../kernel/api/endpoint.ts';
import { createRule, deleteRule, updateRule } from './actions.ts';
import { presentRule, presentRules, type RuleContext } from './present.ts';
import { selectRule, selectRules } from './queries.ts';
import {
  ApprovalRuleRecord,
  CreateGroupInput,
  CreateInput,
  OneInput,
  UpdateGroupInput,
  UpdateInput,
} from './schema.ts';

const ofProject = '/projects/:id/approval_rules';
const ofGroup = '/groups/:id/approval_rules';
const reading = onProject('read_approval_rules');
const managing = onProject('manage_approvals');
const managingGroup = onGroup('manage_approvals');

/** The record of a rule as it is now. */
const showRule = async (context: RuleContext, id: number): Promise<ApprovalRuleRecord> =>
  presentRule(context, found(await selectRule(context.db, context.subject, id)));

const listOf = (path: string, summary: string, access: Access<ResourceParent, Actor>): Endpoint =>
  listing({
    method: 'GET',
    path,
    summary,
    tier: 'premium',
    access,
    page: 'offset',
    item: ApprovalRuleRecord,
    handle: async (context) => {
      const rules = await selectRules(context.db, context.subject, context.page);
      return { ...rules, items: await presentRules(context, rules.items) };
    },
  });

export const approvalRuleEndpoints: Endpoint[] = [
  listOf(ofProject, 'Approval rules that merge requests of a project have.', reading),
  endpoint({
    method: 'POST',
    path: ofProject,
    summary: 'Makes an approval rule of a project.',
    tier: 'premium',
    access: managing,
    input: CreateInput,
    reply: ApprovalRuleRecord,
    handle: async (context) => {
      const { db, actor, subject, input } = context;
      return showRule(context, await createRule(db, actor, subject, input));
    },
  }),
  endpoint({
    method: 'GET',
    path: `${ofProject}/:approval_rule_id`,
    summary: 'One approval rule of a project.',
    tier: 'premium',
    access: reading,
    input: OneInput,
    reply: ApprovalRuleRecord,
    handle: (context) => showRule(context, context.input.approval_rule_id),
  }),
  endpoint({
    method: 'PUT',
    path: `${ofProject}/:approval_rule_id`,
    summary: 'Changes an approval rule of a project; a list that is sent replaces the one before.',
    tier: 'premium',
    access: managing,
    input: UpdateInput,
    reply: ApprovalRuleRecord,
    handle: async (context) => {
      const { db, actor, subject, input } = context;
      const { approval_rule_id, ...changes } = input;
      await updateRule(db, actor, subject, approval_rule_id, changes);
      return showRule(context, approval_rule_id);
    },
  }),
  endpoint({
    method: 'DELETE',
    path: `${ofProject}/:approval_rule_id`,
    summary: 'Deletes an approval rule of a project.',
    tier: 'premium',
    access: managing,
    input: OneInput,
    reply: noContent,
    handle: async ({ db, actor, subject, input, unmodified }) => {
      await deleteRule(db, actor, subject, input.approval_rule_id, unmodified);
      return null;
    },
  }),
  listOf(
    ofGroup,
    'Approval rules that merge requests into protected branches below a group have.',
    onGroup('read_approvals'),
  ),
  endpoint({
    method: 'POST',
    path: ofGroup,
    summary: 'Makes an approval rule of a group.',
    tier: 'premium',
    access: managingGroup,
    input: CreateGroupInput,
    reply: ApprovalRuleRecord,
    handle: async (context) => {
      const { db, actor, subject, input } = context;
      const rule = { ...input, applies_to_all_protected_branches: true };
      return showRule(context, await createRule(db, actor, subject, rule));
    },
  }),
  endpoint({
    method: 'PUT',
    path: `${ofGroup}/:approval_rule_id`,
    summary: 'Changes an approval rule of a group.',
    tier: 'premium',
    access: managingGroup,
    input: UpdateGroupInput,
    reply: ApprovalRuleRecord,
    handle: async (context) => {
      const { db, actor, subject, input } = context;
      const { approval_rule_id, ...changes } = input;
      await updateRule(db, actor, subject, approval_rule_id, changes);
      return showRule(context, approval_rule_id);
    },
  }),
];
