/** A group's move takes its projects along: members of each project are notified as of its own move. */

import type { Needs } from '../../../kernel/services.ts';
import { addJobs, type Task } from '../../../platform/jobs/jobs.ts';
import { notificationEvent } from '../events/events.ts';
import { fanOutJob } from './fan-out.ts';
import { selectInside } from './queries.ts';

export const GROUP_MOVED = 'notifications.group_moved';

const PAGE_SIZE = 500;

/** The fact of the move, and the last project id of the page before. */
type Moved = { fact_id: number; fact_at: string; namespace_id: number; from: string; after?: number };

/** The task that fans out a group's move, a page of its projects at a time. */
export function groupMovedTask({ database }: Needs<'database'>): Task {
  const db = database.background;
  return async (payload) => {
    // Payloads come from the fact, or from this task.
    const moved = payload as Moved;
    const { fact_id, fact_at: at, namespace_id, from, after = 0 } = moved;
    const rows = await selectInside(db, namespace_id, after, PAGE_SIZE);
    const jobs = rows.flatMap(({ id, full_path: to, group_path }) => {
      const told = { project_id: id, from: `${from}${to.slice(group_path.length)}`, to };
      // The group was renamed back meanwhile.
      if (told.from === to) return [];
      const event = notificationEvent('moved_project', { projectId: id, subject: { kind: 'project', id } });
      return [fanOutJob({ job: { name: `${fact_id}-${id}`, event, payload: told, at }, after: 0 })];
    });
    const last = rows.at(-1);
    if (last && rows.length === PAGE_SIZE)
      jobs.push({ task: GROUP_MOVED, payload: { ...moved, after: last.id } });
    await addJobs(db, jobs);
  };
}
