/**
 * What a change leaves behind, in its own transaction: the activity event that the feed shows, the audit event that says
 * who did it, and the fact that listeners hear after the commit.
 */
import { now } from '../../platform/clock.ts';
import type { Db } from '../../platform/db/database.ts';
import type { Json } from '../../platform/db/rows.ts';
import { writeFact } from '../../platform/outbox/outbox.ts';
import type { Actor } from '../identity/actor.ts';

/** Actions of activity events (facts: Activity events). */
export type ActivityAction = 'created' | 'joined' | 'left' | 'expired';

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
    /** Whose event it is, when it is not the author's (somebody added joins). */
    authorId?: number;
  };
  fact?: { name: string; payload: Record<string, Json> };
};

const SYSTEM = { id: -1, username: 'system', name: 'System' };

/** Writes all that the announcement names. Call it inside the transaction of the change, after the change. */
export async function announce(tx: Db, announcement: Announcement): Promise<void> {
  const { audit, activity, fact } = announcement;
  const author = announcement.author ?? SYSTEM;
  const created_at = now();
  if (activity) {
    await tx
      .insertInto('activity_events')
      .values({
        action: activity.action,
        author_id: activity.authorId ?? author.id,
        project_id: activity.projectId ?? null,
        namespace_id: activity.namespaceId ?? null,
        target_type: activity.targetType ?? null,
        target_id: activity.targetId ?? null,
        created_at,
      })
      .execute();
  }
  if (audit) {
    await tx
      .insertInto('audit_events')
      .values({
        author_id: author.id,
        entity_type: audit.entity.type,
        entity_id: audit.entity.id,
        event_name: audit.event,
        details: {
          event_name: audit.event,
          author_name: author.name,
          entity_path: audit.entity.path,
          ...(announcement.author?.sudoBy && { impersonated_by: announcement.author.sudoBy.username }),
          ...audit.details,
        },
        created_at,
      })
      .execute();
  }
  if (fact) await writeFact(tx, fact.name, fact.payload);
}
