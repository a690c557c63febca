/** Milestones in requests. */

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
import { dayPattern } from './rules.ts';

export const ListInput = Type.Object({
  state: Type.Optional(stringEnum(['active', 'closed', 'all'])),
  iids: Type.Optional(
    commaList(Type.Integer(), { description: 'Numbers in the project or group; not with those around it.' }),
  ),
  title: Type.Optional(Type.String()),
  search: Type.Optional(Type.String({ description: 'A part of the title or description.' })),
  include_ancestors: Type.Optional(
    Type.Boolean({ description: 'The milestones of the groups around it as well.' }),
  ),
  include_parent_milestones: Type.Optional(deprecated(Type.Boolean(), 'include_ancestors')),
  include_descendants: Type.Optional(
    Type.Boolean({ description: 'The milestones of the groups below it as well; groups only.' }),
  ),
  updated_before: Type.Optional(dateTime()),
  updated_after: Type.Optional(dateTime()),
});
export type ListInput = Static<typeof ListInput>;

const title = Type.String(notBlank);
const day = { ruled: { pattern: dayPattern } };
const fields = {
  description: Type.Optional(nullable(Type.String({ maxLength: 1_048_576 }))),
  due_date: Type.Optional(nullable(date(day))),
  start_date: Type.Optional(nullable(date(day))),
};

export const CreateInput = Type.Object({ title, ...fields });
export type CreateInput = Static<typeof CreateInput>;

const one = { milestone_id: integerId() };
export const OneInput = Type.Object(one);
export const UpdateInput = Type.Object({
  ...one,
  title: Type.Optional(title),
  state_event: Type.Optional(stringEnum(['close', 'activate'])),
  ...fields,
});
export type MilestoneChanges = Partial<CreateInput> & { state_event?: 'close' | 'activate' };
