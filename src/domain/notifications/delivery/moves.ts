/** A group's move takes its projects along: members of each project are notified as of its own move. */
import { sql } from 'kysely';
import type { Services } from '../../../kernel/services.ts';
import { addJobs, type Task } from '../../../platform/jobs/jobs.ts';
import { notificationEvent } from '../events/events.ts';
import { fanOutJob } from './fan-out.ts';

export const GROUP_MOVED = 'notifications.group_moved';

const PAGE_SIZE = 500;

/** The fact of the move, and the last project id of the page before. */
type Moved = { fact_id: number; fact_at: string; namespace_id: number; from: string; after?: number };

type Inside = { id: number; full_path: string; group_path: string };

/** The task that fans out a group's move, a page of its projects at a time. */
export function groupMovedTask({ database }: Services): Task {
  const db = database.background;
  return async (payload) => {
    // Payloads come from the fact, or from this task.
    const moved = payload as Moved;
    const { fact_id, fact_at: at, namespace_id, from, after = 0 } = moved;
    const { rows } = await sql<Inside>`
      select p.id, n.full_path || '/' || p.path as full_path, g.full_path as group_path
      from namespaces g join namespaces n on n.ancestor_ids @> array[g.id] join projects p on p.namespace_id = n.id
      where g.id = ${namespace_id} and p.id > ${after} and not p.deleting order by p.id limit ${PAGE_SIZE}`.execute(
      db,
    );
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
