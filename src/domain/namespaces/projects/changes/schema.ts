/** Fields for creating and changing a project; older names of the same fields are accepted beside the current ones. */
import Type, { type Static, type TProperties, type TSchema } from 'typebox';
import { ExpirationPolicyAttributes } from '../../../../kernel/namespaces/expiration-policy.ts';
import { CleanupPolicyAttributes } from '../../../../kernel/namespaces/packages-cleanup-policy.ts';
import { pathPattern } from '../../../../kernel/namespaces/paths.ts';
import { deprecatedFlags } from '../../../../kernel/namespaces/project-records.ts';
import { ProjectSettingsSchema } from '../../../../kernel/namespaces/project-settings.ts';
import { TopicName } from '../../../../kernel/namespaces/topic-actions.ts';
import { assignableLevels, visibilityNames } from '../../../../kernel/policy/roles.ts';
import { refNamePattern } from '../../../../platform/git/names.ts';
import {
  atLeastOne,
  commaList,
  date,
  deprecated,
  integerId,
  nullable,
  parameterRules,
  refusedAlways,
  stringEnum,
} from '../../../../platform/http/parameters/schema.ts';
import { deprecatedPullOptions, PULL_MIRROR } from '../../../mirrors/index.ts';
import { namePattern } from './names.ts';

const nothing = { maxLength: 0 };
const off = { enum: [false] };

const refusedWhenTrue = (why: string) =>
  Type.Optional(nullable(Type.Boolean({ ruled: off, description: `Refused when true: ${why}.` })));

/** What waits for pipelines on merged results, which nothing makes. */
const trainFields = {
  merge_pipelines_enabled: refusedWhenTrue('there are no pipelines'),
  merge_trains_enabled: refusedWhenTrue('there are no merge trains'),
  merge_trains_skip_train_allowed: refusedWhenTrue('there are no merge trains'),
};

/** Where a project's code comes from, and whether it follows that: the project's row of /projects/:id/mirror/pull. */
const originFields = {
  import_url: Type.Optional(
    nullable(
      Type.String({
        maxLength: 2_048,
        description: 'A repository by http or https; a new project is made from it.',
      }),
    ),
  ),
  mirror: Type.Optional(deprecated(nullable(Type.Boolean()), PULL_MIRROR)),
  ...deprecatedPullOptions,
};
const templateFields = {
  template_name: Type.Optional(
    Type.String({ ruled: nothing, description: 'Refused: there are no templates yet.' }),
  ),
  template_project_id: Type.Optional(
    Type.Integer({ ruled: refusedAlways, description: 'Refused: there are no templates yet.' }),
  ),
  use_custom_template: Type.Optional(
    Type.Boolean({ ruled: off, description: 'Refused when true: there are no templates yet.' }),
  ),
};

/** The same schema without its default: in a request, absent means unchanged. */
function optional<T extends TSchema>(schema: T) {
  const { default: _, ...rest } = schema as T & { default?: unknown };
  // Only an annotation is removed: the type is the same.
  return Type.Optional(Type.Unsafe<Static<T>>(rest as TSchema));
}

const settingFields = Object.fromEntries(
  Object.entries(ProjectSettingsSchema.properties).map(([name, schema]) => [name, optional(schema)]),
) as unknown as {
  [Name in keyof typeof ProjectSettingsSchema.properties]: ReturnType<
    typeof Type.Optional<(typeof ProjectSettingsSchema.properties)[Name]>
  >;
};

const deprecatedFields = {
  ...Type.Partial(Type.Object(deprecatedFlags)).properties,
  tag_list: Type.Optional(deprecated(commaList(TopicName, { maxItems: 100 }), 'topics')),
} satisfies TProperties;

const Name = Type.String({ maxLength: 255, ruled: { pattern: namePattern } });
const Path = Type.String({ maxLength: 255, ruled: { pattern: pathPattern } });

const ownFields = {
  description: Type.Optional(nullable(Type.String({ maxLength: 2_000 }))),
  visibility: Type.Optional(stringEnum(visibilityNames)),
  default_branch: Type.Optional(
    Type.String({ minLength: 1, maxLength: 255, ruled: { pattern: refNamePattern } }),
  ),
  topics: Type.Optional(
    commaList(TopicName, {
      maxItems: 100,
      description: 'Everybody sees which topics there are, also those that only private projects have.',
    }),
  ),
  repository_storage: Type.Optional(
    Type.String({
      ruled: { format: 'storage-name' },
      description: 'Where a new project is kept, or one is moved to. Passed over but for administrators.',
    }),
  ),
  ...originFields,
  ...trainFields,
  ...deprecatedFields,
  container_expiration_policy_attributes: Type.Optional(ExpirationPolicyAttributes),
  packages_cleanup_policy_attributes: Type.Optional(CleanupPolicyAttributes),
  ...settingFields,
} satisfies TProperties;

export const CreateProject = Type.Object(
  {
    name: Type.Optional(Name),
    path: Type.Optional(Path),
    namespace_id: Type.Optional(
      Type.Integer({ description: "Where it goes; the caller's own namespace when absent." }),
    ),
    initialize_with_readme: Type.Optional(
      Type.Boolean({ default: false, description: 'With a first commit of a README.md.' }),
    ),
    ...templateFields,
    ...ownFields,
  },
  parameterRules(atLeastOne(['name', 'path'], '400 Bad request - "name" not given')),
);
export type CreateProject = Static<typeof CreateProject>;

export const ForkProject = Type.Object({
  namespace_id: Type.Optional(Type.Integer({ description: 'The namespace that it goes to.' })),
  namespace_path: Type.Optional(Type.String({ minLength: 1, description: 'The same, by full path.' })),
  namespace: Type.Optional(deprecated(Type.String({ minLength: 1 }), 'namespace_id or namespace_path')),
  path: Type.Optional(Path),
  name: Type.Optional(Name),
  description: Type.Optional(nullable(Type.String({ maxLength: 2_000 }))),
  visibility: Type.Optional(stringEnum(visibilityNames)),
  mr_default_target_self: Type.Optional(Type.Boolean()),
  branches: Type.Optional(Type.String({ minLength: 1, description: 'The only branch to take along.' })),
});
export type ForkProject = Static<typeof ForkProject>;

export const UpdateProject = Type.Object({
  name: Type.Optional(Name),
  path: Type.Optional(Path),
  mirror_user_id: Type.Optional(deprecated(integerId(), PULL_MIRROR)),
  ...ownFields,
});
export type UpdateProject = Static<typeof UpdateProject>;

export const ShareProject = Type.Object({
  group_id: Type.Integer(),
  group_access: Type.Unsafe<number>({ type: 'integer', enum: [...assignableLevels] }),
  expires_at: Type.Optional(nullable(date())),
});

export const ProjectGroupLink = Type.Object({
  id: Type.Integer(),
  project_id: Type.Integer(),
  group_id: Type.Integer(),
  group_access: Type.Integer(),
  expires_at: nullable(Type.String()),
});
