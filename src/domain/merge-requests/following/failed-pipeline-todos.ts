/** Asks for something to be done about open merge requests whose head has a pipeline that failed. */
import type { Needs } from '../../../kernel/services.ts';
import { inTransaction } from '../../../platform/db/database.ts';
import type { Json } from '../../../platform/db/rows.ts';
import type { Task } from '../../../platform/jobs/jobs.ts';
import { addTodos } from '../../conversation/index.ts';
import { selectMergeRequest } from '../records/find-queries.ts';
import { mergeRequestNoteable } from '../records/merge-request-noteable.ts';
import { findActing } from './acting-queries.ts';
import { selectFrom } from './queries.ts';

export const ADD_FAILED_TODOS = 'merge_requests.add_failed_todos';

type Finished = { project_id: number; ref: string; sha: string; merge_request_id: number | null };

/** Of tags there are no merge requests. */
export const isOfFailedBranch = ({ status, tag }: Readonly<Record<string, Json>>): boolean =>
  status === 'failed' && tag === false;

/** The author's, and those of who wants it merged by itself: nobody is the author of such a to-do but who has it. */
export const addFailedTodos =
  (services: Needs<'database'>): Task =>
  async (payload) => {
    const { project_id, ref, sha, merge_request_id } = payload as unknown as Finished;
    const db = services.database.background;
    const rows =
      merge_request_id === null
        ? await selectFrom(db, project_id, ref)
        : [await selectMergeRequest(db, merge_request_id)];
    for (const row of rows) {
      if (row?.state !== 'opened' || row.head_sha !== sha) continue;
      const waiting = row.auto_merge === null ? null : row.merge_user_id;
      for (const userId of new Set([row.author_id, waiting])) {
        const acting = userId === null ? undefined : await findActing(services, row.project_id, userId);
        if (!acting) continue;
        const about = { author: acting.actor, target: mergeRequestNoteable(acting.project, row) };
        await inTransaction(db, (tx) =>
          addTodos(tx, about, [{ userId: acting.actor.id, action: 'build_failed' }]),
        );
      }
    }
  };
