/**
 * What a change leaves behind, in its own transaction: the activity event that the feed shows, the audit event that says
 * who did it, and the fact that listeners hear after the commit.
 */
import { now } from '../../platform/clock.ts';
import type { Db } from '../../platform/db/database.ts';
import type { Json } from '../../platform/db/rows.ts';
import { type Fact, writeFacts } from '../../platform/outbox/outbox.ts';
import type { Actor } from '../identity/actor.ts';

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
  /** Who acted; the system itself when undefined (jobs). */
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
    /** What the event shows of itself beside its target. */
    details?: Record<string, Json>;
    /** Whose event it is, when it is not the author's (somebody added joins). */
    authorId?: number;
  };
  fact?: Fact;
};

const SYSTEM = { id: -1, username: 'system', name: 'System' } as const;

/** Writes all that the announcement names. Call it inside the transaction of the change, after the change. */
export const announce = (tx: Db, announcement: Announcement): Promise<void> =>
  announceAll(tx, [announcement]);

/** Rows of one statement: PostgreSQL takes 65,535 values at most. */
const MOST_ROWS = 1_000;

/** The same for many announcements, by one statement for each table that they are written to. */
export async function announceAll(tx: Db, announcements: readonly Announcement[]): Promise<void> {
  const created_at = now();
  for (let start = 0; start < announcements.length; start += MOST_ROWS) {
    const batch = announcements.slice(start, start + MOST_ROWS);
    const activities = batch.flatMap((each) => activityRow(each, created_at));
    const audits = batch.flatMap((each) => auditRow(each, created_at));
    if (activities.length > 0) await tx.insertInto('activity_events').values(activities).execute();
    if (audits.length > 0) await tx.insertInto('audit_events').values(audits).execute();
    await writeFacts(
      tx,
      batch.flatMap(({ fact }) => fact ?? []),
    );
  }
}

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

/** The row of what is audited, if anything: for a statement that writes it together with the change. */
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
