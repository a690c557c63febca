/** Parameters and records of timeline entries. */
import Type, { type Static } from 'typebox';
import { UserBasic } from '../../../kernel/users/records.ts';
import { dateTime, integerId, nullable, stringEnum } from '../../../platform/http/parameters/schema.ts';

/** Characters of an entry. */
const MAX_NOTE_LENGTH = 10_000;

const OneIncident = Type.Object({ issue_iid: integerId() });
const note = Type.String({ maxLength: MAX_NOTE_LENGTH, description: 'Markdown.' });
const occurred_at = Type.Optional(dateTime({ description: 'Now, unless it is given.' }));

export const ListTimeline = Type.Object({
  ...OneIncident.properties,
  sort: Type.Optional(stringEnum(['asc', 'desc'], { default: 'asc' })),
});
export const AddTimelineEvent = Type.Object({ ...OneIncident.properties, note, occurred_at });
export const OneTimelineEvent = Type.Object({
  ...OneIncident.properties,
  timeline_event_id: integerId(),
});
export const ChangeTimelineEvent = Type.Object({
  ...OneTimelineEvent.properties,
  note: Type.Optional(note),
  occurred_at: Type.Optional(dateTime()),
});

export const TimelineEventRecord = Type.Object({
  id: Type.Integer(),
  note: Type.String(),
  note_html: Type.String(),
  action: nullable(Type.String({ description: 'What the program saw; null for what a person wrote.' })),
  editable: Type.Boolean(),
  author: nullable(UserBasic),
  occurred_at: dateTime(),
  created_at: dateTime(),
  updated_at: dateTime(),
});
export type TimelineEventRecord = Static<typeof TimelineEventRecord>;
