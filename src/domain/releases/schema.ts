/** Releases in requests and responses (facts: Release). */
import Type, { type Static } from 'typebox';
import { UserBasic } from '../../kernel/users/records.ts';
import {
  atLeastOne,
  commaList,
  dateTime,
  integerId,
  nullable,
  parameterRules,
  stringEnum,
} from '../../platform/http/parameters/schema.ts';
import { MilestoneRecord } from '../planning/index.ts';
import { CommitRecord } from '../repositories/index.ts';
import { MAX_LINKS } from './links/rules.ts';
import { NewLink, ReleaseLink } from './links/schema.ts';

/** Of one release: its record has all of them, with their descriptions. */
const MAX_MILESTONES = 20;

const text = nullable(Type.String({ maxLength: 1_048_576, description: 'Markdown.' }));
const name = nullable(Type.String({ maxLength: 255, description: 'The name of the tag unless given.' }));
const released_at = Type.Optional(
  dateTime({ description: 'One of the future makes it an upcoming release; now unless given.' }),
);
const milestones = {
  milestones: Type.Optional(
    Type.Array(Type.String({ maxLength: 255 }), {
      maxItems: MAX_MILESTONES,
      description: 'Titles of milestones of the project or the groups around it.',
    }),
  ),
  milestone_ids: Type.Optional(
    commaList(integerId(), { maxItems: MAX_MILESTONES, description: 'The same by their ids.' }),
  ),
};
const oneTimeMilestones = {
  kind: 'at_most_one',
  names: ['milestones', 'milestone_ids'],
  message: '400 Bad request - Cannot specify milestones and milestone_ids at the same time',
} as const;

const one = { tag_name: Type.String({ description: 'The tag of the release.' }) };
const include_html_description = Type.Optional(
  Type.Boolean({ default: false, description: 'The description as HTML as well.' }),
);
const sort = Type.Optional(stringEnum(['asc', 'desc'], { default: 'desc' }));
const order_by = Type.Optional(stringEnum(['released_at', 'created_at'], { default: 'released_at' }));

export const ListInput = Type.Object({
  order_by,
  sort,
  include_html_description,
  updated_before: Type.Optional(dateTime()),
  updated_after: Type.Optional(dateTime()),
});
export type ListInput = Static<typeof ListInput>;

export const GroupListInput = Type.Object({
  sort,
  simple: Type.Optional(Type.Boolean({ default: false, description: 'Only what is in the release itself.' })),
});

export const TagInput = Type.Object(one);
export const OneInput = Type.Object({ ...one, include_html_description });

export const CreateInput = Type.Object(
  {
    tag_name: Type.String({ minLength: 1, maxLength: 1_000, description: 'It is made where it is missing.' }),
    tag_message: Type.Optional(Type.String({ description: 'Makes a new tag an annotated one.' })),
    ref: Type.Optional(Type.String({ description: 'A branch, another tag or a commit for a new tag.' })),
    name: Type.Optional(name),
    description: Type.Optional(text),
    assets: Type.Optional(
      Type.Object({ links: Type.Optional(Type.Array(NewLink, { maxItems: MAX_LINKS })) }),
    ),
    ...milestones,
    released_at,
    legacy_catalog_publish: Type.Optional(
      Type.Boolean({ description: 'Accepted; there is no catalogue of components.' }),
    ),
  },
  parameterRules(oneTimeMilestones),
);
export type CreateInput = Static<typeof CreateInput>;

const changes = { name: Type.Optional(name), description: Type.Optional(text), released_at, ...milestones };
export const UpdateInput = Type.Object(
  { ...one, ...changes },
  parameterRules(atLeastOne(Object.keys(changes)), oneTimeMilestones),
);
export type ReleaseChanges = Omit<Static<typeof UpdateInput>, 'tag_name'>;

export const LatestInput = Type.Object({ order_by });
export const LatestBelowInput = Type.Object({
  suffix_path: Type.String({ description: 'What follows the tag in the address of the release.' }),
  order_by,
});

const MilestoneWithStats = Type.Object({
  ...MilestoneRecord.properties,
  issue_stats: Type.Object(
    { total: Type.Integer(), closed: Type.Integer() },
    { description: "The project's own issues that are not confidential, where the caller reads issues." },
  ),
});
export type MilestoneWithStats = Static<typeof MilestoneWithStats>;

const basic = {
  name: Type.String(),
  tag_name: Type.String(),
  description: nullable(Type.String()),
  description_html: Type.Optional(Type.String()),
  created_at: dateTime(),
  released_at: dateTime(),
  upcoming_release: Type.Boolean(),
};
const forReaders = { description: 'For those who read the code.' };
const details = {
  author: UserBasic,
  milestones: Type.Array(MilestoneWithStats),
  assets: Type.Object({
    count: Type.Integer(),
    sources: Type.Optional(
      Type.Array(Type.Object({ format: Type.String(), url: Type.String() }), forReaders),
    ),
    links: Type.Array(ReleaseLink),
  }),
  _links: Type.Object({
    self: Type.String(),
    edit_url: Type.Optional(Type.String({ description: 'For those who may change the release.' })),
    closed_issues_url: Type.String(),
    closed_merge_requests_url: Type.String(),
    merged_merge_requests_url: Type.String(),
    opened_issues_url: Type.String(),
    opened_merge_requests_url: Type.String(),
  }),
};
const code = {
  commit: Type.Optional(nullable(Type.Object(CommitRecord.properties, forReaders))),
  commit_path: Type.Optional(Type.String(forReaders)),
  tag_path: Type.Optional(Type.String(forReaders)),
  evidences: Type.Optional(
    Type.Array(
      Type.Object({ sha: Type.String(), filepath: Type.String(), collected_at: dateTime() }),
      forReaders,
    ),
  ),
};

export const Release = Type.Object({ ...basic, ...details, ...code });
export type Release = Static<typeof Release>;

export const GroupRelease = Type.Object({
  ...basic,
  ...Type.Partial(Type.Object(details)).properties,
  ...code,
});
