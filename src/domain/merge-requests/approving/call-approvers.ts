/** Calls those whose approval a new merge request needs: by a to-do who is named, by mail who chose to be told. */
import { announce } from '../../../kernel/activity/announce-actions.ts';
import type { Needs } from '../../../kernel/services.ts';
import { inTransaction } from '../../../platform/db/database.ts';
import type { Task } from '../../../platform/jobs/jobs.ts';
import type { Listener } from '../../../platform/outbox/outbox.ts';
import { addTodos } from '../../conversation/index.ts';
import { findActing } from '../following/acting-queries.ts';
import { mergeRequestNoteable } from '../records/merge-request-noteable.ts';
import { selectCallable } from './queries.ts';
import { calledToApprove } from './rules.ts';

export const CALL_APPROVERS = 'merge_requests.call_approvers';
/** The fact that mails follow. */
export const APPROVERS_CALLED = 'merge_request_approvers_called';

/** Below premium no rule waits for anybody. */
export const callingListener = ({ config }: Needs<'config'>): Listener => ({
  fact: 'merge_request_created',
  task: CALL_APPROVERS,
  when: () => config.tier !== 'free',
  anyOrder: true,
});

export const callApprovers =
  (services: Needs<'database' | 'settings'>): Task =>
  async (payload) => {
    const fact = payload as { project_id: number; user_id: number; merge_request_id: number };
    const { project_id, user_id, merge_request_id } = fact;
    const db = services.database.background;
    const acting = await findActing(services, project_id, user_id);
    const found =
      acting && (await selectCallable(db, await services.settings.read(), acting.project, merge_request_id));
    if (!found) return;
    const choosers = found.choosers.map((row) => ({ id: row.user_id, mayUpdate: row.may_update }));
    const { named, told } = calledToApprove(found.loaded, choosers);
    if (named.length + told.length === 0) return;
    const about = { author: acting.actor, target: mergeRequestNoteable(acting.project, found.row) };
    await inTransaction(db, async (tx) => {
      await addTodos(
        tx,
        about,
        named.map((userId) => ({ userId, action: 'approval_required' })),
      );
      if (told.length > 0)
        await announce(tx, {
          fact: {
            name: APPROVERS_CALLED,
            payload: { project_id, user_id, merge_request_id, approver_ids: [...told] },
          },
        });
    });
  };
