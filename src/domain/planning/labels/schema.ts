/** Labels in requests and in responses. */

import Type, { type Static } from 'typebox';
import {
  atLeastOne,
  exactlyOne,
  integerId,
  nullable,
  parameterRules,
} from '../../../platform/http/parameters/schema.ts';
import { labelPattern } from './label-names.ts';
import { LabelBasicRecord } from './label-records.ts';

const GroupLabel = Type.Object({
  ...LabelBasicRecord.properties,
  open_issues_count: Type.Optional(Type.Integer()),
  closed_issues_count: Type.Optional(Type.Integer()),
  open_merge_requests_count: Type.Optional(Type.Integer()),
  subscribed: Type.Boolean(),
});
const ProjectLabel = Type.Object({
  ...GroupLabel.properties,
  priority: nullable(Type.Integer()),
  is_project_label: Type.Boolean(),
});

/** A label as a group shows it; a project adds its own fields. */
export type LabelRecord = Static<typeof GroupLabel> & Partial<Static<typeof ProjectLabel>>;

export const GroupLabelRecord = Type.Unsafe<LabelRecord>(GroupLabel);
export const ProjectLabelRecord = Type.Unsafe<LabelRecord>(ProjectLabel);

const name = Type.String({ description: 'The name of the label, or its id.' });
const include_ancestor_groups = Type.Optional(
  Type.Boolean({ default: true, description: 'The labels of the groups around it as well.' }),
);
/** For groups. */
const inside = {
  include_descendant_groups: Type.Optional(
    Type.Boolean({ description: 'The labels of the groups below it as well.' }),
  ),
  only_group_labels: Type.Optional(
    Type.Boolean({ default: true, description: 'False for the labels of projects as well.' }),
  ),
};

export const ListInput = Type.Object({
  with_counts: Type.Optional(
    Type.Boolean({ description: 'With the numbers of issues that the caller sees.' }),
  ),
  include_ancestor_groups,
  search: Type.Optional(Type.String({ description: 'A part of the name or description.' })),
  archived: Type.Optional(Type.Boolean()),
  ...inside,
});
export type ListInput = Static<typeof ListInput>;

export const OneInput = Type.Object({ name, include_ancestor_groups, ...inside });

const description = Type.Optional(nullable(Type.String({ maxLength: 524_288 })));
const archived = Type.Optional(Type.Boolean());
const color = Type.String({
  ruled: { pattern: '^#(?:[0-9a-fA-F]{3}){1,2}$' },
  description: '`#rrggbb`, `#rgb` or the name of a CSS colour.',
});
const priority = Type.Optional(
  nullable(
    Type.Integer({
      minimum: 0,
      maximum: 2_147_483_647,
      description: 'Less is more urgent; projects only. Null for none.',
    }),
  ),
);

const newName = Type.String({ ruled: { pattern: labelPattern } });

export const CreateInput = Type.Object({ name: newName, color, description, archived, priority });
export type CreateInput = Static<typeof CreateInput>;

const changes = {
  new_name: Type.Optional(newName),
  color: Type.Optional(color),
  description,
  archived,
  priority,
};
export type LabelChanges = Partial<Omit<CreateInput, 'name'>> & { new_name?: string };

/** The label in a request without it in the path: one of the two. */
const either = { label_id: Type.Optional(integerId()), name: Type.Optional(Type.String()) };
const oneOfEither = exactlyOne('label_id', 'name');
export const nameOf = ({
  label_id,
  name,
}: {
  label_id?: number | undefined;
  name?: string | undefined;
}): string => String(label_id ?? name);

/** An empty change is refused; only labels of projects have a priority there. */
const some = (word: 'group' | 'project') =>
  atLeastOne(['new_name', 'color', 'description', 'archived', ...(word === 'project' ? ['priority'] : [])]);

export const updateInput = (word: 'group' | 'project') =>
  Type.Object({ name, ...changes }, parameterRules(some(word)));
export const updateEitherInput = (word: 'group' | 'project') =>
  Type.Object({ ...either, ...changes }, parameterRules(oneOfEither, some(word)));
export const DeleteEitherInput = Type.Object(either, parameterRules(oneOfEither));
export const NameInput = Type.Object({ name });
export const SubscribableInput = Type.Object({
  subscribable_id: Type.String({ description: 'The name of the label, or its id.' }),
});
