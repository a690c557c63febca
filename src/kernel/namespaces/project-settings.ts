/** Project settings: one table of schemas with their defaults, stored as jsonb, in every full record. */
import Type, { type Static } from 'typebox';
import { nullable, stringEnum } from '../../platform/http/parameters/schema.ts';
import { MAX_LIMIT } from '../repository-size/rules.ts';
import { type ContainerExpirationPolicy, defaultExpirationPolicy } from './expiration-policy.ts';
import { defaultCleanupPolicy, type PackagesCleanupPolicy } from './packages-cleanup-policy.ts';

const access = (value: 'disabled' | 'private' | 'enabled' = 'enabled') =>
  stringEnum(['disabled', 'private', 'enabled'], { default: value });
const publicAccess = (value: 'disabled' | 'private' | 'enabled' | 'public') =>
  stringEnum(['disabled', 'private', 'enabled', 'public'], { default: value });
const boolean = (value: boolean) => Type.Boolean({ default: value });
/** Characters of a description template: each record of the project has it. */
const MAX_TEMPLATE_LENGTH = 16_384;
const text = (maxLength: number) => nullable(Type.String({ maxLength, default: null }));

export const ProjectSettingsSchema = Type.Object({
  // Features and their access
  issues_access_level: access(),
  repository_access_level: access(),
  merge_requests_access_level: access(),
  forking_access_level: access(),
  wiki_access_level: access(),
  builds_access_level: access(),
  snippets_access_level: access(),
  pages_access_level: publicAccess('private'),
  analytics_access_level: access(),
  container_registry_access_level: access(),
  security_and_compliance_access_level: access('private'),
  releases_access_level: access(),
  environments_access_level: access(),
  feature_flags_access_level: access(),
  infrastructure_access_level: access(),
  monitor_access_level: access(),
  model_experiments_access_level: access(),
  model_registry_access_level: access(),
  package_registry_access_level: publicAccess('enabled'),
  requirements_access_level: access(),
  // Work
  emails_enabled: boolean(true),
  show_diff_preview_in_email: boolean(true),
  request_access_enabled: boolean(true),
  lfs_enabled: boolean(true),
  resolve_outdated_diff_discussions: boolean(false),
  autoclose_referenced_issues: boolean(true),
  enforce_auth_checks_on_uploads: boolean(true),
  warn_about_potentially_unwanted_characters: boolean(true),
  printing_merge_request_link_enabled: boolean(true),
  only_allow_merge_if_pipeline_succeeds: boolean(false),
  allow_merge_on_skipped_pipeline: nullable(Type.Boolean({ default: null })),
  only_allow_merge_if_all_discussions_are_resolved: boolean(false),
  only_allow_merge_if_all_status_checks_passed: boolean(false),
  remove_source_branch_after_merge: nullable(Type.Boolean({ default: true })),
  merge_method: stringEnum(['merge', 'rebase_merge', 'ff'], { default: 'merge' }),
  squash_option: stringEnum(['never', 'always', 'default_on', 'default_off'], { default: 'default_off' }),
  mr_default_target_self: boolean(false),
  merge_request_title_regex: nullable(
    Type.String({
      maxLength: 255,
      default: null,
      ruled: { format: 're2' },
      description: 'What titles of merge requests that are merged match, in the syntax of RE2.',
    }),
  ),
  merge_request_title_regex_description: text(255),
  suggestion_commit_message: text(255),
  merge_commit_template: text(500),
  squash_commit_template: text(500),
  issue_branch_template: text(255),
  issues_template: text(MAX_TEMPLATE_LENGTH),
  merge_requests_template: text(MAX_TEMPLATE_LENGTH),
  approvals_before_merge: Type.Integer({ minimum: 0, maximum: 100, default: 0 }),
  // Builds
  build_git_strategy: stringEnum(['fetch', 'clone'], { default: 'fetch' }),
  build_timeout: Type.Integer({ minimum: 1, default: 3_600 }),
  auto_cancel_pending_pipelines: stringEnum(['enabled', 'disabled'], { default: 'enabled' }),
  ci_config_path: text(255),
  ci_default_git_depth: nullable(Type.Integer({ minimum: 0, maximum: 1_000, default: 20 })),
  ci_forward_deployment_enabled: boolean(true),
  ci_forward_deployment_rollback_allowed: boolean(true),
  ci_allow_fork_pipelines_to_run_in_parent_project: boolean(true),
  ci_separated_caches: boolean(true),
  ci_pipeline_variables_minimum_override_role: stringEnum(
    ['no_one_allowed', 'owner', 'maintainer', 'developer'],
    {
      default: 'developer',
    },
  ),
  ci_push_repository_for_job_token_allowed: boolean(false),
  ci_delete_pipelines_in_seconds: nullable(Type.Integer({ minimum: 1, default: null })),
  allow_pipeline_trigger_approve_deployment: boolean(false),
  keep_latest_artifact: boolean(true),
  max_artifacts_size: nullable(Type.Integer({ minimum: 0, default: null })),
  repository_size_limit: nullable(
    Type.Integer({
      minimum: 0,
      maximum: MAX_LIMIT,
      default: null,
      description:
        'Largest repository with its large files, in MiB; 0 for no limit, null for that of the group. Set by administrators.',
    }),
  ),
  public_jobs: boolean(true),
  shared_runners_enabled: boolean(true),
  group_runners_enabled: boolean(true),
  resource_group_default_process_mode: stringEnum(
    ['unordered', 'oldest_first', 'newest_first', 'newest_ready_first'],
    { default: 'unordered' },
  ),
  auto_devops_enabled: boolean(false),
  auto_devops_deploy_strategy: stringEnum(['continuous', 'manual', 'timed_incremental'], {
    default: 'continuous',
  }),
});

export type ProjectSettings = Static<typeof ProjectSettingsSchema> & {
  /** Requests name the attributes of policies alone. */
  container_expiration_policy: ContainerExpirationPolicy;
  packages_cleanup_policy: PackagesCleanupPolicy;
};

/** Without the settings that exist from the Premium tier on. */
export const withoutPremium = <T extends Partial<ProjectSettings>>({
  approvals_before_merge: _approvals,
  requirements_access_level: _requirements,
  only_allow_merge_if_all_status_checks_passed: _statusChecks,
  allow_pipeline_trigger_approve_deployment: _ownDeployments,
  issues_template: _issues,
  merge_requests_template: _mergeRequests,
  repository_size_limit: _sizeLimit,
  ...settings
}: T) => settings;

/** Every setting at its default. */
export const defaultProjectSettings = {
  ...Object.fromEntries(
    Object.entries(ProjectSettingsSchema.properties).map(([name, schema]) => [
      name,
      // Each schema above carries a default of its own type.
      (schema as unknown as { default: unknown }).default,
    ]),
  ),
  container_expiration_policy: defaultExpirationPolicy,
  packages_cleanup_policy: defaultCleanupPolicy,
} as ProjectSettings;

/** The settings of a stored project, defaults filled in. */
export const projectSettings = (row: { settings: unknown }): ProjectSettings => ({
  ...defaultProjectSettings,
  // Only update and create write the column, from values of this type.
  ...(row.settings as Partial<ProjectSettings>),
});
