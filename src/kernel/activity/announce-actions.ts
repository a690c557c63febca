/**
 * Writes the announcement of a change in its transaction: the activity event of the feed, the audit event
 * with its author, and the fact that listeners get after the commit. Nothing else writes their rows.
 */
import { type RawBuilder, sql } from 'kysely';
import { now } from '../../platform/clock.ts';
import { ahead, type Db } from '../../platform/db/database.ts';
import { recordType } from '../../platform/db/recordset.ts';
import type { Json } from '../../platform/db/rows.ts';
import { runAsOne } from '../../platform/db/run-as-one.ts';
import { type Fact, insertFacts } from '../../platform/outbox/outbox.ts';
import type { Author } from '../actor.ts';

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
  | 'merged'
  | 'approved'
  | 'commented';

export type AuditedEntity =
  | { type: 'User'; id: number; path: string }
  | { type: 'Group'; id: number; path: string }
  | { type: 'Project'; id: number; path: string }
  | { type: 'InstanceScope'; id: 1; path: 'instance' };

export type Announcement = {
  /** The system (jobs) without one. */
  author?: Author | undefined;
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

/** `last_activity_at` is shown to the hour: it is not worth a write for each event. */
const SHOWN_TO = `interval '1 hour'`;

/** A statement that writes the audit events of a select: author, type and id of the entity, name, details, time. */
export const insertAudits = (select: string): string =>
  `insert into audit_events (author_id, entity_type, entity_id, event_name, details, created_at) ${select}`;

/** The columns of an announcement in a relation that a statement writes it from, with their types. */
export const announcementColumns = {
  announced_at: 'timestamptz',
  activity_action: 'text',
  activity_author_id: 'bigint',
  activity_project_id: 'bigint',
  activity_namespace_id: 'bigint',
  activity_target_type: 'text',
  activity_target_id: 'bigint',
  activity_details: 'jsonb',
  audit_author_id: 'bigint',
  audit_entity_type: 'text',
  audit_entity_id: 'bigint',
  audit_event: 'text',
  audit_details: 'jsonb',
  fact: 'text',
  fact_payload: 'jsonb',
} as const;

type AnnouncementRow = Partial<Record<keyof typeof announcementColumns, unknown>>;

/** The values of announcementColumns. */
export function announcementRow(
  { author = SYSTEM, activity, audit, fact }: Announcement,
  time: Date,
): AnnouncementRow {
  return {
    announced_at: time,
    ...(activity && {
      activity_action: activity.action,
      activity_author_id: activity.authorId ?? author.id,
      activity_project_id: activity.projectId,
      activity_namespace_id: activity.namespaceId,
      activity_target_type: activity.targetType,
      activity_target_id: activity.targetId,
      activity_details: activity.details,
    }),
    ...(audit && {
      audit_author_id: author.id,
      audit_entity_type: audit.entity.type,
      audit_entity_id: audit.entity.id,
      audit_event: audit.event,
      audit_details: {
        event_name: audit.event,
        author_name: author.name,
        entity_path: audit.entity.path,
        ...('sudoBy' in author && author.sudoBy && { impersonated_by: author.sudoBy.username }),
        ...audit.details,
      },
    }),
    ...(fact && {
      fact: fact.name,
      fact_payload: {
        ...fact.payload,
        ...('eventChain' in author && { event_chain: author.eventChain }),
        ...('adminMode' in author && author.adminMode && { admin_mode: true }),
      },
    }),
  };
}

/**
 * The parts of a `with` that write announcements from the relation, which has announcementColumns; a kind that none of
 * them has adds no part. Where the relation makes the target, its `id` is the target's, named `idName` in the fact. An
 * activity event updates its project's last activity, whose rows are locked in the order of their ids.
 */
export function announcementStatements(
  announcements: readonly Announcement[],
  relation: string,
  idName?: string,
): string[] {
  const some = (has: (announcement: Announcement) => unknown) => announcements.some(has);
  const isMade = idName !== undefined;
  return [
    some(({ activity }) => activity) &&
      `shown as (insert into activity_events
        (action, author_id, project_id, namespace_id, target_type, target_id, details, created_at)
      select activity_action, activity_author_id, activity_project_id, activity_namespace_id, activity_target_type,
        ${isMade ? 'id' : 'activity_target_id'}, activity_details, announced_at
      from ${relation} where activity_action is not null)`,
    some(({ activity }) => activity?.projectId !== undefined) &&
      `touched as (update projects p set last_activity_at = stale.at
      from (select s.id, latest.at from projects s
        join (select activity_project_id as id, max(announced_at) as at from ${relation} group by 1) latest using (id)
        where s.last_activity_at < latest.at - ${SHOWN_TO} order by s.id for no key update of s) stale
      where p.id = stale.id)`,
    some(({ audit }) => audit) &&
      `audited as (${insertAudits(`
      select audit_author_id, audit_entity_type, audit_entity_id, audit_event,
        audit_details${isMade ? ` || jsonb_build_object('target_id', id)` : ''}, announced_at
      from ${relation} where audit_event is not null`)})`,
    some(({ fact }) => fact) &&
      `announced as (${insertFacts(`
      select fact, fact_payload${isMade ? ` || jsonb_build_object('${idName}', id)` : ''}, announced_at
      from ${relation} where fact is not null`)})`,
  ].filter((part) => part !== false);
}

const given = sql.raw(recordType('given', announcementColumns));

/** Announcements as parts of a statement that changes what they are about; their rows are named `given`. */
export function announcementParts(announcements: readonly Announcement[]): RawBuilder<unknown>[] {
  const parts = announcementStatements(announcements, 'given');
  if (parts.length === 0) return [];
  const time = now();
  const rows = JSON.stringify(announcements.map((each) => announcementRow(each, time)));
  return [
    sql`given as materialized (select * from jsonb_to_recordset(${rows}::text::jsonb) as ${given})`,
    ...parts.map((part) => sql.raw(part)),
  ];
}

/** Announcements of one statement. */
const MAX_ROWS = 1_000;

/**
 * Writes many announcements by one statement. Call it inside the transaction of the changes, after them: nothing waits for
 * it, and the transaction fails with it.
 */
export async function announceAll(tx: Db, announcements: readonly Announcement[]): Promise<void> {
  for (let start = 0; start < announcements.length; start += MAX_ROWS) {
    const parts = announcementParts(announcements.slice(start, start + MAX_ROWS));
    if (parts.length > 0) await runAsOne(tx, { statements: [], parts });
  }
}

export const announce = (tx: Db, announcement: Announcement): Promise<void> =>
  announceAll(tx, [announcement]);

/** Updates the project's last activity, once an hour at most. */
export async function touchProject(tx: Db, id: number): Promise<void> {
  const time = now();
  await ahead(tx)
    .updateTable('projects')
    .set({ last_activity_at: time })
    .where('id', '=', id)
    .where('last_activity_at', '<', sql<Date>`${time}::timestamptz - ${sql.raw(SHOWN_TO)}`)
    .execute();
}
