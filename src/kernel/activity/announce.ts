/**
 * Writes the announcement of a change in its transaction: the activity event of the feed, the audit event
 * with its author, and the fact that listeners get after the commit.
 */
import { sql } from 'kysely';
import { now } from '../../platform/clock.ts';
import type { Db } from '../../platform/db/database.ts';
import type { Json } from '../../platform/db/rows.ts';
import { type Fact, writeFacts } from '../../platform/outbox/outbox.ts';
import type { Actor } from '../actor.ts';

/** Actions of activity events (facts: Activity events). */
export type ActivityAction =
  | 'created'
  | 'joined'
  | 'left'
  | 'expired'
  | 'pushed'
  | 'updated'
  | 'destroyed'
  | 'closed'
  | 'reopened'
  | 'commented';

export type AuditedEntity =
  | { type: 'User'; id: number; path: string }
  | { type: 'Group'; id: number; path: string }
  | { type: 'Project'; id: number; path: string }
  | { type: 'InstanceScope'; id: 1; path: 'instance' };

export type Announcement = {
  /** The author; undefined for the system (jobs). */
  author: Pick<Actor, 'id' | 'username' | 'name' | 'sudoBy'> | undefined;
  audit?: {
    entity: AuditedEntity;
    /** snake_case, the public name of the change. */
    event: string;
    /** `change`, `from`, `to`, `add`, `remove`, `target_id`, `target_type`, `target_details`. */
    details?: Record<string, Json>;
  };
  activity?: {
    action: ActivityAction;
    projectId?: number;
    namespaceId?: number;
    targetType?: string;
    targetId?: number;
    /** Details that the record shows beside the target. */
    details?: Record<string, Json>;
    /** The event's author where it is not the announcement's (an added user joins). */
    authorId?: number;
  };
  fact?: Fact;
};

const SYSTEM = { id: -1, username: 'system', name: 'System' } as const;

/**
 * Writes the announcement; an activity event updates its project's last activity. Call it inside the
 * transaction of the change, after the change.
 */
export const announce = (tx: Db, announcement: Announcement): Promise<void> =>
  announceAll(tx, [announcement]);

/** `last_activity_at` is shown to the hour: it is not worth a write for each event. */
const HOUR_MS = 3_600_000;

/** Rows of the projects without activity in the last hour, locked in the order of their ids. */
const stale = (db: Db, ids: readonly number[], time: Date) =>
  db
    .selectFrom('projects')
    .select('id')
    .where(sql<boolean>`id = any(${[...new Set(ids)]}::bigint[])`)
    .where('last_activity_at', '<', new Date(time.getTime() - HOUR_MS))
    .orderBy('id')
    .forNoKeyUpdate();

/** Updates the project's last activity, once an hour at most. */
export async function touchProject(tx: Db, id: number): Promise<void> {
  const time = now();
  await tx
    .updateTable('projects')
    .set({ last_activity_at: time })
    .where('id', 'in', stale(tx, [id], time))
    .execute();
}

/** Writes the events and, by the same statement, their projects' last activity. */
async function writeActivities(tx: Db, rows: readonly ActivityRow[], time: Date): Promise<void> {
  const ids = rows.flatMap(({ project_id }) => project_id ?? []);
  const insert = (db: Pick<Db, 'insertInto'>) => db.insertInto('activity_events').values(rows);
  if (ids.length === 0) await insert(tx).execute();
  else
    await tx
      .with('shown', insert)
      .updateTable('projects')
      .set({ last_activity_at: time })
      .where('id', 'in', stale(tx, ids, time))
      .execute();
}

/** Rows of one statement: PostgreSQL takes 65,535 values at most. */
const MAX_ROWS = 1_000;

/** Writes many announcements, by one statement for each table. */
export async function announceAll(tx: Db, announcements: readonly Announcement[]): Promise<void> {
  const created_at = now();
  for (let start = 0; start < announcements.length; start += MAX_ROWS) {
    const batch = announcements.slice(start, start + MAX_ROWS);
    const activities = batch.flatMap((each) => activityRow(each, created_at));
    const audits = batch.flatMap((each) => auditRow(each, created_at));
    if (activities.length > 0) await writeActivities(tx, activities, created_at);
    if (audits.length > 0) await tx.insertInto('audit_events').values(audits).execute();
    await writeFacts(
      tx,
      batch.flatMap(({ fact }) => fact ?? []),
    );
  }
}

type ActivityRow = ReturnType<typeof activityRow>[number];

function activityRow({ author = SYSTEM, activity }: Announcement, created_at: Date) {
  if (!activity) return [];
  return [
    {
      action: activity.action,
      author_id: activity.authorId ?? author.id,
      project_id: activity.projectId ?? null,
      namespace_id: activity.namespaceId ?? null,
      target_type: activity.targetType ?? null,
      target_id: activity.targetId ?? null,
      details: activity.details ?? null,
      created_at,
    },
  ];
}

/** The audit event's row, if any, for a statement that writes it with the change. */
export function auditRow({ author, audit }: Announcement, created_at: Date) {
  if (!audit) return [];
  const { id, name } = author ?? SYSTEM;
  return [
    {
      author_id: id,
      entity_type: audit.entity.type,
      entity_id: audit.entity.id,
      event_name: audit.event,
      details: {
        event_name: audit.event,
        author_name: name,
        entity_path: audit.entity.path,
        ...(author?.sudoBy && { impersonated_by: author.sudoBy.username }),
        ...audit.details,
      },
      created_at,
    },
  ];
}
