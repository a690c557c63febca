/** Reads and writes the timeline of an incident. */
import type { Selectable } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Actor, Caller } from '../../../kernel/actor.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { presentUserBasic, type UserBasicRow, userBasicColumns } from '../../../kernel/users/records.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import type { IncidentTimelineEventsTable } from '../../../platform/db/rows.ts';
import { forbidden, invalid, notFound } from '../../../platform/failure.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import { renderEach } from '../../markdown/index.ts';
import { findIssue, type IssueRow } from '../../work-items/index.ts';
import type { TimelineEventRecord } from './schema.ts';

export type TimelineEventRow = Selectable<IncidentTimelineEventsTable>;

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
    db.selectFrom('incident_timeline_events').selectAll().where('issue_id', '=', incident.id),
    page,
    { by: 'occurred_at', sort },
    { occurred_at: 'incident_timeline_events.occurred_at', id: 'incident_timeline_events.id' },
  );

/** The entry of the incident; 404 when there is none. */
export async function findTimelineEvent(db: Db, incident: IssueRow, id: number): Promise<TimelineEventRow> {
  const row = await db
    .selectFrom('incident_timeline_events')
    .selectAll()
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
    .executeTakeFirstOrThrow();
};

/** The locked entry; 404 when it is gone, 403 for one that the program wrote. */
async function lockEditable(tx: Db, { id }: TimelineEventRow): Promise<TimelineEventRow> {
  const row = await tx
    .selectFrom('incident_timeline_events')
    .selectAll()
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  if (!row) throw notFound('Timeline event');
  if (row.action !== null) throw forbidden('You cannot edit this timeline event.');
  return row;
}

/** Changes a member's entry. */
export const changeTimelineEvent = (
  db: Db,
  row: TimelineEventRow,
  told: TimelineChange,
): Promise<TimelineEventRow> =>
  inTransaction(db, async (tx) => {
    await lockEditable(tx, row);
    return tx
      .updateTable('incident_timeline_events')
      .set({ ...columnsOf(told), updated_at: now() })
      .where('id', '=', row.id)
      .returningAll()
      .executeTakeFirstOrThrow();
  });

/** Deletes a member's entry; `check` sees the locked entry first. */
export const removeTimelineEvent = (
  db: Db,
  row: TimelineEventRow,
  check: (row: TimelineEventRow) => void,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    check(await lockEditable(tx, row));
    await ahead(tx).deleteFrom('incident_timeline_events').where('id', '=', row.id).execute();
  });

export type TimelineReading = {
  db: Db;
  services: Needs<'database' | 'repositories' | 'registered' | 'baseUrl'>;
  settings: ApplicationSettings;
  actor: Caller;
  subject: AuthorizedProject;
};

/** The records of the entries in their order, with related records loaded in batches. */
export async function presentTimeline(
  { db, services, settings, actor, subject }: TimelineReading,
  rows: readonly TimelineEventRow[],
): Promise<TimelineEventRecord[]> {
  if (rows.length === 0) return [];
  const around = { baseUrl: services.baseUrl(), settings };
  const authors: UserBasicRow[] = await db
    .selectFrom('users')
    .select(userBasicColumns)
    .where('id', 'in', [...new Set(rows.map(({ author_id }) => author_id))])
    .execute();
  const people = new Map(authors.map((author) => [author.id, presentUserBasic(around, author)]));
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
    author: people.get(row.author_id) ?? null,
    occurred_at: row.occurred_at.toISOString(),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }));
}
