/**
 * The policy: one table of all abilities (spec: Status codes 403 and 404; facts: Roles and visibility).
 *
 * Each row has the least role, whether visibility alone is enough, and whether it stays while the object is
 * archived. An ability that does not need an account has `visible: 'anyone'`.
 */
import {
  DEVELOPER,
  GUEST,
  INTERNAL,
  MAINTAINER,
  OWNER,
  PLANNER,
  PUBLIC,
  REPORTER,
  type Role,
} from './roles.ts';

export type Rule = {
  /** The least role with the ability. */
  least: Role;
  /** Seeing the object is enough, for all callers or for signed-in ones. */
  visible?: 'anyone' | 'signed_in';
  /**
   * All callers, or signed-in ones, have it where they see the object without a role; else the role decides.
   */
  open?: 'anyone' | 'signed_in';
  /** The feature that it needs: refused to all where that is disabled, members only where it is private. */
  feature?: Feature;
  /** The least role where the project's jobs are not public (`public_jobs`): seeing it is not enough then. */
  unlessPublicJobs?: Role;
  /** Archived objects are read-only unless the rule says otherwise. */
  whileArchived?: boolean;
  /**
   * A member of a subgroup or project, who sees the group by that, needs a role, even where visibility is
   * enough for others.
   */
  notFromInside?: boolean;
  /** Auditors have it whatever the role: for reads. */
  auditor?: boolean;
};

/** Features of a project or group that a setting of this name disables, or keeps to members. */
export type Feature =
  | 'repository_access_level'
  | 'wiki_access_level'
  | 'snippets_access_level'
  | 'issues_access_level'
  | 'merge_requests_access_level'
  | 'builds_access_level'
  | 'releases_access_level'
  | 'feature_flags_access_level'
  | 'environments_access_level'
  | 'package_registry_access_level'
  | 'container_registry_access_level'
  | 'infrastructure_access_level';
/** A public one is open to all for reading, whoever sees the project. */
export type FeatureLevel = 'disabled' | 'private' | 'enabled' | 'public';

/** A feature that needs another is there as far as that is, too. */
export const neededFeature: Partial<Record<Feature, Feature>> = {
  merge_requests_access_level: 'repository_access_level',
  builds_access_level: 'repository_access_level',
  environments_access_level: 'builds_access_level',
};

export const projectPolicy = {
  read_project: { least: GUEST, visible: 'anyone', whileArchived: true },
  star_project: { least: GUEST, visible: 'signed_in', whileArchived: true },
  choose_notifications: { least: GUEST, visible: 'signed_in', whileArchived: true },
  read_project_statistics: {
    least: REPORTER,
    open: 'signed_in',
    feature: 'repository_access_level',
    whileArchived: true,
    auditor: true,
  },
  read_code: {
    least: REPORTER,
    open: 'anyone',
    feature: 'repository_access_level',
    whileArchived: true,
    auditor: true,
  },
  push_code: { least: DEVELOPER, feature: 'repository_access_level' },
  push_to_shared_branches: { least: REPORTER, open: 'signed_in', feature: 'repository_access_level' },
  comment_on_commits: { least: REPORTER, open: 'signed_in', feature: 'repository_access_level' },
  manage_commit_statuses: { least: DEVELOPER, feature: 'repository_access_level' },
  read_protected_refs: { least: DEVELOPER, whileArchived: true, auditor: true },
  manage_protected_refs: { least: MAINTAINER },
  manage_push_rules: { least: MAINTAINER, whileArchived: true },
  read_approval_rules: { least: DEVELOPER, whileArchived: true, auditor: true },
  read_approval_settings: { least: MAINTAINER, whileArchived: true, auditor: true },
  manage_approvals: { least: MAINTAINER },
  read_status_checks: {
    least: DEVELOPER,
    feature: 'merge_requests_access_level',
    whileArchived: true,
    auditor: true,
  },
  manage_status_checks: { least: MAINTAINER },
  manage_hooks: { least: MAINTAINER, whileArchived: true },
  manage_integrations: { least: MAINTAINER, whileArchived: true },
  read_mirrors: { least: MAINTAINER, whileArchived: true, auditor: true },
  manage_mirrors: { least: MAINTAINER, feature: 'repository_access_level' },
  read_pipelines: {
    least: GUEST,
    open: 'anyone',
    feature: 'builds_access_level',
    unlessPublicJobs: REPORTER,
    whileArchived: true,
    auditor: true,
  },
  read_lint: {
    least: REPORTER,
    open: 'signed_in',
    feature: 'repository_access_level',
    whileArchived: true,
    auditor: true,
  },
  run_pipelines: { least: DEVELOPER, feature: 'builds_access_level' },
  read_debug_traces: {
    least: DEVELOPER,
    feature: 'builds_access_level',
    whileArchived: true,
    auditor: true,
  },
  read_resource_groups: {
    least: DEVELOPER,
    feature: 'builds_access_level',
    whileArchived: true,
    auditor: true,
  },
  delete_pipelines: { least: OWNER, feature: 'builds_access_level' },
  read_environments: {
    least: REPORTER,
    open: 'anyone',
    feature: 'environments_access_level',
    whileArchived: true,
    auditor: true,
  },
  read_freeze_periods: {
    least: REPORTER,
    feature: 'environments_access_level',
    whileArchived: true,
    auditor: true,
  },
  manage_freeze_periods: { least: MAINTAINER, feature: 'environments_access_level' },
  manage_protected_environments: { least: MAINTAINER, feature: 'environments_access_level' },
  approve_deployments: { least: REPORTER, feature: 'environments_access_level' },
  manage_environments: { least: DEVELOPER, feature: 'environments_access_level' },
  read_developer_artifacts: {
    least: DEVELOPER,
    feature: 'builds_access_level',
    whileArchived: true,
    auditor: true,
  },
  read_maintainer_artifacts: {
    least: MAINTAINER,
    feature: 'builds_access_level',
    whileArchived: true,
    auditor: true,
  },
  manage_artifacts: { least: MAINTAINER, feature: 'builds_access_level' },
  manage_ci_variables: { least: MAINTAINER, whileArchived: true },
  read_packages: {
    least: REPORTER,
    open: 'anyone',
    feature: 'package_registry_access_level',
    whileArchived: true,
    auditor: true,
  },
  publish_packages: { least: DEVELOPER, feature: 'package_registry_access_level' },
  delete_packages: { least: MAINTAINER, feature: 'package_registry_access_level' },
  read_terraform_state: {
    least: DEVELOPER,
    feature: 'infrastructure_access_level',
    whileArchived: true,
    auditor: true,
  },
  manage_terraform_state: { least: MAINTAINER, feature: 'infrastructure_access_level' },
  manage_package_protection: { least: MAINTAINER, feature: 'package_registry_access_level' },
  read_container_images: {
    least: REPORTER,
    open: 'anyone',
    feature: 'container_registry_access_level',
    whileArchived: true,
    auditor: true,
  },
  push_container_images: { least: DEVELOPER, feature: 'container_registry_access_level' },
  delete_container_tags: { least: DEVELOPER, feature: 'container_registry_access_level' },
  delete_container_images: { least: MAINTAINER, feature: 'container_registry_access_level' },
  manage_container_protection: { least: MAINTAINER, feature: 'container_registry_access_level' },
  manage_immutable_images: { least: OWNER, feature: 'container_registry_access_level' },
  read_secure_files: {
    least: DEVELOPER,
    feature: 'builds_access_level',
    whileArchived: true,
    auditor: true,
  },
  manage_secure_files: { least: MAINTAINER, feature: 'builds_access_level' },
  manage_job_token_scope: { least: MAINTAINER, whileArchived: true },
  manage_triggers: { least: MAINTAINER },
  read_managed_licenses: { least: REPORTER, whileArchived: true, auditor: true },
  manage_managed_licenses: { least: MAINTAINER },
  read_runners: { least: MAINTAINER, whileArchived: true, auditor: true },
  manage_runners: { least: MAINTAINER, whileArchived: true },
  manage_deploy_keys: { least: MAINTAINER, whileArchived: true },
  manage_repository: { least: MAINTAINER },
  read_repository_health: { least: MAINTAINER, whileArchived: true, auditor: true },
  read_wiki: {
    least: GUEST,
    open: 'anyone',
    feature: 'wiki_access_level',
    whileArchived: true,
    auditor: true,
  },
  write_wiki: { least: DEVELOPER, feature: 'wiki_access_level' },
  delete_wiki_pages: { least: MAINTAINER, feature: 'wiki_access_level' },
  read_project_snippets: {
    least: GUEST,
    open: 'anyone',
    feature: 'snippets_access_level',
    whileArchived: true,
    auditor: true,
  },
  create_project_snippets: { least: REPORTER, feature: 'snippets_access_level' },
  manage_project_snippets: { least: MAINTAINER, feature: 'snippets_access_level' },
  read_planning: { least: GUEST, open: 'anyone', whileArchived: true, auditor: true },
  subscribe_to_labels: { least: GUEST, open: 'signed_in', whileArchived: true },
  manage_labels: { least: PLANNER },
  manage_milestones: { least: PLANNER },
  read_issues: {
    least: GUEST,
    open: 'anyone',
    feature: 'issues_access_level',
    whileArchived: true,
    auditor: true,
  },
  create_issues: { least: GUEST, open: 'signed_in', feature: 'issues_access_level' },
  read_boards: {
    least: GUEST,
    open: 'signed_in',
    feature: 'issues_access_level',
    whileArchived: true,
    auditor: true,
  },
  manage_boards: { least: PLANNER, feature: 'issues_access_level' },
  update_issues: { least: PLANNER, feature: 'issues_access_level' },
  delete_issues: { least: OWNER, feature: 'issues_access_level' },
  read_confidential_issues: {
    least: PLANNER,
    feature: 'issues_access_level',
    whileArchived: true,
    auditor: true,
  },
  read_merge_requests: {
    least: REPORTER,
    open: 'anyone',
    feature: 'merge_requests_access_level',
    whileArchived: true,
    auditor: true,
  },
  create_merge_requests: { least: REPORTER, open: 'signed_in', feature: 'merge_requests_access_level' },
  update_merge_requests: { least: DEVELOPER, feature: 'merge_requests_access_level' },
  manage_merge_requests: { least: REPORTER, feature: 'merge_requests_access_level' },
  delete_merge_requests: { least: OWNER, feature: 'merge_requests_access_level' },
  create_notes: { least: GUEST, open: 'signed_in' },
  read_internal_notes: { least: PLANNER, whileArchived: true, auditor: true },
  moderate_notes: { least: MAINTAINER },
  upload_files: { least: GUEST, open: 'signed_in' },
  manage_uploads: { least: MAINTAINER, whileArchived: true },
  fork_project: {
    least: REPORTER,
    open: 'signed_in',
    feature: 'repository_access_level',
    whileArchived: true,
  },
  request_project_access: { least: GUEST, visible: 'signed_in' },
  leave_project: { least: GUEST, visible: 'signed_in', whileArchived: true },
  read_project_members: { least: GUEST, visible: 'anyone', whileArchived: true },
  read_alerts: { least: DEVELOPER, whileArchived: true, auditor: true },
  manage_alerts: { least: DEVELOPER },
  manage_alert_integrations: { least: MAINTAINER },
  manage_incident_timeline: { least: DEVELOPER, feature: 'issues_access_level' },
  read_releases: {
    least: GUEST,
    open: 'anyone',
    feature: 'releases_access_level',
    whileArchived: true,
    auditor: true,
  },
  manage_releases: { least: DEVELOPER, feature: 'releases_access_level' },
  manage_feature_flags: { least: DEVELOPER, feature: 'feature_flags_access_level' },
  reset_feature_flag_client: { least: MAINTAINER, feature: 'feature_flags_access_level' },
  read_feature_flags: {
    least: DEVELOPER,
    feature: 'feature_flags_access_level',
    whileArchived: true,
    auditor: true,
  },
  read_project_audit_events: { least: DEVELOPER, whileArchived: true, auditor: true },
  read_all_project_audit_events: { least: MAINTAINER, whileArchived: true, auditor: true },
  read_errors: { least: REPORTER, whileArchived: true, auditor: true },
  change_errors: { least: DEVELOPER },
  configure_error_tracking: { least: MAINTAINER, whileArchived: true },
  update_project: { least: MAINTAINER, whileArchived: true },
  export_project: { least: MAINTAINER, whileArchived: true },
  import_relations: { least: MAINTAINER },
  read_imports: { least: MAINTAINER, whileArchived: true, auditor: true },
  manage_project_members: { least: MAINTAINER, whileArchived: true },
  rotate_own_project_token: { least: GUEST, whileArchived: true },
  manage_project_tokens: { least: MAINTAINER, whileArchived: true },
  manage_deploy_tokens: { least: MAINTAINER, whileArchived: true },
  share_project: { least: MAINTAINER },
  archive_project: { least: OWNER, whileArchived: true },
  change_project_visibility: { least: OWNER, whileArchived: true },
  transfer_project: { least: OWNER, whileArchived: true },
  remove_fork_relation: { least: OWNER },
  delete_project: { least: OWNER, whileArchived: true },
} as const satisfies Record<string, Rule>;

export const groupPolicy = {
  read_group: { least: GUEST, visible: 'anyone', whileArchived: true },
  choose_notifications: { least: GUEST, visible: 'signed_in', whileArchived: true },
  request_group_access: { least: GUEST, visible: 'signed_in' },
  leave_group: { least: GUEST, visible: 'signed_in', whileArchived: true },
  read_group_members: { least: GUEST, visible: 'anyone', whileArchived: true, notFromInside: true },
  read_group_audit_events: { least: DEVELOPER, whileArchived: true, auditor: true },
  read_all_group_audit_events: { least: OWNER, whileArchived: true, auditor: true },
  read_group_wiki: {
    least: GUEST,
    open: 'anyone',
    feature: 'wiki_access_level',
    whileArchived: true,
    auditor: true,
  },
  write_group_wiki: { least: DEVELOPER, feature: 'wiki_access_level' },
  delete_group_wiki_pages: { least: MAINTAINER, feature: 'wiki_access_level' },
  read_planning: { least: GUEST, open: 'anyone', whileArchived: true, auditor: true },
  subscribe_to_labels: { least: GUEST, open: 'signed_in', whileArchived: true },
  manage_labels: { least: PLANNER },
  manage_milestones: { least: PLANNER },
  read_boards: { least: GUEST, open: 'signed_in', whileArchived: true, auditor: true },
  manage_boards: { least: PLANNER },
  read_approvals: { least: OWNER, whileArchived: true, auditor: true },
  manage_approvals: { least: OWNER },
  read_epics: { least: GUEST, open: 'anyone', whileArchived: true, auditor: true },
  create_epics: { least: PLANNER },
  update_epics: { least: PLANNER },
  delete_epics: { least: OWNER },
  read_confidential_epics: { least: PLANNER, whileArchived: true, auditor: true },
  create_epic_notes: { least: GUEST, open: 'signed_in' },
  read_internal_epic_notes: { least: PLANNER, whileArchived: true, auditor: true },
  moderate_epic_notes: { least: MAINTAINER },
  upload_files: { least: GUEST, open: 'signed_in' },
  manage_uploads: { least: MAINTAINER, whileArchived: true },
  use_dependency_proxy: { least: GUEST, whileArchived: true },
  manage_dependency_proxy: { least: OWNER, whileArchived: true },
  publish_packages: { least: DEVELOPER },
  delete_packages: { least: MAINTAINER },
  create_projects: { least: DEVELOPER },
  create_subgroup: { least: MAINTAINER },
  import_projects: { least: MAINTAINER },
  update_group: { least: OWNER, whileArchived: true },
  export_group: { least: OWNER, whileArchived: true },
  manage_group_members: { least: OWNER, whileArchived: true },
  read_billable_members: { least: OWNER, whileArchived: true, auditor: true },
  rotate_own_group_token: { least: GUEST, whileArchived: true },
  manage_hooks: { least: OWNER, whileArchived: true },
  manage_integrations: { least: OWNER, whileArchived: true },
  manage_ci_variables: { least: OWNER, whileArchived: true },
  manage_protected_environments: { least: MAINTAINER },
  manage_push_rules: { least: OWNER, whileArchived: true },
  read_runners: { least: MAINTAINER, whileArchived: true, auditor: true },
  manage_runners: { least: OWNER, whileArchived: true },
  manage_group_tokens: { least: OWNER, whileArchived: true },
  manage_group_deploy_tokens: { least: OWNER, whileArchived: true },
  manage_enterprise_users: { least: OWNER, whileArchived: true },
  manage_service_accounts: { least: OWNER, whileArchived: true },
  revoke_leaked_tokens: { least: OWNER, whileArchived: true },
  manage_member_roles: { least: OWNER, whileArchived: true },
  share_group: { least: OWNER },
  archive_group: { least: OWNER, whileArchived: true },
  transfer_group: { least: OWNER, whileArchived: true },
  delete_group: { least: OWNER, whileArchived: true },
} as const satisfies Record<string, Rule>;

export type ProjectAbility = keyof typeof projectPolicy;
export type GroupAbility = keyof typeof groupPolicy;

/** The caller's relation to an object. */
export type Standing = {
  signedIn: boolean;
  admin: boolean;
  /** Reads everything and changes nothing. */
  auditor: boolean;
  /** Sees internal objects only as a member. */
  external: boolean;
  role: Role;
  visibility: number;
  archived: boolean;
  /** A member of a subgroup or project sees the group too. */
  reachesInside?: boolean;
  /** Rows of this policy that a custom role opens, beside the role. */
  opened?: ReadonlySet<Rule>;
  /** All features are on where this is missing. */
  features?: Partial<Record<Feature, FeatureLevel>> & { public_jobs?: boolean };
};

export type Decision = 'allowed' | 'refused' | 'invisible' | 'sign_in';

/** Whether the object exists for this caller. */
export function isVisible(standing: Standing): boolean {
  if (standing.admin || standing.auditor) return true;
  return standing.role > 0 || standing.reachesInside === true || isOpen(standing);
}

/** Whether a caller without any membership sees it. */
const isOpen = (standing: Standing): boolean =>
  standing.visibility === PUBLIC ||
  (standing.visibility === INTERNAL && standing.signedIn && !standing.external);

/** Whether an anonymous caller can ever have the ability. */
export const isForAnonymous = (rule: Rule): boolean => rule.visible === 'anyone' || rule.open === 'anyone';

const levels: readonly FeatureLevel[] = ['disabled', 'private', 'enabled', 'public'];

function levelOf(feature: Feature, standing: Standing): FeatureLevel {
  const { features = {} } = standing;
  const needed = neededFeature[feature];
  const own = features[feature] ?? 'enabled';
  const other = needed ? levelOf(needed, standing) : own;
  return levels.indexOf(own) < levels.indexOf(other) ? own : other;
}

/** The decision for every object of the API: invisible is 404, visible but refused is 403. */
export function decide(rule: Rule, standing: Standing): Decision {
  const level = rule.feature && levelOf(rule.feature, standing);
  if (level === 'public' && rule.open === 'anyone') return 'allowed';
  if (!standing.signedIn && !isForAnonymous(rule)) return 'sign_in';
  if (!isVisible(standing)) return 'invisible';
  if (standing.archived && !rule.whileArchived) return 'refused';
  if (level === 'disabled') return 'refused';
  const shutTo = standing.features?.public_jobs === false ? rule.unlessPublicJobs : undefined;
  if (rule.open && shutTo === undefined && isOpen(standing) && level !== 'private') return 'allowed';
  if (rule.notFromInside && !isVisible({ ...standing, reachesInside: false })) return 'refused';
  if (rule.visible !== undefined || standing.admin || (standing.auditor && rule.auditor)) return 'allowed';
  if (standing.opened?.has(rule)) return 'allowed';
  return standing.role >= (shutTo ?? rule.least) ? 'allowed' : 'refused';
}
