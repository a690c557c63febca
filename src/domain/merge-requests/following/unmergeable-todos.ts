/** Tells people that a merge request cannot be merged: in its to-dos, as nothing else asks them to do something about it. */
import type { Needs } from '../../../kernel/services.ts';
import { inTransaction } from '../../../platform/db/database.ts';
import type { Task } from '../../../platform/jobs/jobs.ts';
import { addTodos } from '../../conversation/index.ts';
import { selectMergeRequest } from '../records/find-queries.ts';
import { mergeRequestNoteable } from '../records/merge-request-noteable.ts';
import { findActing } from './acting-queries.ts';

/** Nobody is the author of such a to-do but who has it. */
export const addUnmergeableTodos =
  (services: Needs<'database'>): Task =>
  async (payload) => {
    const { merge_request_id, user_ids } = payload as { merge_request_id: number; user_ids: number[] };
    const db = services.database.background;
    const row = await selectMergeRequest(db, merge_request_id);
    if (row?.state !== 'opened') return;
    for (const userId of new Set(user_ids)) {
      const acting = await findActing(services, row.project_id, userId);
      if (!acting) continue;
      const about = { author: acting.actor, target: mergeRequestNoteable(acting.project, row) };
      await inTransaction(db, (tx) => addTodos(tx, about, [{ userId, action: 'unmergeable' }]));
    }
  };
