/** Approval rules of merge requests themselves, which stand in the place of the project's (facts: merge requests §6.2). */
import Type from 'typebox';
import { onProject } from '../../../kernel/access/access.ts';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Actor } from '../../../kernel/actor.ts';
import {
  type Context,
  type Endpoint,
  endpoint,
  found,
  listing,
  noContent,
} from '../../../kernel/api/endpoint.ts';
import { forbidden } from '../../../platform/failure.ts';
import { integerId } from '../../../platform/http/parameters/schema.ts';
import { addTodos, readersAmong, usersByIds } from '../../conversation/index.ts';
import { createRule, deleteRule, updateRule } from '../approval-rules/actions.ts';
import { type RuledMergeRequest, selectRule, selectRules } from '../approval-rules/queries.ts';
import { OwnRuleChanges, OwnRuleInput } from '../approval-rules/schema.ts';
import { allowsOwnRules } from '../approval-settings/queries.ts';
import { requireUpdate } from '../changes/change-rights.ts';
import { OneMergeRequest } from '../changes/schema.ts';
import { findMergeRequest } from '../records/find-queries.ts';
import { mergeRequestNoteable } from '../records/merge-request-noteable.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import { presentRules } from './present.ts';
import { findApprovals, type ShownApprovals, selectApprovals } from './queries.ts';
import { RuleRecord } from './schema.ts';

const path = '/projects/:id/merge_requests/:merge_request_iid/approval_rules';
const pathOfOne = `${path}/:approval_rule_id` as const;
const reading = onProject('read_merge_requests');
const writing = onProject('create_merge_requests');

const OneRule = { ...OneMergeRequest.properties, approval_rule_id: integerId() };

type RuleContext = Context<{ merge_request_iid: number }, AuthorizedProject, Actor>;

const ownerOf = (
  { services, actor, subject: project }: Pick<RuleContext, 'services' | 'actor' | 'subject'>,
  row: MergeRequestRow,
): RuledMergeRequest => ({
  project,
  mergeRequestId: row.id,
  async call(tx, userIds) {
    const target = mergeRequestNoteable(project, row);
    const people = await usersByIds(tx, userIds);
    const readers = await readersAmong(tx, services.database.points, target, people);
    const called = [...readers].filter((id) => id !== row.author_id && id !== actor.id);
    await addTodos(
      tx,
      { author: actor, target },
      called.map((userId) => ({ userId, action: 'added_approver' })),
    );
  },
});

/** The merge request, for who changes its rules: 403 where it is not open, or its project does not want rules of its own. */
async function findRuled({ db, settings, actor, subject, input }: RuleContext): Promise<MergeRequestRow> {
  const row = await findMergeRequest(db, subject, input.merge_request_iid);
  requireUpdate(subject, actor, row);
  if (row.state !== 'opened' || !(await allowsOwnRules(db, settings, subject))) throw forbidden();
  return row;
}

/** The record of a rule as it is now; 404 without it. */
async function showOwn(
  context: Parameters<typeof selectApprovals>[0],
  loaded: ShownApprovals,
  id: number,
): Promise<RuleRecord> {
  const rule = found(loaded.own.find((each) => each.id === id));
  const [record] = await presentRules(context, loaded, [rule]);
  return found(record);
}

export const ownRuleEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path,
    summary: 'Approval rules of a merge request itself: without any, those of its project hold.',
    tier: 'premium',
    access: reading,
    page: 'offset',
    input: OneMergeRequest,
    item: RuleRecord,
    handle: async (context) => {
      const { db, subject, input, page } = context;
      const row = await findMergeRequest(db, subject, input.merge_request_iid);
      const listed = await selectRules(db, { project: subject, mergeRequestId: row.id }, page);
      const loaded = await selectApprovals(context, row);
      const ids = new Set(listed.items.map(({ id }) => id));
      const rules = loaded.own.filter(({ id }) => ids.has(id));
      return { ...listed, items: await presentRules(context, loaded, rules) };
    },
  }),
  endpoint({
    method: 'POST',
    path,
    summary: "Makes an approval rule of a merge request, by itself or from one of its project's.",
    tier: 'premium',
    access: writing,
    input: Type.Object({ ...OneMergeRequest.properties, ...OwnRuleInput.properties }),
    reply: RuleRecord,
    handle: async (context) => {
      const { db, actor, subject, input } = context;
      const { merge_request_iid: _, approval_project_rule_id: sourceId, ...rule } = input;
      const row = await findRuled(context);
      const source = sourceId === undefined ? undefined : found(await selectRule(db, subject, sourceId));
      const id = await createRule(db, actor, ownerOf(context, row), rule, source);
      return showOwn(context, await selectApprovals(context, row), id);
    },
  }),
  endpoint({
    method: 'GET',
    path: pathOfOne,
    summary: 'One approval rule of a merge request itself.',
    tier: 'premium',
    access: reading,
    input: Type.Object(OneRule),
    reply: RuleRecord,
    handle: async (context) => {
      const { subject, input } = context;
      const loaded = await findApprovals(context, subject, input.merge_request_iid);
      return showOwn(context, loaded, input.approval_rule_id);
    },
  }),
  endpoint({
    method: 'PUT',
    path: pathOfOne,
    summary: 'Changes an approval rule of a merge request; a list that is sent replaces the one before.',
    tier: 'premium',
    access: writing,
    input: Type.Object({ ...OneRule, ...OwnRuleChanges.properties }),
    reply: RuleRecord,
    handle: async (context) => {
      const { db, actor, input } = context;
      const { merge_request_iid: _, approval_rule_id: id, ...changes } = input;
      const row = await findRuled(context);
      await updateRule(db, actor, ownerOf(context, row), id, changes);
      return showOwn(context, await selectApprovals(context, row), id);
    },
  }),
  endpoint({
    method: 'DELETE',
    path: pathOfOne,
    summary: 'Deletes an approval rule of a merge request.',
    tier: 'premium',
    access: writing,
    input: Type.Object(OneRule),
    reply: noContent,
    handle: async (context) => {
      const { db, actor, input, unmodified } = context;
      const row = await findRuled(context);
      await deleteRule(db, actor, ownerOf(context, row), input.approval_rule_id, unmodified);
      return null;
    },
  }),
];
