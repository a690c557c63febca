/** What the checks of mergeability look at, from a row and its relations. */
import type { Tier } from '../../../kernel/config.ts';
import type { ProjectSettings } from '../../../kernel/namespaces/project-settings.ts';
import { now } from '../../../platform/clock.ts';
import { isForBranch } from '../approval-rules/rules.ts';
import type { MergeConditions } from '../mergeability/checks.ts';
import type { MergeRequestRow } from './merge-request-rows.ts';

/**
 * Beside the row: settings that hold for the project, whether the title is as they want it, its open threads, whether it has the
 * approvals that it needs, whether one that blocks it is not merged, whether a reviewer asks for changes, and the branches of each
 * external check that must pass and has not.
 */
export type MergeRelations = {
  project: ProjectSettings;
  matchesTitlePattern: boolean;
  unresolved: number;
  isApproved: boolean;
  blocked: boolean;
  changesRequested: boolean;
  unpassed: readonly (readonly string[])[];
  /** Of the newest commit; null without one. */
  pipeline: string | null;
  /** Whether others than the author have locked what it changes. */
  changesLocked: boolean;
};

/** What the tier does not have holds nothing up. */
export const mergeConditions = (
  row: MergeRequestRow,
  {
    project,
    matchesTitlePattern,
    unresolved,
    isApproved,
    blocked,
    changesRequested,
    unpassed,
    pipeline,
    changesLocked,
  }: MergeRelations,
  tier: Tier,
): MergeConditions => ({
  merge_status: row.merge_status as MergeConditions['merge_status'],
  state: row.state as MergeConditions['state'],
  hasRequestedChanges: changesRequested && tier !== 'free',
  approvals: isApproved ? 'satisfied' : 'missing',
  isBlocked: blocked && tier !== 'free',
  hasFailedStatusChecks:
    tier === 'ultimate' &&
    unpassed.some((patterns) =>
      isForBranch({ patterns, appliesToAllProtected: false }, row.target_branch, []),
    ),
  merge_after: row.merge_after,
  now: now(),
  isDraft: row.draft,
  hasCommits: row.commits_count > 0,
  hasSourceBranch: row.source_project_id !== null,
  mustResolveDiscussions: project.only_allow_merge_if_all_discussions_are_resolved,
  hasUnresolvedDiscussions: unresolved > 0,
  matchesTitlePattern,
  changesLocked,
  merge_method: project.merge_method,
  containsTargetHead: !row.is_behind,
  // The column has a check of the same values.
  pipeline: pipeline as MergeConditions['pipeline'],
  mustPipelineSucceed: project.only_allow_merge_if_pipeline_succeeds,
  allowsSkippedPipeline: project.allow_merge_on_skipped_pipeline === true,
  isAutoMerge: row.auto_merge !== null,
});
