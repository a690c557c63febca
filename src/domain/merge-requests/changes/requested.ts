/** What a request for a merge request asks, and what of it its caller may have. Pure. */
import { invalid } from '../../../platform/failure.ts';
import { type CreateMergeRequest, MAX_PEOPLE, type UpdateMergeRequest } from './schema.ts';

/** Properties of the request; a missing one changes nothing. An id of 0, and null, remove. */
export type Requested = {
  title?: string | undefined;
  description?: string | null | undefined;
  state_event?: 'close' | 'reopen' | undefined;
  target_branch?: string | undefined;
  discussion_locked?: boolean | null | undefined;
  assignee_ids?: readonly number[] | undefined;
  reviewer_ids?: readonly number[] | undefined;
  labels?: readonly string[] | undefined;
  add_labels?: readonly string[] | undefined;
  remove_labels?: readonly string[] | undefined;
  milestone_id?: number | null | undefined;
  force_remove_source_branch?: boolean | null | undefined;
  allow_collaboration?: boolean | undefined;
  squash?: boolean | undefined;
  merge_after?: Date | null | undefined;
  approvals_before_merge?: number | null | undefined;
  /** Counts of rules of the merge request itself, which a new one has none of. */
  approval_rules_attributes?: readonly { id: number; approvals_required: number }[] | undefined;
  /** Seconds. */
  time_estimate?: number | undefined;
};

type Sent = Omit<CreateMergeRequest, 'title' | 'source_branch' | 'target_branch' | 'target_project_id'> &
  Partial<Pick<UpdateMergeRequest, 'title' | 'target_branch' | 'state_event' | 'discussion_locked'>>;

/** The request under the names that the rest of the program has. */
export function requestedOf(input: Sent): Requested {
  const { assignee_id, remove_source_branch, allow_maintainer_to_push, merge_after, ...rest } = input;
  const single = assignee_id === undefined ? undefined : assignee_id === null ? [] : [assignee_id];
  return {
    ...rest,
    assignee_ids: input.assignee_ids ?? single,
    force_remove_source_branch: remove_source_branch,
    allow_collaboration: input.allow_collaboration ?? allow_maintainer_to_push ?? undefined,
    squash: input.squash ?? undefined,
    merge_after: typeof merge_after === 'string' ? new Date(merge_after) : merge_after,
  };
}

export type ChangeRights = {
  /** Labels, milestone, people and times: those who manage merge requests. */
  metadata: boolean;
  /** Those who update merge requests. */
  lock: boolean;
  /** Several assignees and reviewers. */
  premium: boolean;
};

const metadataKeys = [
  'assignee_ids',
  'reviewer_ids',
  'labels',
  'add_labels',
  'remove_labels',
  'milestone_id',
  'time_estimate',
] as const;

/** Refuses more people than there may be (facts: merge requests §2.1). */
function checkPeople({ assignee_ids = [], reviewer_ids = [] }: Requested): void {
  for (const [property, ids] of Object.entries({ assignees: assignee_ids, reviewers: reviewer_ids }))
    if (new Set(ids).size > MAX_PEOPLE)
      throw invalid({ [property]: [`total must be less than or equal to ${MAX_PEOPLE}`] });
}

/**
 * The request without what the caller may not set, which the public API passes over (facts: Creation, Permissions); refused
 * with too many people.
 */
export function permitted(requested: Requested, { metadata, lock, premium }: ChangeRights): Requested {
  const kept = { ...requested };
  if (!metadata) for (const key of metadataKeys) delete kept[key];
  if (!lock) delete kept.discussion_locked;
  if (premium) {
    checkPeople(kept);
    return kept;
  }
  return {
    ...kept,
    assignee_ids: kept.assignee_ids?.slice(0, 1),
    reviewer_ids: kept.reviewer_ids?.slice(0, 1),
  };
}
