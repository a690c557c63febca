/** Epic records, in lists of epics and as parents and links show them (facts: Resource entities, Epic). */
import { sql } from 'kysely';
import Type, { type Static } from 'typebox';
import type { Caller } from '../../../../kernel/actor.ts';
import type { Services } from '../../../../kernel/services.ts';
import {
  presentUserBasic,
  type Surroundings,
  UserBasic,
  userBasicColumns,
} from '../../../../kernel/users/records.ts';
import type { Db } from '../../../../platform/db/database.ts';
import { date, dateTime, nullable, stringEnum } from '../../../../platform/http/parameters/schema.ts';
import { mapInTurns } from '../../../../platform/turns.ts';
import { subscribedAmong } from '../../../conversation/index.ts';
import {
  LabelBasicRecord,
  type LabelRow,
  labelsOf,
  presentLabelBasic,
  textColor,
} from '../../../planning/index.ts';
import { type DatedEpic, datesOf, type EpicDates, noDates } from './epic-dates.ts';
import { epicKind } from './epic-noteable.ts';
import { type EpicRow, epicWebUrl } from './epic-rows.ts';
import { visibleEpics } from './epic-visibility.ts';

const day = nullable(date());
const oldDay = nullable(date({ deprecated: true }));

/** The name, or with `with_labels_details` the record. */
const LabelOfEpic = Type.Unsafe<string | LabelBasicRecord>({
  ...LabelBasicRecord,
  type: ['string', 'object'],
});

export const EpicRecord = Type.Object({
  id: Type.Integer(),
  work_item_id: Type.Integer(),
  iid: Type.Integer(),
  color: Type.String(),
  text_color: Type.String(),
  group_id: Type.Integer(),
  parent_id: nullable(Type.Integer()),
  parent_iid: nullable(Type.Integer()),
  imported: Type.Boolean(),
  imported_from: Type.String(),
  title: Type.String(),
  description: nullable(Type.String()),
  confidential: Type.Boolean(),
  author: UserBasic,
  start_date: day,
  start_date_is_fixed: Type.Boolean(),
  start_date_fixed: day,
  start_date_from_inherited_source: day,
  start_date_from_milestones: oldDay,
  end_date: oldDay,
  due_date: day,
  due_date_is_fixed: Type.Boolean(),
  due_date_fixed: day,
  due_date_from_inherited_source: day,
  due_date_from_milestones: oldDay,
  state: stringEnum(['opened', 'closed']),
  web_edit_url: Type.String(),
  web_url: Type.String(),
  references: Type.Object({ short: Type.String(), relative: Type.String(), full: Type.String() }),
  reference: Type.String({ deprecated: true }),
  created_at: dateTime(),
  updated_at: dateTime(),
  closed_at: nullable(dateTime()),
  labels: Type.Array(LabelOfEpic),
  upvotes: Type.Integer(),
  downvotes: Type.Integer(),
  subscribed: Type.Optional(Type.Boolean({ description: 'Of a single epic, for who is signed in.' })),
  _links: Type.Object({
    self: Type.String(),
    epic_issues: Type.String(),
    group: Type.String(),
    parent: nullable(Type.String()),
  }),
});
export type EpicRecord = Static<typeof EpicRecord>;

export type EpicReading = {
  db: Db;
  services: Pick<Services, 'baseUrl'>;
  settings: Surroundings['settings'];
  actor: Caller;
};

export type EpicOptions = {
  withLabelsDetails?: boolean | undefined;
  /** A single epic shows whether the reader is subscribed. */
  single?: boolean;
  /** The group of the request: references to epics of other groups have the full path. */
  groupId?: number;
};

/** More levels than an epic tree can have. */
const MAX_DEPTH = 10;

/** The dates of the epics, by id, in one statement that reads their descendants and milestones. */
export async function epicDates(db: Db, ids: readonly number[]): Promise<Map<number, EpicDates>> {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<DatedEpic>`
    with recursive below(id, parent_id, start_date_is_fixed, start_date_fixed, due_date_is_fixed, due_date_fixed, level) as (
      select id, parent_id, start_date_is_fixed, start_date_fixed, due_date_is_fixed, due_date_fixed, 1
      from epics where id = any(${[...ids]}::bigint[])
      union
      select e.id, e.parent_id, e.start_date_is_fixed, e.start_date_fixed, e.due_date_is_fixed, e.due_date_fixed, b.level + 1
      from below b join epics e on e.parent_id = b.id where b.level < ${sql.lit(MAX_DEPTH)}),
    tree as (select distinct id, parent_id, start_date_is_fixed, start_date_fixed, due_date_is_fixed, due_date_fixed from below)
    select t.*, m.milestone_start, m.milestone_due from tree t left join lateral (
      select min(m.start_date) as milestone_start, max(m.due_date) as milestone_due
      from epic_issues l join issues i on i.id = l.issue_id join milestones m on m.id = i.milestone_id
      where l.epic_id = t.id) m on true`.execute(db);
  return datesOf(rows);
}

type Parent = { id: number; iid: number; namespace_id: number };

/** The parents that the reader sees: the others are not named. */
async function parentsOf(db: Db, actor: Caller, rows: readonly EpicRow[]): Promise<Map<number, Parent>> {
  const ids = [...new Set(rows.flatMap((row) => row.parent_id ?? []))];
  if (ids.length === 0) return new Map();
  const parents = await db
    .selectFrom('epics')
    .select(['id', 'iid', 'namespace_id'])
    .where('id', 'in', ids)
    .where(visibleEpics(actor))
    .execute();
  return new Map(parents.map((parent) => [parent.id, parent]));
}

async function authorsOf(
  db: Db,
  around: Surroundings,
  rows: readonly EpicRow[],
): Promise<Map<number, UserBasic>> {
  const ids = [...new Set(rows.map((row) => row.author_id))];
  const authors = await db.selectFrom('users').select(userBasicColumns).where('id', 'in', ids).execute();
  return new Map(authors.map((author) => [author.id, presentUserBasic(around, author)]));
}

async function groupPathsOf(db: Db, rows: readonly EpicRow[]): Promise<Map<number, string>> {
  const ids = [...new Set(rows.map((row) => row.namespace_id))];
  const groups = await db
    .selectFrom('namespaces')
    .select(['id', 'full_path'])
    .where('id', 'in', ids)
    .execute();
  return new Map(groups.map((group) => [group.id, group.full_path]));
}

/** The relations of the records. */
type EpicRelations = {
  baseUrl: string;
  authors: Map<number, UserBasic>;
  groupPaths: Map<number, string>;
  parents: Map<number, Parent>;
  labels: Map<number, LabelRow[]>;
  dates: Map<number, EpicDates>;
  /** Undefined where the record does not show it. */
  subscribed: Set<number> | undefined;
};

/** The records of the epics, in the order of the rows; relations are loaded once for all. */
export async function presentEpics(
  { db, services, settings, actor }: EpicReading,
  rows: readonly EpicRow[],
  options: EpicOptions = {},
): Promise<EpicRecord[]> {
  if (rows.length === 0) return [];
  const around = { baseUrl: services.baseUrl(), settings };
  const ids = rows.map(({ id }) => id);
  const [authors, groupPaths, parents, labels, dates, subscribed] = await Promise.all([
    authorsOf(db, around, rows),
    groupPathsOf(db, rows),
    parentsOf(db, actor, rows),
    labelsOf(db, 'epic', ids),
    epicDates(db, ids),
    options.single && actor ? subscribedAmong(db, actor.id, epicKind, ids) : undefined,
  ]);
  const references: EpicRelations = {
    baseUrl: around.baseUrl,
    authors,
    groupPaths,
    parents,
    labels,
    dates,
    subscribed,
  };
  const records = await mapInTurns(rows, (row) => presentEpic(row, references, options));
  return records.filter((record) => record !== undefined);
}

/** The record; undefined when its author or group was deleted meanwhile. */
function presentEpic(row: EpicRow, references: EpicRelations, options: EpicOptions): EpicRecord | undefined {
  const author = references.authors.get(row.author_id);
  const groupPath = references.groupPaths.get(row.namespace_id);
  if (!author || groupPath === undefined) return undefined;
  const dates = references.dates.get(row.id) ?? noDates;
  const parent = row.parent_id === null ? undefined : references.parents.get(row.parent_id);
  const labels = references.labels.get(row.id) ?? [];
  const webUrl = epicWebUrl(references.baseUrl, groupPath, row.iid);
  const short = `&${row.iid}`;
  const full = `${groupPath}${short}`;
  return {
    id: row.id,
    work_item_id: row.id,
    iid: row.iid,
    color: row.color,
    text_color: textColor(row.color),
    group_id: row.namespace_id,
    parent_id: parent?.id ?? null,
    parent_iid: parent?.iid ?? null,
    imported: false,
    imported_from: 'none',
    title: row.title,
    description: row.description,
    confidential: row.confidential,
    author,
    start_date: dates.start,
    start_date_is_fixed: row.start_date_is_fixed,
    start_date_fixed: row.start_date_fixed,
    start_date_from_inherited_source: dates.inheritedStart,
    start_date_from_milestones: dates.inheritedStart,
    end_date: dates.due,
    due_date: dates.due,
    due_date_is_fixed: row.due_date_is_fixed,
    due_date_fixed: row.due_date_fixed,
    due_date_from_inherited_source: dates.inheritedDue,
    due_date_from_milestones: dates.inheritedDue,
    state: row.state === 'closed' ? 'closed' : 'opened',
    web_edit_url: `${webUrl}/edit`,
    web_url: webUrl,
    references: {
      short,
      relative: (options.groupId ?? row.namespace_id) === row.namespace_id ? short : full,
      full,
    },
    reference: short,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    closed_at: row.closed_at?.toISOString() ?? null,
    labels: options.withLabelsDetails ? labels.map(presentLabelBasic) : labels.map(({ name }) => name),
    upvotes: row.upvotes,
    downvotes: row.downvotes,
    ...(references.subscribed && { subscribed: references.subscribed.has(row.id) }),
    _links: linksOf(references.baseUrl, row, parent),
  };
}

function linksOf(baseUrl: string, row: EpicRow, parent: Parent | undefined): EpicRecord['_links'] {
  const api = `${baseUrl}/api/v4/groups`;
  const self = `${api}/${row.namespace_id}/epics/${row.iid}`;
  return {
    self,
    epic_issues: `${self}/issues`,
    group: `${api}/${row.namespace_id}`,
    parent: parent ? `${api}/${parent.namespace_id}/epics/${parent.iid}` : null,
  };
}
