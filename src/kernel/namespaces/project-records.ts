/** Project records: identity, basic and full (facts: Resource entities). */
import Type, { type Static } from 'typebox';
import { deprecated, nullable } from '../../platform/http/parameters/schema.ts';
import type { Tier } from '../config.ts';
import { GUEST, PLANNER, visibilityName } from '../policy/roles.ts';
import { presentSizeLimit, ShownSizeLimit } from '../repository-size/records.ts';
import { type ApplicationSettings, firstBranchName } from '../settings/definitions.ts';
import { presentUserBasic, type Surroundings, UserBasic, uploadUrl } from '../users/records.ts';
import { CustomAttribute } from './custom-attributes.ts';
import { ContainerExpirationPolicy } from './expiration-policy.ts';
import { DEFAULT_LEVEL, type Level, levelNumber } from './notification-levels.ts';
import { PackagesCleanupPolicy } from './packages-cleanup-policy.ts';
import { ProjectSettingsSchema, projectSettings, withoutPremium } from './project-settings.ts';
import { NamespaceBasic, presentNamespaceBasic } from './records.ts';
import { type ProjectRow, projectFullPath, projectIsArchived } from './rows.ts';

export const ProjectIdentity = Type.Object({
  id: Type.Integer(),
  description: nullable(Type.String()),
  name: Type.String(),
  name_with_namespace: Type.String(),
  path: Type.String(),
  path_with_namespace: Type.String(),
  created_at: Type.String(),
});

export const BasicProject = Type.Object({
  ...ProjectIdentity.properties,
  default_branch: Type.String(),
  tag_list: deprecated(Type.Array(Type.String()), 'topics'),
  topics: Type.Array(Type.String()),
  http_url_to_repo: Type.String(),
  web_url: Type.String(),
  readme_url: nullable(Type.String()),
  forks_count: Type.Integer(),
  avatar_url: nullable(Type.String()),
  star_count: Type.Integer(),
  last_activity_at: Type.String(),
  visibility: Type.String(),
  namespace: NamespaceBasic,
  custom_attributes: Type.Optional(Type.Array(CustomAttribute)),
  repository_storage: Type.Optional(Type.String()),
});
export type BasicProject = Static<typeof BasicProject>;

const AccessLevel = Type.Object({ access_level: Type.Integer(), notification_level: Type.Integer() });

export const ProjectStatistics = Type.Object({
  commit_count: Type.Integer(),
  storage_size: Type.Integer(),
  repository_size: Type.Integer(),
  wiki_size: Type.Integer(),
  lfs_objects_size: Type.Integer(),
  job_artifacts_size: Type.Integer(),
  pipeline_artifacts_size: Type.Integer(),
  packages_size: Type.Integer(),
  snippets_size: Type.Integer(),
  uploads_size: Type.Integer(),
  container_registry_size: Type.Integer(),
});

const flag = (use: string) => deprecated(Type.Boolean(), use);

/** Attributes that others replace, in requests and in records (facts: Deprecated / renamed items). */
export const deprecatedFlags = {
  issues_enabled: flag('issues_access_level'),
  merge_requests_enabled: flag('merge_requests_access_level'),
  wiki_enabled: flag('wiki_access_level'),
  jobs_enabled: flag('builds_access_level'),
  snippets_enabled: flag('snippets_access_level'),
  container_registry_enabled: flag('container_registry_access_level'),
  packages_enabled: flag('package_registry_access_level'),
  emails_disabled: flag('emails_enabled'),
  restrict_user_defined_variables: flag('ci_pipeline_variables_minimum_override_role'),
  public_builds: flag('public_jobs'),
} as const;

export const FullProject = Type.Object({
  ...BasicProject.properties,
  forked_from_project: Type.Optional(BasicProject),
  container_registry_image_prefix: Type.String(),
  container_expiration_policy: ContainerExpirationPolicy,
  packages_cleanup_policy: PackagesCleanupPolicy,
  _links: Type.Object({
    self: Type.String(),
    issues: Type.Optional(Type.String()),
    merge_requests: Type.Optional(Type.String()),
    repo_branches: Type.String(),
    labels: Type.String(),
    events: Type.String(),
    members: Type.String(),
    cluster_agents: Type.String(),
  }),
  marked_for_deletion_at: deprecated(nullable(Type.String()), 'marked_for_deletion_on'),
  marked_for_deletion_on: nullable(Type.String()),
  packages_enabled: deprecatedFlags.packages_enabled,
  empty_repo: Type.Boolean(),
  archived: Type.Boolean(),
  owner: Type.Optional(UserBasic),
  repository_object_format: Type.String(),
  issues_enabled: deprecatedFlags.issues_enabled,
  merge_requests_enabled: deprecatedFlags.merge_requests_enabled,
  wiki_enabled: deprecatedFlags.wiki_enabled,
  jobs_enabled: deprecatedFlags.jobs_enabled,
  snippets_enabled: deprecatedFlags.snippets_enabled,
  container_registry_enabled: deprecatedFlags.container_registry_enabled,
  service_desk_enabled: Type.Boolean(),
  service_desk_address: nullable(Type.String()),
  can_create_merge_request_in: Type.Boolean(),
  ...ProjectSettingsSchema.properties,
  repository_size_limit: Type.Optional(ShownSizeLimit),
  // Without the settings' defaults, which the serialiser would add to records that lack them.
  approvals_before_merge: Type.Optional(Type.Integer()),
  requirements_access_level: Type.Optional(Type.String()),
  only_allow_merge_if_all_status_checks_passed: Type.Optional(Type.Boolean()),
  allow_pipeline_trigger_approve_deployment: Type.Optional(Type.Boolean()),
  issues_template: Type.Optional(nullable(Type.String())),
  merge_requests_template: Type.Optional(nullable(Type.String())),
  merge_pipelines_enabled: Type.Optional(Type.Boolean()),
  merge_trains_enabled: Type.Optional(Type.Boolean()),
  merge_trains_skip_train_allowed: Type.Optional(Type.Boolean()),
  emails_disabled: deprecatedFlags.emails_disabled,
  creator_id: nullable(Type.Integer()),
  import_url: nullable(Type.String()),
  import_type: nullable(Type.String()),
  import_status: Type.String(),
  import_error: Type.Optional(nullable(Type.String())),
  mirror: Type.Optional(deprecated(Type.Boolean(), '/projects/:id/mirror/pull')),
  mirror_user_id: Type.Optional(deprecated(nullable(Type.Integer()), '/projects/:id/mirror/pull')),
  mirror_trigger_builds: Type.Optional(deprecated(Type.Boolean(), '/projects/:id/mirror/pull')),
  only_mirror_protected_branches: Type.Optional(
    deprecated(nullable(Type.Boolean()), '/projects/:id/mirror/pull'),
  ),
  mirror_overwrites_diverged_branches: Type.Optional(
    deprecated(nullable(Type.Boolean()), '/projects/:id/mirror/pull'),
  ),
  open_issues_count: Type.Optional(Type.Integer()),
  description_html: Type.String(),
  updated_at: Type.String(),
  restrict_user_defined_variables: deprecatedFlags.restrict_user_defined_variables,
  shared_with_groups: Type.Array(
    Type.Object({
      group_id: Type.Integer(),
      group_name: Type.String(),
      group_full_path: Type.String(),
      group_access_level: Type.Integer(),
      expires_at: nullable(Type.String()),
    }),
  ),
  requirements_enabled: Type.Optional(Type.Boolean()),
  security_and_compliance_enabled: Type.Optional(Type.Boolean()),
  compliance_frameworks: Type.Optional(Type.Array(Type.String())),
  statistics: Type.Optional(ProjectStatistics),
  permissions: Type.Optional(
    Type.Object({ project_access: nullable(AccessLevel), group_access: nullable(AccessLevel) }),
  ),
});
export type FullProject = Static<typeof FullProject>;

/** Sizes in bytes, those of repositories as last measured; and commits. */
export type ProjectSizes = Omit<Static<typeof ProjectStatistics>, 'storage_size' | 'pipeline_artifacts_size'>;

/** Inputs of a project's record beside its row. */
export type BasicProjectView = Surroundings & {
  admin: boolean;
  signedIn: boolean;
  settings: Pick<ApplicationSettings, 'default_branch_name'>;
};

export type ProjectView = BasicProjectView & { tier: Tier };

export const presentProjectIdentity = (row: ProjectRow): Static<typeof ProjectIdentity> => ({
  id: row.id,
  description: row.description,
  name: row.name,
  name_with_namespace: `${row.namespace_full_name} / ${row.name}`,
  path: row.path,
  path_with_namespace: projectFullPath(row),
  created_at: row.created_at.toISOString(),
});

/** The basic record, for `simple=true` and anonymous lists. */
export function presentBasicProject(view: BasicProjectView, row: ProjectRow): BasicProject {
  const identity = presentProjectIdentity(row);
  const webUrl = `${view.baseUrl}/${identity.path_with_namespace}`;
  const namespace = {
    id: row.namespace_id,
    name: row.namespace_name,
    path: row.namespace_path,
    kind: row.namespace_kind,
    full_path: row.namespace_full_path,
    parent_id: row.namespace_parent_id,
    avatar: row.namespace_avatar,
  };
  return {
    ...identity,
    default_branch: row.default_branch ?? firstBranchName(view.settings),
    tag_list: row.topics,
    topics: row.topics,
    http_url_to_repo: `${webUrl}.git`,
    web_url: webUrl,
    readme_url: null,
    forks_count: row.forks_count,
    avatar_url: uploadUrl(view, 'project', row.id, row.avatar) ?? null,
    star_count: row.star_count,
    last_activity_at: row.last_activity_at.toISOString(),
    visibility: visibilityName(row.visibility),
    namespace: presentNamespaceBasic(view, namespace, row.owner),
    ...(view.admin && { repository_storage: row.repository_storage }),
  };
}

/** The caller's levels on a project, for `permissions`. */
export type ProjectLevels = {
  project: number;
  group: number;
  notifiedProject: Level | null | undefined;
  notifiedGroup: Level | null | undefined;
};

const accessLevel = (level: number, notified: Level | null | undefined) =>
  level > 0 ? { access_level: level, notification_level: levelNumber(notified ?? DEFAULT_LEVEL) } : null;

type ProjectRelations = {
  descriptionHtml: string;
  levels?: ProjectLevels;
  forkedFrom?: ProjectRow;
  /** Shown if given. */
  sizes?: ProjectSizes | undefined;
  seenGroups?: ReadonlySet<number>;
  /** Where it comes from, for those who may know. */
  source?: Partial<FullProject> | undefined;
};

/**
 * The full record; `levels` are the caller's, undefined for anonymous callers, and `seenGroups` those that
 * the caller sees: names of others are hidden (administrators see all).
 */
export function presentProject(view: ProjectView, row: ProjectRow, sides: ProjectRelations): FullProject {
  const paid = view.tier !== 'free';
  const settings = projectSettings(row);
  const { repository_size_limit: limit, ...shown } = settings;
  const self = `${view.baseUrl}/api/v4/projects/${row.id}`;
  const fullPath = projectFullPath(row);
  const issues = settings.issues_access_level !== 'disabled';
  const mergeRequests = settings.merge_requests_access_level !== 'disabled';
  const host = view.baseUrl.replace(/^.*\/\//, '');
  return {
    // First, while the object is empty: so many fields are then copied at once.
    ...(paid ? shown : withoutPremium(shown)),
    ...presentBasicProject(view, row),
    ...(paid && view.admin && presentSizeLimit({ repository_size_limit: limit })),
    container_registry_image_prefix: `${host}/${fullPath.toLowerCase()}`,
    _links: {
      self,
      ...(issues && { issues: `${self}/issues` }),
      ...(mergeRequests && { merge_requests: `${self}/merge_requests` }),
      repo_branches: `${self}/repository/branches`,
      labels: `${self}/labels`,
      events: `${self}/events`,
      members: `${self}/members`,
      cluster_agents: `${self}/cluster_agents`,
    },
    marked_for_deletion_at: row.marked_for_deletion_on,
    marked_for_deletion_on: row.marked_for_deletion_on,
    packages_enabled: settings.package_registry_access_level !== 'disabled',
    empty_repo: row.empty_repo,
    archived: projectIsArchived(row),
    ...(row.owner && { owner: presentUserBasic(view, row.owner) }),
    repository_object_format: 'sha1',
    issues_enabled: issues,
    merge_requests_enabled: mergeRequests,
    wiki_enabled: settings.wiki_access_level !== 'disabled',
    jobs_enabled: settings.builds_access_level !== 'disabled',
    snippets_enabled: settings.snippets_access_level !== 'disabled',
    container_registry_enabled: settings.container_registry_access_level !== 'disabled',
    service_desk_enabled: false,
    service_desk_address: null,
    can_create_merge_request_in: view.signedIn && mergeRequests && !projectIsArchived(row),
    emails_disabled: !settings.emails_enabled,
    creator_id: row.creator_id,
    import_url: null,
    import_type: null,
    import_status: row.forked_from_id === null ? 'none' : 'finished',
    ...sides.source,
    ...(readsIssues(view, settings.issues_access_level, levelOf(sides)) && {
      open_issues_count: openIssues(view, row, levelOf(sides)),
    }),
    description_html: sides.descriptionHtml,
    updated_at: row.updated_at.toISOString(),
    restrict_user_defined_variables: settings.ci_pipeline_variables_minimum_override_role !== 'developer',
    shared_with_groups: (row.shared_with_groups ?? []).filter(
      (share) => view.admin || sides.seenGroups?.has(share.group_id),
    ),
    ...(paid && {
      requirements_enabled: settings.requirements_access_level !== 'disabled',
      security_and_compliance_enabled: settings.security_and_compliance_access_level !== 'disabled',
      compliance_frameworks: [],
      // There are no merge trains.
      merge_pipelines_enabled: false,
      merge_trains_enabled: false,
      merge_trains_skip_train_allowed: false,
    }),
    ...(sides.forkedFrom && { forked_from_project: presentBasicProject(view, sides.forkedFrom) }),
    ...(sides.sizes && { statistics: presentSizes(sides.sizes) }),
    ...(sides.levels && {
      permissions: {
        project_access: accessLevel(sides.levels.project, sides.levels.notifiedProject),
        group_access: accessLevel(sides.levels.group, sides.levels.notifiedGroup),
      },
    }),
  };
}

/** The caller's greatest level on the project; 0 without a membership. */
const levelOf = ({ levels }: ProjectRelations): number => Math.max(levels?.project ?? 0, levels?.group ?? 0);

const readsIssues = (view: { admin: boolean }, access: string, level: number): boolean =>
  access !== 'disabled' && (access !== 'private' || view.admin || level >= GUEST);

/** Confidential issues count for callers who may read all of them. */
function openIssues(view: { admin: boolean }, row: ProjectRow, level: number): number {
  const readsAll = view.admin || level >= PLANNER;
  return (row.open_issues ?? 0) - (readsAll ? 0 : (row.open_confidential_issues ?? 0));
}

/** Reports of pipelines are read from artifacts of jobs, and take nothing by themselves. */
export const presentSizes = ({ commit_count, ...sizes }: ProjectSizes): Static<typeof ProjectStatistics> => ({
  commit_count,
  storage_size: Object.values(sizes).reduce((sum, size) => sum + size, 0),
  pipeline_artifacts_size: 0,
  ...sizes,
});
