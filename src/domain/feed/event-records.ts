/** Activity events as records (spec: Activity event record; facts: Activity events). */
import Type, { type Static } from 'typebox';
import type { ActivityTarget } from '../../kernel/activity/targets.ts';
import { presentUserBasic, type Surroundings, UserBasic } from '../../kernel/users/records.ts';
import { dateTime, nullable, stringEnum } from '../../platform/http/parameters/schema.ts';
import { NoteRecord } from '../conversation/index.ts';
import type { EventRow } from './event-rows.ts';

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
  push_data?: Static<typeof PushRecord>;
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
    merged: 'accepted',
    approved: 'approved',
  }),
);

/** The public name of the action; created or reopened issues and milestones are `opened`. */
export function actionName(
  targets: readonly Pick<ActivityTarget, 'type' | 'actionNames'>[],
  event: Pick<EventRow, 'action' | 'target_type' | 'details'>,
): string {
  const { action, target_type } = event;
  if (action === 'pushed') return pushNames[detailsOf(event).push_data?.action ?? 'pushed'];
  if (action === 'created' && target_type === null) return 'created';
  const target = targets.find(({ type }) => type === target_type);
  return target?.actionNames?.[action] ?? plainNames.get(action) ?? 'opened';
}

/** The record; `note` is that of its note, if it has one. A note has the title of its noteable. */
export function presentEvent(
  around: Surroundings,
  targets: readonly ActivityTarget[],
  event: EventRow,
  note: NoteRecord | undefined,
  inProject: boolean,
): EventRecord {
  const { id, project_id, target_id, author, target } = event;
  const details = detailsOf(event);
  return {
    id,
    title: null,
    project_id,
    action_name: actionName(targets, event),
    target_id,
    target_iid: (note ? null : target?.iid) ?? target_id,
    // The present type of a note: a reply makes it part of a thread.
    target_type: note ? (note.type ?? 'Note') : event.target_type,
    author_id: author.id,
    ...(note && inProject && { data: null }),
    target_title: target?.title ?? details.title ?? details.target_title ?? null,
    created_at: event.created_at.toISOString(),
    ...(note && { note: { ...note, attachment: null } }),
    author: presentUserBasic(around, author),
    author_username: author.username,
    imported: false,
    imported_from: 'none',
    ...(details.push_data && { push_data: details.push_data }),
    ...(details.wiki_page && { wiki_page: details.wiki_page }),
  };
}
