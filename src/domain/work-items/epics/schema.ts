/** Parameters of epics and their lists. */
import Type, { type Static } from 'typebox';
import {
  commaList,
  date,
  dateTime,
  deprecated,
  integerId,
  notBlank,
  nullable,
  stringEnum,
} from '../../../platform/http/parameters/schema.ts';
import { EpicRecord } from './records/epic-records.ts';

const iid = integerId({ description: 'The number of the epic in its group.' });
export const ofEpic = { epic_iid: iid };
export const OneEpic = Type.Object(ofEpic);

const oldDay = (use: string) => Type.Optional(deprecated(nullable(date()), `${use}, which is fixed by it`));
const labels = Type.Optional(commaList(Type.String(), { maxItems: 200, description: 'Names of labels.' }));
const described = {
  description: Type.Optional(nullable(Type.String())),
  labels,
  color: Type.Optional(
    Type.String({
      ruled: { pattern: '^#(?:[0-9a-fA-F]{3}){1,2}$' },
      description: 'As `#rrggbb`, or the name of a colour.',
    }),
  ),
  confidential: Type.Optional(Type.Boolean()),
  start_date_is_fixed: Type.Optional(
    Type.Boolean({ description: 'Whether it starts on `start_date_fixed`, not with the milestones.' }),
  ),
  start_date_fixed: Type.Optional(nullable(date())),
  due_date_is_fixed: Type.Optional(
    Type.Boolean({ description: 'Whether it is due on `due_date_fixed`, not with the milestones.' }),
  ),
  due_date_fixed: Type.Optional(nullable(date())),
  start_date: oldDay('start_date_fixed'),
  end_date: oldDay('due_date_fixed'),
  due_date: oldDay('due_date_fixed'),
  parent_id: Type.Optional(nullable(Type.Integer({ minimum: 0, description: 'The id of the parent epic.' }))),
  created_at: Type.Optional(dateTime({ description: 'Only for owners and administrators.' })),
};

export const CreateInput = Type.Object({ title: Type.String(notBlank), ...described });
export type CreateInput = Static<typeof CreateInput>;

export const UpdateInput = Type.Object({
  ...ofEpic,
  title: Type.Optional(Type.String(notBlank)),
  ...described,
  add_labels: labels,
  remove_labels: labels,
  state_event: Type.Optional(stringEnum(['close', 'reopen'])),
  updated_at: Type.Optional(dateTime({ description: 'Only for owners and administrators.' })),
});
export type UpdateInput = Static<typeof UpdateInput>;

const labelsFilter = Type.Optional(
  commaList(Type.String(), {
    maxItems: 100,
    description: 'Names of labels that all are on it; `None`, `Any`.',
  }),
);
const negatable = {
  author_id: Type.Optional(Type.Integer()),
  author_username: Type.Optional(Type.String()),
  labels: labelsFilter,
  my_reaction_emoji: Type.Optional(Type.String({ description: 'The name of an emoji; `None`, `Any`.' })),
};
export const times = {
  created_after: Type.Optional(dateTime()),
  created_before: Type.Optional(dateTime()),
  updated_after: Type.Optional(dateTime()),
  updated_before: Type.Optional(dateTime()),
};
export const epicOrders = ['created_at', 'updated_at', 'title', 'id'] as const;

export const ListInput = Type.Object({
  ...negatable,
  ...times,
  not: Type.Optional(Type.Object(negatable, { description: 'What is left out.' })),
  state: Type.Optional(stringEnum(['opened', 'closed', 'all'])),
  search: Type.Optional(Type.String({ description: 'A part of the title or the description.' })),
  in: Type.Optional(
    commaList(stringEnum(['title', 'description']), { description: 'Where it is searched.' }),
  ),
  iids: Type.Optional(commaList(Type.Integer(), { maxItems: 100 })),
  iid: Type.Optional(Type.Integer()),
  confidential: Type.Optional(Type.Boolean()),
  with_labels_details: Type.Optional(Type.Boolean()),
  include_ancestor_groups: Type.Optional(Type.Boolean({ default: false })),
  include_descendant_groups: Type.Optional(Type.Boolean({ default: true })),
  order_by: Type.Optional(stringEnum(epicOrders)),
  sort: Type.Optional(stringEnum(['asc', 'desc'])),
});
export type ListInput = Static<typeof ListInput>;

export const move = {
  move_before_id: Type.Optional(integerId({ description: 'What is to stand right before it.' })),
  move_after_id: Type.Optional(integerId({ description: 'What is to stand right after it.' })),
};

const ofChild = { ...ofEpic, child_epic_id: integerId({ description: 'The id of the child epic.' }) };
export const OneChild = Type.Object(ofChild);
export const MoveChild = Type.Object({ ...ofChild, ...move });
export const CreateChild = Type.Object({
  ...ofEpic,
  title: Type.String(),
  color: described.color,
  confidential: described.confidential,
});

export const linkTypes = ['relates_to', 'blocks', 'is_blocked_by'] as const;
export type LinkType = (typeof linkTypes)[number];

export const RelateInput = Type.Object({
  ...ofEpic,
  target_group_id: Type.String({ description: 'The id or full path of the other group.' }),
  target_epic_iid: iid,
  link_type: Type.Optional(stringEnum(linkTypes)),
});
export const OneRelation = Type.Object({ ...ofEpic, related_epic_link_id: integerId() });
export const GroupRelations = Type.Object(times);

export const RelatedEpicRecord = Type.Object({
  ...EpicRecord.properties,
  related_epic_link_id: Type.Integer(),
  link_type: stringEnum(linkTypes),
  link_created_at: dateTime(),
  link_updated_at: dateTime(),
});
export type RelatedEpicRecord = Static<typeof RelatedEpicRecord>;

export const RelatedEpicLinkRecord = Type.Object({
  id: Type.Integer(),
  created_at: dateTime(),
  updated_at: dateTime(),
  link_type: stringEnum(linkTypes),
  source_epic: EpicRecord,
  target_epic: EpicRecord,
});
export type RelatedEpicLinkRecord = Static<typeof RelatedEpicLinkRecord>;
