/** Inserts a merge request with its number, first version, relations and events, in the caller's transaction. */
import { sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { announcementParts } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import { runAsOne } from '../../../platform/db/run-as-one.ts';
import { addJobs } from '../../../platform/jobs/jobs.ts';
import { addTodos, type MentionTodo } from '../../conversation/index.ts';
import { insertResourceEvents } from '../../work-items/index.ts';
import { insertOwnerRules } from '../code-owners/owner-rule-actions.ts';
import { mergeRequestNoteable } from '../records/merge-request-noteable.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import { mergeRequestAnnouncement } from '../writing/announcements.ts';
import { closingStatements, type FindClosing } from '../writing/closing-actions.ts';
import { jobsForJudged } from '../writing/following-jobs.ts';
import {
  insertCommits,
  insertCommitters,
  insertVersion,
  type OpenedVersion,
  versionColumns,
} from '../writing/version-actions.ts';

export type PreparedMergeRequest = OpenedVersion & {
  sourceProjectId: number;
  sourceBranch: string;
  targetBranch: string;
  title: string;
  description: string | null;
  draft: boolean;
  squash: boolean;
  forceRemoveSourceBranch: boolean | null;
  allowCollaboration: boolean;
  milestoneId: number | null;
  mergeAfter: Date | null;
  approvalsBeforeMerge: number | null;
  /** Seconds. */
  timeEstimate: number;
  assigneeIds: readonly number[];
  reviewerIds: readonly number[];
  labelIds: readonly number[];
  mentioned: readonly MentionTodo[];
  findClosing: FindClosing;
};

/** The row with the next number of the project, whose counter is locked until the transaction ends. */
const insertRow = (tx: Db, actor: Actor, project: AuthorizedProject, made: PreparedMergeRequest) => {
  const time = now();
  return tx
    .with('counted', (db) =>
      db
        .insertInto('project_counters')
        .values({ project_id: project.id, merge_requests: 1, open_merge_requests: 1 })
        .onConflict((known) =>
          known.column('project_id').doUpdateSet({
            merge_requests: sql`project_counters.merge_requests + 1`,
            open_merge_requests: sql`project_counters.open_merge_requests + 1`,
          }),
        )
        .returning('merge_requests'),
    )
    .insertInto('merge_requests')
    .values({
      iid: sql<number>`(select merge_requests from counted)`,
      project_id: project.id,
      source_project_id: made.sourceProjectId,
      source_branch: made.sourceBranch,
      target_branch: made.targetBranch,
      author_id: actor.id,
      title: made.title,
      description: made.description,
      draft: made.draft,
      ...versionColumns(made),
      noted_sha: made.version.head,
      squash: made.squash,
      force_remove_source_branch: made.forceRemoveSourceBranch,
      allow_collaboration: made.allowCollaboration,
      milestone_id: made.milestoneId,
      merge_after: made.mergeAfter,
      approvals_before_merge: made.approvalsBeforeMerge,
      time_estimate: made.timeEstimate,
      prepared_at: time,
      created_at: time,
      updated_at: time,
    })
    .returningAll();
};

/** The inserted row; the unique index `merge_requests_open_once` refuses a second open one of the same branches. */
export async function insertMergeRequest(
  tx: Db,
  actor: Actor,
  project: AuthorizedProject,
  made: PreparedMergeRequest,
): Promise<MergeRequestRow> {
  const row = await insertRow(tx, actor, project, made).executeTakeFirstOrThrow();
  const { id } = row;
  const of = (userId: number) => ({ merge_request_id: id, user_id: userId });
  const time = now();
  const closing = await made.findClosing(tx, row);
  await runAsOne(tx, {
    statements: [
      ...closingStatements(tx, id, closing),
      insertVersion(tx, id, made.version),
      insertCommits(tx, id, made.version),
      insertCommitters(tx, id, made.version),
      ...insertOwnerRules(id, made.owners.rules ?? []),
      made.assigneeIds.length > 0
        ? tx.insertInto('merge_request_assignees').values(made.assigneeIds.map(of))
        : undefined,
      made.reviewerIds.length > 0
        ? tx
            .insertInto('merge_request_reviewers')
            .values(made.reviewerIds.map((userId) => ({ ...of(userId), created_at: time })))
        : undefined,
      made.labelIds.length > 0
        ? tx
            .insertInto('label_links')
            .values(made.labelIds.map((label_id) => ({ merge_request_id: id, label_id })))
        : undefined,
      insertResourceEvents(tx, { merge_request_id: id }, actor.id, [
        ...made.labelIds.map((labelId) => ({ kind: 'label', action: 'add', labelId }) as const),
        ...(made.milestoneId === null
          ? []
          : [{ kind: 'milestone', action: 'add', milestoneId: made.milestoneId } as const]),
      ]),
    ],
    parts: announcementParts([mergeRequestAnnouncement(actor, project, row, 'merge_request_created')]),
  });
  await addJobs(tx, jobsForJudged('unchecked', row));
  const others = (ids: readonly number[]) => ids.filter((userId) => userId !== actor.id);
  await addTodos(tx, { author: actor, target: mergeRequestNoteable(project, row) }, [
    ...others(made.assigneeIds).map((userId) => ({ userId, action: 'assigned' as const })),
    ...others(made.reviewerIds).map((userId) => ({ userId, action: 'review_requested' as const })),
    ...made.mentioned,
  ]);
  return row;
}
