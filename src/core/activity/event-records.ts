/** Activity events as records (spec: Activity event record; facts: Activity events). */
import Type, { type Static } from 'typebox';
import { dateTime, nullable, stringEnum } from '../../platform/http/schema.ts';
import { presentUserBasic, type Surroundings, UserBasic } from '../identity/records.ts';
import type { PushData } from '../repositories/pushes.ts';
import { NoteRecord } from '../work/note-records.ts';
import type { EventNote, EventRow } from './event-rows.ts';

const PushRecord = Type.Object({
  commit_count: Type.Integer(),
  action: stringEnum(['created', 'removed', 'pushed']),
  ref_type: stringEnum(['branch', 'tag']),
  commit_from: nullable(Type.String()),
  commit_to: nullable(Type.String()),
  ref: nullable(Type.String()),
  commit_title: nullable(Type.String()),
  ref_count: nullable(
    Type.Integer({ description: 'Of a push of many refs, how many; they have no other event.' }),
  ),
});

const EventNoteRecord = Type.Object({ ...NoteRecord.properties, attachment: Type.Null() });

const WikiPageRecord = Type.Object({
  format: Type.String(),
  slug: Type.String(),
  title: Type.String(),
  wiki_page_meta_id: Type.Integer(),
});

export const EventRecord = Type.Object({
  id: Type.Integer(),
  title: Type.Null(),
  project_id: Type.Integer(),
  action_name: Type.String(),
  target_id: nullable(Type.Integer()),
  target_iid: nullable(Type.Integer()),
  target_type: nullable(Type.String()),
  author_id: Type.Integer(),
  data: Type.Optional(Type.Null({ description: 'With a note, in the list of a project.' })),
  target_title: nullable(Type.String()),
  created_at: dateTime(),
  note: Type.Optional(EventNoteRecord),
  author: UserBasic,
  author_username: Type.String(),
  imported: Type.Boolean(),
  imported_from: Type.String(),
  push_data: Type.Optional(PushRecord),
  wiki_page: Type.Optional(WikiPageRecord),
});
export type EventRecord = Static<typeof EventRecord>;

/** Details by announcers: each has its own, so all are optional. */
type Details = {
  push_data?: PushData;
  wiki_page?: Static<typeof WikiPageRecord>;
  /** Of a destroyed target. */
  title?: string;
  target_title?: string;
};
// Pushes, wikis and milestones gave announce() JSON of these shapes.
const detailsOf = ({ details }: Pick<EventRow, 'details'>): Details => (details ?? {}) as Details;

const pushNames = { created: 'pushed new', removed: 'deleted', pushed: 'pushed to' } as const;

const plainNames: ReadonlyMap<string, string> = new Map(
  Object.entries({
    closed: 'closed',
    commented: 'commented on',
    joined: 'joined',
    left: 'left',
    expired: 'removed due to membership expiration from',
    destroyed: 'destroyed',
  }),
);

/** The public name of the action; created or reopened issues and milestones are `opened`. */
export function actionName(event: Pick<EventRow, 'action' | 'target_type' | 'details'>): string {
  const { action, target_type: target } = event;
  if (action === 'pushed') return pushNames[detailsOf(event).push_data?.action ?? 'pushed'];
  if (action === 'created' && target === null) return 'created';
  if (target === 'WikiPage::Meta' && (action === 'created' || action === 'updated')) return action;
  return plainNames.get(action) ?? 'opened';
}

/** The note's present type: a reply makes it part of a thread. */
const noteType = (note: EventNote): string =>
  note.positioned ? 'DiffNote' : note.in_thread ? 'DiscussionNote' : 'Note';

/** The record; `record` is that of its note, if it has one. A note has the title of its noteable. */
export function presentEvent(
  around: Surroundings,
  event: EventRow,
  record: NoteRecord | undefined,
  inProject: boolean,
): EventRecord {
  const { id, project_id, target_id, author, note, milestone } = event;
  const details = detailsOf(event);
  const issue = note ? null : event.issue;
  const about = event.issue ?? event.snippet ?? milestone ?? event.wiki_page;
  const title = about?.title ?? details.title ?? details.target_title;
  return {
    id,
    title: null,
    project_id,
    action_name: actionName(event),
    target_id,
    target_iid: issue?.iid ?? milestone?.iid ?? target_id,
    target_type: note ? noteType(note) : event.target_type,
    author_id: author.id,
    ...(note && inProject && { data: null }),
    target_title: title ?? null,
    created_at: event.created_at.toISOString(),
    ...(record && { note: { ...record, attachment: null } }),
    author: presentUserBasic(around, author),
    author_username: author.username,
    imported: false,
    imported_from: 'none',
    ...(details.push_data && { push_data: details.push_data }),
    ...(details.wiki_page && { wiki_page: details.wiki_page }),
  };
}
