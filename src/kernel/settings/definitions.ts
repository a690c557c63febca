/**
 * Application settings: each has an effect, and any other name is refused (facts: Application settings
 * fields). A row is a schema with its default; type, validation and documentation follow from it.
 */
import Type, { type Static, type TOptional, type TProperties, type TSchema, type TUnsafe } from 'typebox';
import { deprecated } from '../../platform/http/parameters/schema.ts';
import {
  BranchProtection,
  BranchProtectionChanges,
  type BranchProtectionLevel,
  branchProtectionLevels,
  branchProtectionOf,
} from '../policy/branch-protection.ts';
import { visibilityNames } from '../policy/roles.ts';
import { MAX_LIMIT } from '../repository-size/rules.ts';

const boolean = (value: boolean, description: string) => Type.Boolean({ default: value, description });
const count = (value: number, description: string, maximum = 2_147_483_647) =>
  Type.Integer({ default: value, minimum: 0, maximum, description });
const text = (value: string, description: string, maxLength = 10_000) =>
  Type.String({ default: value, maxLength, description });
/** Stored sealed; in no record or audit event. */
const secret = (description: string) =>
  Type.String({ default: '', maxLength: 10_000, writeOnly: true, description });
const choice = <const T extends readonly string[]>(names: T, value: T[number], description: string) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: names, default: value, description });
const list = (description: string) =>
  Type.Array(Type.String({ maxLength: 255 }), {
    default: [],
    maxItems: 1_000,
    commaSeparated: true,
    description,
  });

/** The public API's names. */
const importSources = [
  'github',
  'bitbucket',
  'bitbucket_server',
  'fogbugz',
  'git',
  'gitlab_project',
  'gitea',
  'manifest',
] as const;
type ImportSource = (typeof importSources)[number];

const durationUnits =
  'seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d|weeks?|w|months?|mos?|years?|yrs?|y';

/** How long a new token of a runner lasts. */
const tokenInterval = (whose: string) =>
  Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    minimum: 7_200,
    maximum: 2_147_483_647,
    default: null,
    description: `Seconds that a new token of a runner of ${whose} lasts; null for ever.`,
  });

/** A throttle over all requests of one kind: on or off, so many requests in a period (facts: Rate limits). */
const throttle = <const N extends string>(
  name: N,
  of: string,
  enabled: boolean,
  requests: number,
  period: number,
) =>
  ({
    [`${name}_enabled`]: boolean(enabled, `Whether requests ${of} are limited.`),
    [`${name}_requests_per_period`]: count(requests, `Requests ${of} that are answered in a period.`),
    [`${name}_period_in_seconds`]: count(period, 'That period, in seconds.'),
  }) as Record<`${N}_enabled`, ReturnType<typeof boolean>> &
    Record<`${N}_requests_per_period` | `${N}_period_in_seconds`, ReturnType<typeof count>>;

/** Where nothing is known of a name, and whether groups may say something else. */
const forwarding = <const F extends string>(format: F, of: string) =>
  ({
    [`${format}_package_requests_forwarding`]: boolean(
      false,
      `Requests for ${of} of a name that is unknown here lead to the public registry. What a private package is to be called, somebody may publish there first.`,
    ),
    [`lock_${format}_package_requests_forwarding`]: boolean(false, 'Groups cannot say otherwise.'),
  }) as Record<
    `${F}_package_requests_forwarding` | `lock_${F}_package_requests_forwarding`,
    ReturnType<typeof boolean>
  >;

/** Settings that belong together. */
const section = <const P extends TProperties>(title: string, about: string, properties: P) => ({
  title,
  about,
  properties,
});

/** All settings, as administrators look for them. */
export const settingSections = {
  sign_in: section(
    'Sign-up and sign-in',
    'Who may register, what a password must be, and how long people stay signed in.',
    {
      signup_enabled: boolean(true, 'Whether people may register an account themselves.'),
      require_admin_approval_after_user_signup: boolean(
        true,
        'Registered accounts wait for an administrator.',
      ),
      email_confirmation_setting: choice(
        ['off', 'soft', 'hard'],
        'off',
        'Whether an address must be confirmed.',
      ),
      domain_allowlist: list('Mail domains that may register; empty for all.'),
      domain_denylist_enabled: boolean(false, 'Whether domain_denylist applies.'),
      domain_denylist: list('Mail domains that may not register.'),
      password_authentication_enabled_for_web: boolean(true, 'Whether the sign-in page takes passwords.'),
      password_authentication_enabled_for_git: boolean(
        true,
        'Whether passwords work for Git over HTTP(S) and the password grant.',
      ),
      minimum_password_length: Type.Integer({
        default: 8,
        minimum: 8,
        maximum: 128,
        description: 'In characters.',
      }),
      password_number_required: boolean(false, 'A password must have a digit.'),
      password_symbol_required: boolean(false, 'A password must have a symbol.'),
      password_uppercase_required: boolean(false, 'A password must have an upper-case letter.'),
      password_lowercase_required: boolean(false, 'A password must have a lower-case letter.'),
      max_login_attempts: count(10, 'Failed sign-ins before an account is locked.'),
      failed_login_attempts_unlock_period_in_minutes: count(
        10,
        'Minutes until a locked account opens again.',
      ),
      session_expire_delay: Type.Integer({
        default: 10_080,
        minimum: 1,
        maximum: 525_600,
        description: 'In minutes.',
      }),
      session_expire_from_init: boolean(false, 'Sessions expire counted from sign-in, not from last use.'),
      require_two_factor_authentication: boolean(false, 'Everybody must set up two-factor authentication.'),
      two_factor_grace_period: count(48, 'Hours until required two-factor authentication must be set up.'),
      after_sign_up_text: text(
        '',
        'Shown to people whose registration waits for something, below the reason.',
      ),
      after_sign_out_path: text('', 'Where signing out leads; empty for the sign-in page.', 2_000),
    },
  ),
  tokens: section(
    'Tokens',
    'Personal, project and group access tokens: whether there are any, and how long they last.',
    {
      impersonation_enabled: boolean(true, 'Whether impersonation tokens may be made and used.'),
      disable_personal_access_tokens: boolean(false, 'Personal access tokens are refused.'),
      personal_access_token_prefix: text('glpat-', 'Put before new personal, project and group tokens.', 20),
      require_personal_access_token_expiry: boolean(true, 'New access tokens must expire.'),
      service_access_tokens_expiration_enforced: boolean(
        true,
        'Tokens of service accounts must expire as others must.',
      ),
      allow_top_level_group_owners_to_create_service_accounts: boolean(
        false,
        'Owners of top-level groups may make service accounts; always where the offering is hosted.',
      ),
      max_personal_access_token_lifetime: Type.Unsafe<number | null>({
        type: ['integer', 'null'],
        minimum: 1,
        maximum: 400,
        default: null,
        description: 'Days that an access token may live; null for 365.',
      }),
      container_registry_token_expire_delay: Type.Integer({
        default: 5,
        minimum: 1,
        maximum: 1_440,
        description: 'Minutes that a token for the container registry lasts; what was begun with it goes on.',
      }),
    },
  ),
  dependency_proxy: section(
    'Dependency proxy',
    'Images of another registry, kept for the members of groups.',
    {
      dependency_proxy_enabled: boolean(
        false,
        'Groups keep images of another registry that their members pull.',
      ),
      dependency_proxy_upstream_url: text(
        'https://registry-1.docker.io',
        'The registry behind the dependency proxies of groups, which is asked with the credentials that they have for it.',
        2_000,
      ),
    },
  ),
  packages: section(
    'Packages',
    'Who reads packages, and what becomes of requests for names that are unknown here.',
    {
      package_registry_allow_anyone_to_pull_option: boolean(
        true,
        'Projects may open their packages to everybody, whoever sees the project.',
      ),
      ...forwarding('npm', 'packages of npm'),
      ...forwarding('pypi', 'Python packages'),
      ...forwarding('maven', 'packages of Maven'),
    },
  ),
  ci: section('Continuous integration', 'What the tokens of jobs open.', {
    enforce_ci_inbound_job_token_scope_enabled: boolean(
      false,
      'Projects take the job tokens of those alone that they list.',
    ),
  }),
  runners: section('Runners', 'How the programs that run jobs get here.', {
    allow_runner_registration_token: boolean(
      true,
      'Runners may register themselves by a registration token.',
    ),
    valid_runner_registrars: Type.Array(
      Type.Unsafe<'project' | 'group'>({ type: 'string', enum: ['project', 'group'] }),
      {
        default: ['project', 'group'],
        commaSeparated: true,
        description:
          'Whose members may add runners to it: of projects, of groups. Administrators always may.',
      },
    ),
    runner_token_expiration_interval: tokenInterval('the instance'),
    group_runner_token_expiration_interval: tokenInterval('groups'),
    project_runner_token_expiration_interval: tokenInterval('projects'),
  }),
  artifacts: section('Artifacts of jobs', 'How large the files of jobs may be, and how long they are kept.', {
    max_artifacts_size: Type.Integer({
      default: 100,
      minimum: 1,
      maximum: 1_000_000,
      description: 'Largest artifact of a job, in MiB, where its project and its groups say nothing else.',
    }),
    default_artifacts_expire_in: Type.String({
      default: '30 days',
      pattern: `^(0|never|(\\d{1,9} ?(${durationUnits})( |$))+)$`,
      maxLength: 100,
      description: 'How long artifacts are kept whose job does not say it, such as `2 weeks`; 0 for ever.',
    }),
    keep_latest_artifact: boolean(
      true,
      'Artifacts of the last successful pipeline of each ref do not expire, where the project wants it so.',
    ),
  }),
  oauth: section('OAuth 2.0 provider', 'Programs that sign people in with this site.', {
    user_oauth_applications: boolean(true, 'Users may register applications of their own.'),
    oauth_plain_http_allowed: boolean(
      true,
      'Redirect URIs may be plain HTTP where the host is not this machine (loopback always may).',
    ),
    ropc_without_client_credentials: boolean(
      true,
      'The password grant works without an application, for every scope but sudo, admin_mode and read_service_ping. Turn it off unless a program needs it.',
    ),
    admin_mode: boolean(
      false,
      "Administrators' rights count only in a session that has entered admin mode, and by a token with the scope admin_mode.",
    ),
    disable_admin_oauth_scopes: boolean(
      false,
      'Applications that are not trusted get no api, sudo or admin_mode scope from administrators.',
    ),
  }),
  creation: section('Creation and defaults', 'Who may create groups and projects, and how new ones are.', {
    default_project_visibility: choice(visibilityNames, 'private', 'Visibility of new projects.'),
    default_group_visibility: choice(visibilityNames, 'private', 'Visibility of new groups.'),
    default_snippet_visibility: choice(visibilityNames, 'private', 'Visibility of new snippets.'),
    restricted_visibility_levels: Type.Array(
      Type.Unsafe<(typeof visibilityNames)[number]>({ type: 'string', enum: visibilityNames }),
      {
        default: [],
        commaSeparated: true,
        description: 'Visibilities that only administrators may give.',
      },
    ),
    default_projects_limit: count(100_000, 'Personal projects a new user may have.'),
    can_create_group: boolean(true, 'New users may create top-level groups.'),
    top_level_group_creation_enabled: boolean(
      true,
      'Users who are not administrators may create top-level groups.',
    ),
    default_project_creation: Type.Integer({
      default: 2,
      minimum: 0,
      maximum: 4,
      description:
        'Who may create projects in new groups: 0 nobody, 1 maintainers, 2 developers, 3 administrators, 4 owners.',
    }),
    allow_project_creation_for_guest_and_below: boolean(
      true,
      'Users who are nowhere more than a guest may create projects.',
    ),
    user_default_external: boolean(false, 'New users are external.'),
    user_defaults_to_private_profile: boolean(false, 'New users have a private profile.'),
    default_branch_name: text('', 'Default branch of new repositories; empty for main.', 255),
    /** 0 none, 1 partial, 2 full, 3 against pushes, 4 full after the initial push. */
    default_branch_protection: deprecated(
      Type.Unsafe<BranchProtectionLevel>({ type: 'integer', enum: [...branchProtectionLevels], default: 2 }),
      'default_branch_protection_defaults',
    ),
    default_branch_protection_defaults: Type.Object(BranchProtection.properties, {
      default: branchProtectionOf(2),
      description: 'Protection of the default branch of new repositories.',
    }),
  }),
  repositories: section(
    'Repositories',
    'Pushes, files, snippets and wikis, and how long what is deleted is kept.',
    {
      repository_storages_weighted: Type.Unsafe<Record<string, number>>({
        type: 'object',
        additionalProperties: { type: 'integer', minimum: 0, maximum: 100 },
        default: { default: 100 },
        description: 'Weights, 0 to 100, by which new repositories are spread over the storages.',
      }),
      receive_max_input_size: Type.Unsafe<number | null>({
        type: ['integer', 'null'],
        minimum: 0,
        maximum: 1_000_000,
        default: null,
        description: 'Largest push in MiB; null or 0 for no limit.',
      }),
      repository_size_limit: count(
        0,
        'Largest repository of a project with its large files, in MiB, where the project and its groups say nothing else; 0 for no limit. Shown in bytes.',
        MAX_LIMIT,
      ),
      web_hook_calls: count(
        0,
        'Requests to webhooks of one top-level namespace a minute; 0 for no limit. More are dropped.',
      ),
      push_event_hooks_limit: count(
        3,
        'Branches, or tags, in one push above which no webhook is told of it.',
      ),
      push_event_activities_limit: count(3, 'Refs in one push that each get an event; more get one for all.'),
      activity_retention_days: count(1_095, 'Days that activity events are kept; 0 for ever.', 36_500),
      raw_blob_request_limit: count(300, 'Raw files of one project and path per minute; 0 for no limit.'),
      snippet_size_limit: Type.Integer({
        default: 52_428_800,
        minimum: 1,
        maximum: 1_073_741_824,
        description: 'Largest content of a snippet, in bytes.',
      }),
      max_attachment_size: Type.Integer({
        default: 100,
        minimum: 1,
        maximum: 1_000_000,
        description: 'Largest uploaded file, in MiB.',
      }),
      wiki_page_max_content_bytes: Type.Integer({
        default: 5_242_880,
        minimum: 1_024,
        maximum: 1_073_741_824,
        description: 'Largest content of a wiki page, in bytes.',
      }),
      deletion_adjourned_period: Type.Integer({
        default: 30,
        minimum: 1,
        maximum: 90,
        description: 'Days until what is marked for deletion is deleted.',
      }),
    },
  ),
  transfers: section('Import and export', 'Projects and groups that come from elsewhere, or leave.', {
    project_export_enabled: boolean(true, 'Whether projects can be exported.'),
    bulk_import_enabled: boolean(false, 'Whether groups and projects are fetched from other instances.'),
    max_export_size: count(0, 'Largest export in MiB; 0 for no limit.', 1_000_000),
    max_import_size: count(0, 'Largest file that is imported, in MiB; 0 for no limit.', 1_000_000),
    max_decompressed_archive_size: count(
      25_600,
      'What such a file may be unpacked, in MiB; 0 for no limit.',
      10_000_000,
    ),
    gravatar_enabled: boolean(true, 'Users without a picture get the address of one by their mail address.'),
  }),
  merge_requests: section('Merge requests', 'Who may approve a merge request, whatever its project says.', {
    prevent_merge_requests_author_approval: boolean(
      false,
      'Nobody approves a merge request of their own, whatever projects and groups say.',
    ),
    prevent_merge_requests_committers_approval: boolean(
      false,
      'Nobody approves a merge request with commits of their own, whatever projects and groups say.',
    ),
    disable_overriding_approvers_per_merge_request: boolean(
      false,
      "Merge requests have their project's approval rules, whatever projects and groups say.",
    ),
  }),
  traffic: section('Traffic', 'How many requests one caller may send.', {
    ...throttle(
      'throttle_unauthenticated_api',
      'of one address to the API without an account',
      true,
      3_600,
      3_600,
    ),
    ...throttle('throttle_authenticated_api', 'of one account to the API', true, 36_000, 3_600),
    ...throttle(
      'throttle_unauthenticated_web',
      'of one address to pages without an account',
      false,
      3_600,
      3_600,
    ),
    ...throttle('throttle_authenticated_web', 'of one account to pages', false, 7_200, 3_600),
    ...throttle(
      'throttle_protected_paths',
      'of one address to sign in, to register, and for mailed links',
      true,
      10,
      60,
    ),
    ...throttle(
      'throttle_unauthenticated_git_http',
      'of one address to Git over HTTP without an account',
      false,
      3_600,
      3_600,
    ),
    throttle_incident_management_notification_enabled: boolean(
      false,
      'Whether the alerts that a project may be sent are limited.',
    ),
    throttle_incident_management_notification_per_period: count(
      3_600,
      'Payloads that one project may be sent in a period.',
    ),
    throttle_incident_management_notification_period_in_seconds: count(3_600, 'That period, in seconds.'),
    rate_limiting_response_text: text('', 'Body of 429; empty for "Retry later".'),
  }),
  limits: section('Limits of endpoints', 'How often one caller may ask single endpoints.', {
    users_get_by_id_limit: count(
      300,
      'GET /users/:id, per ten minutes and caller; 0 for no limit. Administrators have none.',
    ),
    users_api_limit_followers: count(100, 'GET /users/:id/followers per minute; 0 for no limit.'),
    users_api_limit_following: count(100, 'GET /users/:id/following per minute; 0 for no limit.'),
    users_api_limit_status: count(240, 'GET /users/:user_id/status per minute; 0 for no limit.'),
    users_api_limit_ssh_keys: count(120, 'GET /users/:user_id/keys per minute; 0 for no limit.'),
    users_api_limit_ssh_key: count(120, 'GET /users/:id/keys/:key_id per minute; 0 for no limit.'),
    users_api_limit_gpg_keys: count(120, 'GET /users/:id/gpg_keys per minute; 0 for no limit.'),
    users_api_limit_gpg_key: count(120, 'GET /users/:id/gpg_keys/:key_id per minute; 0 for no limit.'),
    projects_api_limit: count(2_000, 'GET /projects per ten minutes, signed in; 0 for no limit.'),
    projects_api_rate_limit_unauthenticated: count(
      400,
      'GET /projects per ten minutes and address; 0 for no limit.',
    ),
    project_api_limit: count(400, 'GET /projects/:id per minute; 0 for no limit.'),
    user_projects_api_limit: count(300, 'GET /users/:user_id/projects per minute; 0 for no limit.'),
    user_contributed_projects_api_limit: count(
      100,
      'GET /users/:user_id/contributed_projects per minute; 0 for no limit.',
    ),
    user_starred_projects_api_limit: count(
      100,
      'GET /users/:user_id/starred_projects per minute; 0 for no limit.',
    ),
    groups_api_limit: count(200, 'GET /groups per minute; 0 for no limit.'),
    group_api_limit: count(400, 'GET /groups/:id per minute; 0 for no limit.'),
    group_projects_api_limit: count(600, 'GET /groups/:id/projects per minute; 0 for no limit.'),
    group_shared_groups_api_limit: count(60, 'GET /groups/:id/groups/shared per minute; 0 for no limit.'),
    group_invited_groups_api_limit: count(60, 'GET /groups/:id/invited_groups per minute; 0 for no limit.'),
    project_invited_groups_api_limit: count(
      60,
      'GET /projects/:id/invited_groups per minute; 0 for no limit.',
    ),
    group_archive_unarchive_api_limit: count(60, 'Archiving groups, per minute; 0 for no limit.'),
    project_export_limit: count(6, 'Exports of projects that one user starts, per minute; 0 for no limit.'),
    project_download_export_limit: count(1, 'Downloads of exports of projects, per minute; 0 for no limit.'),
    project_import_limit: count(6, 'Imports of projects that one user starts, per minute; 0 for no limit.'),
    group_export_limit: count(6, 'Exports of groups that one user starts, per minute; 0 for no limit.'),
    group_download_export_limit: count(1, 'Downloads of exports of groups, per minute; 0 for no limit.'),
    group_import_limit: count(6, 'Imports of groups that one user starts, per minute; 0 for no limit.'),
    members_delete_limit: count(60, 'DELETE of members per minute; 0 for no limit.'),
    project_members_api_limit: count(200, 'GET /projects/:id/members/all per minute; 0 for no limit.'),
    search_rate_limit: count(300, 'Searches of one user per minute; 0 for no limit.'),
    search_rate_limit_unauthenticated: count(
      100,
      'Searches of one address per minute, not signed in; 0 for no limit.',
    ),
  }),
  spam: section('Spam', 'What is checked before everybody can read it.', {
    issues_create_limit: count(300, 'Issues one user may create per minute; 0 for no limit.'),
    notes_create_limit: count(300, 'Notes one user may create per minute; 0 for no limit.'),
    notes_create_limit_allowlist: list('Users, by username, whom notes_create_limit does not hold.'),
    akismet_enabled: boolean(
      false,
      'What everybody will read is shown to a service that speaks the Akismet protocol before it is written.',
    ),
    akismet_api_key: secret('The key of that service.'),
    akismet_url: text('https://rest.akismet.com', 'Where that service is.', 2_000),
    spam_check_failure: choice(
      ['allow', 'hold'],
      'allow',
      'What happens to a write when that service gives no verdict: it passes, or is refused with 503.',
    ),
    recaptcha_enabled: boolean(
      false,
      'What is taken for spam may be written after all by who solves a CAPTCHA (reCAPTCHA v2).',
    ),
    recaptcha_site_key: text('', 'What clients ask for a CAPTCHA with.', 255),
    recaptcha_private_key: secret('What solutions of a CAPTCHA are verified with.'),
    recaptcha_url: text(
      'https://www.google.com/recaptcha/api/siteverify',
      'Where solutions of a CAPTCHA are verified.',
      2_000,
    ),
  }),
  error_tracking: section('Error tracking', 'How much applications may report, and how long it is kept.', {
    error_tracking_max_event_bytes: Type.Integer({
      default: 1_048_576,
      minimum: 1_024,
      maximum: 4_194_304,
      description: 'Largest event that an application may report, in bytes, unpacked.',
    }),
    error_tracking_events_per_minute: count(
      0,
      'Events that the applications of a project may report per minute; 0 for no limit.',
    ),
    error_tracking_retention_days: count(90, 'Days that reported events are kept; 0 for ever.', 36_500),
    error_tracking_events_per_error: Type.Integer({
      default: 1_000,
      minimum: 1,
      maximum: 1_000_000,
      description: 'Newest events of an error that are kept; older ones are only counted.',
    }),
  }),
  mirrors: section(
    'Mirrors and imports',
    'Copies of repositories of other servers, and where new projects may come from.',
    {
      mirror_available: boolean(true, 'Maintainers set up mirrors; else administrators alone.'),
      mirror_max_capacity: count(100, 'Mirrors that are brought up to date at once.', 1_000),
      mirror_max_delay: Type.Integer({
        default: 300,
        minimum: 30,
        maximum: 43_200,
        description: 'Minutes that a pull mirror that fails waits at most for its next run.',
      }),
      import_sources: Type.Array(Type.Unsafe<ImportSource>({ type: 'string', enum: importSources }), {
        default: ['git', 'gitlab_project'],
        maxItems: 20,
        commaSeparated: true,
        description:
          'Where new projects may come from: `git` is the address of a repository, `gitlab_project` a file of an export. Nothing imports from the others.',
      }),
    },
  ),
  operation: section('Operation', 'Maintenance, and what of your network outgoing calls may reach.', {
    maintenance_mode: boolean(false, 'Writes are refused with 503.'),
    maintenance_mode_message: text('', 'What is said while maintenance mode is on.', 255),
    outbound_local_requests_allowlist: list(
      'Hosts, addresses and networks of this network that outgoing calls may reach.',
    ),
    allow_local_requests_from_web_hooks_and_services: boolean(
      false,
      'Outgoing calls may reach this network.',
    ),
    allow_local_requests_from_system_hooks: boolean(true, 'Webhooks of the instance may reach this network.'),
  }),
};

export const ApplicationSettingsSchema = Type.Object({
  ...settingSections.sign_in.properties,
  ...settingSections.tokens.properties,
  ...settingSections.dependency_proxy.properties,
  ...settingSections.packages.properties,
  ...settingSections.ci.properties,
  ...settingSections.runners.properties,
  ...settingSections.artifacts.properties,
  ...settingSections.oauth.properties,
  ...settingSections.creation.properties,
  ...settingSections.repositories.properties,
  ...settingSections.transfers.properties,
  ...settingSections.merge_requests.properties,
  ...settingSections.traffic.properties,
  ...settingSections.limits.properties,
  ...settingSections.spam.properties,
  ...settingSections.error_tracking.properties,
  ...settingSections.mirrors.properties,
  ...settingSections.operation.properties,
});

export type ApplicationSettings = Static<typeof ApplicationSettingsSchema>;
export type SettingName = keyof ApplicationSettings;

/** The name of a new repository's first branch. */
export const firstBranchName = ({
  default_branch_name,
}: Pick<ApplicationSettings, 'default_branch_name'>): string => default_branch_name || 'main';

/** Settings that are sealed in the database and by read(), and shown nowhere. */
export const secretSettings = ['akismet_api_key', 'recaptcha_private_key'] as const satisfies SettingName[];

/** Every setting at its default. */
export const defaultSettings = Object.fromEntries(
  Object.entries(ApplicationSettingsSchema.properties).map(([name, schema]) => [
    name,
    (schema as unknown as { default: unknown }).default,
  ]),
) as ApplicationSettings;

/** A setting as a parameter: optional, and without the default, which would overwrite the stored value. */
function asParameter(schema: TSchema): TSchema {
  const { default: _, ...rest } = schema as { default?: unknown };
  return Type.Optional(Type.Unsafe(rest));
}

type ChangeOf<Value> = TOptional<TUnsafe<Value>>;
type ChangesSchema = {
  [Name in Exclude<SettingName, 'default_branch_protection_defaults'>]: ChangeOf<ApplicationSettings[Name]>;
} & {
  default_branch_protection_defaults: TOptional<typeof BranchProtectionChanges>;
};

/** The settings as parameters of a change; absent ones stay. */
export const settingChanges = {
  ...Object.fromEntries(
    Object.entries(ApplicationSettingsSchema.properties).map(([name, schema]) => [name, asParameter(schema)]),
  ),
  default_branch_protection_defaults: Type.Optional(BranchProtectionChanges),
  // fromEntries() loses the names, which are those of the schema.
} as ChangesSchema;
