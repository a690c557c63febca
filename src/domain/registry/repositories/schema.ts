/** Repositories of images and their tags in requests and responses (facts: Container registry). */
import Type, { type Static } from 'typebox';
import {
  atLeastOne,
  dateTime,
  deprecated,
  integerId,
  nullable,
  parameterRules,
  stringEnum,
} from '../../../platform/http/parameters/schema.ts';

const flag = (description: string) => Type.Optional(Type.Boolean({ default: false, description }));
const shown = {
  tags: flag('With the first tags of each, by name.'),
  tags_count: flag('With the number of tags.'),
};
export const ListInput = Type.Object(shown);
export const OneInput = Type.Object({ id: integerId(), ...shown, size: flag('With the size of its blobs.') });
export type Shown = Partial<Static<typeof OneInput>>;

const one = { repository_id: integerId() };
export const OneRepository = Type.Object(one);
export const TagsInput = Type.Object({
  ...one,
  sort: Type.Optional(stringEnum(['asc', 'desc'], { default: 'asc' })),
});
export const OneTag = Type.Object({ ...one, tag_name: Type.String() });

const re2 = Type.String({ maxLength: 255, ruled: { format: 're2' } });
const pattern = (description: string) => Type.Optional(Type.String({ ...re2, description }));
export const TagsDeletion = Type.Object(
  {
    ...one,
    name_regex_delete: pattern('Names of tags that go: the whole name matches, in the syntax of RE2.'),
    name_regex: Type.Optional(deprecated(re2, 'name_regex_delete')),
    name_regex_keep: pattern('Names of tags that stay, whatever else matches.'),
    keep_n: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 1_000_000_000, description: 'So many of the newest stay.' }),
    ),
    older_than: Type.Optional(
      Type.String({
        ruled: { pattern: '^\\d{1,6} *(h|d|w|month|months|hours?|days?|weeks?)$' },
        description: 'Tags that were pushed within this time stay, such as `1h`, `2d`, `1month`.',
      }),
    ),
  },
  parameterRules(
    atLeastOne(
      ['name_regex', 'name_regex_delete'],
      'name_regex, name_regex_delete are missing, at least one parameter must be provided',
    ),
  ),
);
export type TagsDeletion = Static<typeof TagsDeletion>;

export const RegistryTag = Type.Object({
  name: Type.String(),
  path: Type.String(),
  location: Type.String(),
});

export const RegistryTagDetails = Type.Object({
  ...RegistryTag.properties,
  revision: nullable(Type.String({ description: 'Of the configuration; null for what has none.' })),
  short_revision: Type.String(),
  digest: Type.String(),
  created_at: nullable(dateTime({ description: 'When it was last pushed.' })),
  total_size: nullable(Type.Integer({ description: 'Bytes of its layers; null for an index.' })),
});

export const RegistryRepository = Type.Object({
  id: Type.Integer(),
  name: Type.String({ description: 'Empty for that of the project itself.' }),
  path: Type.String(),
  project_id: Type.Integer(),
  location: Type.String(),
  created_at: dateTime(),
  cleanup_policy_started_at: nullable(dateTime()),
  tags_count: Type.Optional(Type.Integer()),
  tags: Type.Optional(Type.Array(RegistryTag)),
  delete_api_path: Type.String(),
  size: Type.Optional(Type.Integer({ description: 'Bytes of its blobs, each counted once.' })),
  status: nullable(stringEnum(['delete_scheduled', 'delete_ongoing'])),
});
