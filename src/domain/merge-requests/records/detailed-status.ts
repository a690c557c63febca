/** `detailed_merge_status` of a row: the first check that fails, in the public API's order (facts: detailed_merge_status). */
import type { ProjectSettings } from '../../../kernel/namespaces/project-settings.ts';
import { now } from '../../../platform/clock.ts';
import type { MergeRequestRow } from './merge-request-rows.ts';

export function detailedStatus(row: MergeRequestRow, project: ProjectSettings, unresolved: number): string {
  if (row.prepared_at === null) return 'preparing';
  if (row.merge_status === 'unchecked') return 'unchecked';
  if (row.state !== 'opened') return 'not_open';
  if (row.merge_after !== null && row.merge_after > now()) return 'merge_time';
  if (row.draft) return 'draft_status';
  if (row.commits_count === 0) return 'commits_status';
  if (project.only_allow_merge_if_all_discussions_are_resolved && unresolved > 0)
    return 'discussions_not_resolved';
  if (row.merge_status === 'cannot_be_merged') return 'conflict';
  if (row.is_behind && project.merge_method !== 'merge') return 'need_rebase';
  if (project.only_allow_merge_if_pipeline_succeeds) return 'ci_must_pass';
  return 'mergeable';
}
