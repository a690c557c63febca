/** Epic records, in lists of epics and as parents and links show them (facts: Resource entities, Epic). */

import Type, { type Static } from 'typebox';
import type { Caller } from '../../../../kernel/actor.ts';
import type { Services } from '../../../../kernel/services.ts';
import { presentUserBasic, type Surroundings, UserBasic } from '../../../../kernel/users/records.ts';
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
import { type EpicDates, noDates } from './epic-dates.ts';
import { epicKind } from './epic-noteable.ts';
import { type EpicRow, epicWebUrl } from './epic-rows.ts';
import { epicDates, groupPathsOf, type Parent, parentsOf, selectAuthors } from './queries.ts';

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

async function authorsOf(
  db: Db,
  around: Surroundings,
  rows: readonly EpicRow[],
): Promise<Map<number, UserBasic>> {
  const ids = [...new Set(rows.map((row) => row.author_id))];
  const authors = await selectAuthors(db, ids);
  return new Map(authors.map((author) => [author.id, presentUserBasic(around, author)]));
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
