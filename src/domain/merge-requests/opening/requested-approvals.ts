/** Which approvals a merge request asks for itself (facts-merge-requests: 6.2). */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { ActorContext, WriteContext } from '../../conversation/index.ts';
import { updateRule } from '../approval-rules/actions.ts';
import { allowsOwnRules } from '../approval-settings/queries.ts';
import type { Requested } from '../changes/requested.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';

/** The request without approvals that its project does not leave to merge requests, or to one that is not open. */
export async function permittedApprovals(
  { db, services, settings }: Pick<WriteContext, 'db' | 'services' | 'settings'>,
  project: AuthorizedProject,
  requested: Requested,
  state?: MergeRequestRow['state'],
): Promise<Requested> {
  const { approvals_before_merge: asked, approval_rules_attributes: rules, ...others } = requested;
  if (asked === undefined && rules === undefined) return requested;
  const allows = services.config.tier !== 'free' && (await allowsOwnRules(db, settings, project));
  if (!allows) return others;
  return {
    ...others,
    approvals_before_merge: asked,
    ...(state === 'opened' && { approval_rules_attributes: rules }),
  };
}

/** Changes the counts of the merge request's own rules, in the caller's transaction; 404 for another's. */
export async function writeRequestedApprovals(
  tx: Db,
  { actor }: Pick<ActorContext, 'actor'>,
  project: AuthorizedProject,
  { id: mergeRequestId }: Pick<MergeRequestRow, 'id'>,
  { approval_rules_attributes: rules = [] }: Requested,
): Promise<void> {
  for (const { id, approvals_required } of rules)
    await updateRule(tx, actor, { project, mergeRequestId }, id, { approvals_required });
}
