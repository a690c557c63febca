/** Filters of event lists, and the stored names of their values (facts: Activity events). */
import Type, { type Static } from 'typebox';
import { date, stringEnum } from '../../platform/http/parameters/schema.ts';
import { noteTypes } from './event-rows.ts';

const actions = [
  'created',
  'updated',
  'closed',
  'reopened',
  'pushed',
  'commented',
  'merged',
  'joined',
  'left',
  'destroyed',
  'expired',
  'approved',
] as const;

/** Target types by their names in requests. */
export const storedTypes = {
  epic: ['Epic'],
  issue: ['Issue'],
  merge_request: ['MergeRequest'],
  milestone: ['Milestone'],
  note: noteTypes,
  project: ['Project'],
  snippet: ['Snippet'],
  user: ['User'],
  wiki: ['WikiPage::Meta'],
  design: ['DesignManagement::Design'],
} as const satisfies Record<string, readonly string[]>;

type TargetType = keyof typeof storedTypes;
// Object.keys() loses the names' type.
const targetTypes: readonly TargetType[] = [
  'epic',
  'issue',
  'merge_request',
  'milestone',
  'note',
  'project',
  'snippet',
  'user',
  'wiki',
  'design',
];

export const filterFields = {
  action: Type.Optional(stringEnum(actions, { description: 'Only events of this action.' })),
  target_type: Type.Optional(
    stringEnum(targetTypes, { description: 'Only events on targets of this type.' }),
  ),
  before: Type.Optional(date({ description: 'Only events of the days before this one.' })),
  after: Type.Optional(date({ description: 'Only events of the days after this one.' })),
  sort: Type.Optional(stringEnum(['asc', 'desc'], { default: 'desc', description: 'By creation date.' })),
};

const Filters = Type.Object(filterFields);
export type EventFilters = Static<typeof Filters>;
