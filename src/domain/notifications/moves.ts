/** A group that moves takes its projects along: of each its members hear as of one that moves alone. */
import { sql } from 'kysely';
import { notificationEventsOf } from '../../core/notifications/events.ts';
import type { Services } from '../../core/services.ts';
import { addJobs, type Task } from '../../platform/jobs/jobs.ts';
import { fanOutJob } from './fan-out.ts';

export const GROUP_MOVED = 'notifications.group_moved';

const PAGE_SIZE = 500;

/** What is announced of a group, and, of a page of its projects, where the page before ended. */
type Moved = { fact_id: number; fact_at: string; namespace_id: number; from: string; after?: number };

type Inside = { id: number; full_path: string; group_path: string };

/** The task that hears of a group's move, some of its projects at a time. */
export function groupMovedTask({ database }: Services): Task {
  const db = database.background;
  return async (payload) => {
    // The fact of a group's move, or what this task wrote itself.
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
      // Renamed and renamed back before anybody heard of it.
      if (told.from === to) return [];
      return notificationEventsOf('project_moved', told).map((event) =>
        fanOutJob({ job: { name: `${fact_id}-${id}`, event, payload: told, at }, after: 0 }),
      );
    });
    const last = rows.at(-1);
    if (last && rows.length === PAGE_SIZE)
      jobs.push({ task: GROUP_MOVED, payload: { ...moved, after: last.id } });
    await addJobs(db, jobs);
  };
}
