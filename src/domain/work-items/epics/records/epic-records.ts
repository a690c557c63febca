/** Epic records, in lists of epics and as parents and links show them (facts: Resource entities, Epic). */

import Type, { type Static } from 'typebox';
import type { Caller } from '../../../../kernel/actor.ts';
import type { Needs } from '../../../../kernel/services.ts';
import { presentUserBasic, type Surroundings, UserBasic } from '../../../../kernel/users/records.ts';
import type { Db } from '../../../../platform/db/database.ts';
import {
  date,
  dateTime,
  deprecated,
  nullable,
  stringEnum,
} from '../../../../platform/http/parameters/schema.ts';
import { mapInTurns } from '../../../../platform/turns.ts';
import { LabelBasicRecord, presentLabelBasic, textColor } from '../../../planning/index.ts';
import { noDates } from './epic-dates.ts';
import { type EpicRow, epicWebUrl } from './epic-rows.ts';
import { type EpicRelations, loadEpicRelations, type Parent } from './relation-queries.ts';

const day = nullable(date());
const oldDay = (use: string) => deprecated(day, use);

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
  start_date_from_milestones: oldDay('start_date_from_inherited_source'),
  end_date: oldDay('due_date'),
  due_date: day,
  due_date_is_fixed: Type.Boolean(),
  due_date_fixed: day,
  due_date_from_inherited_source: day,
  due_date_from_milestones: oldDay('due_date_from_inherited_source'),
  state: stringEnum(['opened', 'closed']),
  web_edit_url: Type.String(),
  web_url: Type.String(),
  references: Type.Object({ short: Type.String(), relative: Type.String(), full: Type.String() }),
  reference: deprecated(Type.String(), 'references'),
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
  services: Needs<'baseUrl'>;
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

/** The records of the epics, in the order of the rows; relations are loaded once for all. */
export async function presentEpics(
  { db, services, settings, actor }: EpicReading,
  rows: readonly EpicRow[],
  options: EpicOptions = {},
): Promise<EpicRecord[]> {
  if (rows.length === 0) return [];
  const relations = await loadEpicRelations({ db, actor }, rows, options);
  const around = { baseUrl: services.baseUrl(), settings };
  const records = await mapInTurns(rows, (row) => presentEpic(row, around, relations, options));
  return records.filter((record) => record !== undefined);
}

/** The record; undefined when its author or group was deleted meanwhile. */
function presentEpic(
  row: EpicRow,
  around: Surroundings,
  relations: EpicRelations,
  options: EpicOptions,
): EpicRecord | undefined {
  const author = relations.authors.get(row.author_id);
  const groupPath = relations.groupPaths.get(row.namespace_id);
  if (!author || groupPath === undefined) return undefined;
  const dates = relations.dates.get(row.id) ?? noDates;
  const parent = row.parent_id === null ? undefined : relations.parents.get(row.parent_id);
  const labels = relations.labels.get(row.id) ?? [];
  const webUrl = epicWebUrl(around.baseUrl, groupPath, row.iid);
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
    author: presentUserBasic(around, author),
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
    ...(relations.subscribed !== undefined && { subscribed: relations.subscribed }),
    _links: linksOf(around.baseUrl, row, parent),
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
