/** Reads errors, their events, counts and tags. */
import { type Selectable, sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { ErrorEventsTable, ErrorsTable } from '../../../platform/db/rows.ts';
import { containing } from '../../../platform/db/search.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import type { ColumnKind, KeysetRule } from '../../../platform/pagination/pagination.ts';
import type { ErrorOrder, ErrorStatus, TagSummary } from './schema.ts';

const columns = {
  id: 'errors.id',
  last_seen: 'errors.last_seen_at',
  first_seen: 'errors.first_seen_at',
  frequency: 'errors.events_count',
} as const satisfies Record<ErrorOrder | 'id', string>;

const kinds: Record<ErrorOrder, ColumnKind> = {
  last_seen: 'time',
  first_seen: 'time',
  frequency: 'integer',
};

const keyset = {
  sort: ['asc', 'desc'],
  anonymous: false,
  signedIn: true,
  link: 'cursor',
} as const;

export const errorPages: KeysetRule = {
  ...keyset,
  type: 'Error',
  orderBy: kinds,
  default: { orderBy: 'last_seen', sort: 'desc' },
};

export const eventPages: KeysetRule = {
  ...keyset,
  type: 'ErrorEvent',
  orderBy: { id: 'integer' },
  default: { orderBy: 'id', sort: 'desc' },
};

/** An error with the number of the issue that was made of it. */
export type ErrorRow = Selectable<ErrorsTable> & { issue_iid: number | null };

const selectRows = (db: Db, project: AuthorizedProject) =>
  db
    .selectFrom('errors')
    .leftJoin('issues', 'issues.id', 'errors.issue_id')
    .selectAll('errors')
    .select([
      'issues.iid as issue_iid',
      'errors.last_seen_at as last_seen',
      'errors.first_seen_at as first_seen',
      'errors.events_count as frequency',
    ])
    .where('errors.project_id', '=', project.id);

export type ErrorQuery = {
  status: ErrorStatus | 'all';
  search: string | undefined;
  by: ErrorOrder;
  sort: 'asc' | 'desc';
};

/** A page of the project's errors. */
export function selectErrors(
  db: Db,
  project: AuthorizedProject,
  { status, search, by, sort }: ErrorQuery,
  page: PageRequest,
): Promise<Page<ErrorRow>> {
  let query = selectRows(db, project);
  if (status !== 'all') query = query.where('errors.status', '=', status);
  if (search) {
    const pattern = containing(search);
    query = query.where((eb) =>
      eb.or([
        eb('errors.name', 'ilike', pattern),
        eb('errors.description', 'ilike', pattern),
        eb('errors.actor', 'ilike', pattern),
      ]),
    );
  }
  return selectPage(db, query, page, { by, sort }, columns);
}

const isElsewhere = sql<boolean>`exists (select from error_tracking_settings s
  where s.project_id = errors.project_id and s.active and not s.integrated)`;

/** The error as it is stored here, and whether the project uses an external tracker instead. */
export const selectError = (
  db: Db,
  project: AuthorizedProject,
  id: number,
): Promise<(ErrorRow & { is_elsewhere: boolean }) | undefined> =>
  selectRows(db, project)
    .select(isElsewhere.as('is_elsewhere'))
    .where('errors.id', '=', id)
    .executeTakeFirst();

export type EventRow = Selectable<ErrorEventsTable>;
type EventSummary = Omit<EventRow, 'payload'>;

/** A page of an error's events without payloads; newest first. */
export function selectEvents(db: Db, error: ErrorRow, page: PageRequest): Promise<Page<EventSummary>> {
  const query = db
    .selectFrom('error_events')
    .select([
      'id',
      'error_id',
      'project_id',
      'event_id',
      'level',
      'environment',
      'release',
      'abridged',
      'occurred_at',
      'received_at',
    ])
    .where('error_id', '=', error.id);
  return selectPage(db, query, page, { by: 'id', sort: 'desc' }, { id: 'error_events.id' });
}

const UUID = /^[\da-f]{8}-?([\da-f]{4}-?){3}[\da-f]{12}$/i;

/** An event by the application's id of it. */
export async function selectEvent(db: Db, error: ErrorRow, eventId: string): Promise<EventRow | undefined> {
  if (!UUID.test(eventId)) return undefined;
  return db
    .selectFrom('error_events')
    .selectAll()
    .where('project_id', '=', error.project_id)
    .where('event_id', '=', eventId)
    .where('error_id', '=', error.id)
    .executeTakeFirst();
}

/** Days of which counts are shown. */
export const DAYS_SHOWN = 30;

const MAX_VALUES = 10;

export type ErrorDetails = {
  /** The events of the last 30 days, hour by hour; hours without events are left out. */
  counts: { hour: string; events: number }[];
  /** By name, each with its most frequent values. */
  tags: TagSummary[];
  /** The kept event that happened last, whenever it was received; whole events come before abridged ones. */
  latest: EventRow | undefined;
};

type TagValue = { key: string; value: string; events: number };

/** What the error's record has beside its row, by one statement. */
export async function selectDetails(db: Db, { id }: ErrorRow): Promise<ErrorDetails> {
  const since = new Date(now().getTime() - DAYS_SHOWN * 86_400_000);
  const { rows } = await sql<
    Pick<ErrorDetails, 'counts'> & { tag_values: TagValue[] } & (EventRow | { id: null })
  >`
    select latest.*,
      (select coalesce(jsonb_agg(jsonb_build_object('hour', c.hour, 'events', c.events) order by c.hour), '[]')
        from error_counts c where c.error_id = ${id} and c.hour > ${since}) as counts,
      (select coalesce(jsonb_agg(jsonb_build_object('key', t.key, 'value', t.value, 'events', t.events)
          order by t.key, t.place), '[]')
        from (select key, value, events, row_number() over (partition by key order by events desc, value) as place
          from error_tags where error_id = ${id}) t
        where t.place <= ${MAX_VALUES}) as tag_values
    from (values (1)) one left join lateral (
      select * from error_events where error_id = ${id} order by abridged, occurred_at desc, id desc limit 1) latest on true`.execute(
    db,
  );
  const [row] = rows;
  if (!row) throw new Error('a row without any event, too');
  const { counts, tag_values, ...latest } = row;
  const byKey = Map.groupBy(tag_values, ({ key }) => key);
  return {
    counts,
    tags: [...byKey].map(([key, values]) => ({
      key,
      values: values.map(({ value, events }) => ({ value, events })),
    })),
    latest: latest.id === null ? undefined : latest,
  };
}
