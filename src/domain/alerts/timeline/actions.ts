/** Reads and writes the timeline of an incident. */
import { type Selectable, sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Actor, Caller } from '../../../kernel/actor.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { userBasicJson } from '../../../kernel/users/queries.ts';
import { presentUserBasic, type UserBasicRow } from '../../../kernel/users/records.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import type { IncidentTimelineEventsTable } from '../../../platform/db/rows.ts';
import { forbidden, invalid, notFound } from '../../../platform/failure.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import { renderEach } from '../../markdown/index.ts';
import { findIssue, type IssueRow } from '../../work-items/index.ts';
import type { TimelineEventRecord } from './schema.ts';

/** An entry with its author, who is null when deleted meanwhile. */
export type TimelineEventRow = Selectable<IncidentTimelineEventsTable> & { author: UserBasicRow | null };

const author = sql.raw<UserBasicRow | null>(userBasicJson('incident_timeline_events.author_id')).as('author');

/** The incident by its number; 404 where the caller may not read it, and for another type of issue. */
export async function findIncident(
  db: Db,
  project: AuthorizedProject,
  caller: Caller,
  iid: number,
): Promise<IssueRow> {
  const issue = await findIssue(db, project, caller, iid);
  if (issue.issue_type !== 'incident') throw notFound('Incident');
  return issue;
}

/** A page of entries by time. */
export const selectTimeline = (
  db: Db,
  incident: IssueRow,
  sort: 'asc' | 'desc',
  page: PageRequest,
): Promise<Page<TimelineEventRow>> =>
  selectPage(
    db,
    db.selectFrom('incident_timeline_events').selectAll().select(author).where('issue_id', '=', incident.id),
    page,
    { by: 'occurred_at', sort },
    { occurred_at: 'incident_timeline_events.occurred_at', id: 'incident_timeline_events.id' },
  );

/** The entry of the incident; 404 when there is none. */
export async function findTimelineEvent(db: Db, incident: IssueRow, id: number): Promise<TimelineEventRow> {
  const row = await db
    .selectFrom('incident_timeline_events')
    .selectAll()
    .select(author)
    .where('issue_id', '=', incident.id)
    .where('id', '=', id)
    .executeTakeFirst();
  if (!row) throw notFound('Timeline event');
  return row;
}

type TimelineChange = { note?: string | undefined; occurred_at?: string | undefined };

/** The columns of an input; 400 for a blank note. */
function columnsOf({ note, occurred_at }: TimelineChange) {
  if (note !== undefined && note.trim() === '') throw invalid({ note: ["can't be blank"] });
  return {
    ...(note !== undefined && { note }),
    ...(occurred_at !== undefined && { occurred_at: new Date(occurred_at) }),
  };
}

/** Adds an entry; its time is now unless the input names one. */
export const addTimelineEvent = (
  db: Db,
  actor: Actor,
  incident: IssueRow,
  told: TimelineChange & { note: string },
): Promise<TimelineEventRow> => {
  const time = now();
  return db
    .insertInto('incident_timeline_events')
    .values({
      project_id: incident.project_id,
      issue_id: incident.id,
      author_id: actor.id,
      occurred_at: time,
      note: told.note,
      ...columnsOf(told),
      created_at: time,
      updated_at: time,
    })
    .returningAll()
    .returning(author)
    .executeTakeFirstOrThrow();
};

const refused = () => forbidden('You cannot edit this timeline event.');

/** Changes a member's entry; 404 without it, 403 for one that the program wrote. */
export async function changeTimelineEvent(
  db: Db,
  incident: IssueRow,
  id: number,
  told: TimelineChange,
): Promise<TimelineEventRow> {
  const changed = await db
    .updateTable('incident_timeline_events')
    .set({ ...columnsOf(told), updated_at: now() })
    .where('issue_id', '=', incident.id)
    .where('id', '=', id)
    .where('action', 'is', null)
    .returningAll()
    .returning(author)
    .executeTakeFirst();
  if (changed) return changed;
  await findTimelineEvent(db, incident, id);
  throw refused();
}

/** Deletes a member's entry, as changeTimelineEvent(); `check` sees the locked entry first. */
export const removeTimelineEvent = (
  db: Db,
  row: TimelineEventRow,
  check: (updatedAt: Date) => void,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    if (row.action !== null) throw refused();
    const locked = await tx
      .selectFrom('incident_timeline_events')
      .select('updated_at')
      .where('id', '=', row.id)
      .forUpdate()
      .executeTakeFirst();
    check(found(locked, 'Timeline event').updated_at);
    await ahead(tx).deleteFrom('incident_timeline_events').where('id', '=', row.id).execute();
  });

export type TimelineReading = {
  services: Needs<'database' | 'repositories' | 'registered' | 'baseUrl'>;
  settings: ApplicationSettings;
  actor: Caller;
  subject: AuthorizedProject;
};

/** The records of the entries in their order, with related records loaded in batches. */
export async function presentTimeline(
  { services, settings, actor, subject }: TimelineReading,
  rows: readonly TimelineEventRow[],
): Promise<TimelineEventRecord[]> {
  if (rows.length === 0) return [];
  const around = { baseUrl: services.baseUrl(), settings };
  const html = await renderEach(
    rows.map(({ note }) => note),
    { gfm: true },
    { services, reader: actor, project: subject },
  );
  return rows.map((row, index) => ({
    id: row.id,
    note: row.note,
    note_html: html[index] ?? '',
    action: row.action,
    editable: row.action === null,
    author: row.author && presentUserBasic(around, row.author),
    occurred_at: row.occurred_at.toISOString(),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }));
}
