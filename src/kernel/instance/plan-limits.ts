/** The limits of plans (facts-packages: Plan limits): numbers by name, with what they are at first; 0 is no limit, but of needs, which it forbids. */

export const defaultPlanLimits = {
  ci_instance_level_variables: 25,
  ci_pipeline_size: 0,
  ci_active_jobs: 0,
  ci_project_subscriptions: 2,
  ci_pipeline_schedules: 10,
  ci_needs_size_limit: 50,
  ci_registered_group_runners: 1_000,
  ci_registered_project_runners: 1_000,
  conan_max_file_size: 3_221_225_472,
  dotenv_variables: 20,
  dotenv_size: 5_120,
  enforcement_limit: 0,
  generic_packages_max_file_size: 5_368_709_120,
  helm_max_file_size: 5_242_880,
  maven_max_file_size: 3_221_225_472,
  notification_limit: 0,
  npm_max_file_size: 524_288_000,
  nuget_max_file_size: 524_288_000,
  pipeline_hierarchy_size: 1_000,
  pypi_max_file_size: 3_221_225_472,
  terraform_module_max_file_size: 1_073_741_824,
  storage_size_limit: 0,
  web_hook_calls: 0,
  web_hook_calls_low: 0,
  web_hook_calls_mid: 0,
} as const;

export type PlanLimitName = keyof typeof defaultPlanLimits;
export type PlanLimits = Readonly<Record<PlanLimitName, number>>;

export const planLimitNames = Object.keys(defaultPlanLimits) as PlanLimitName[];

/** The plan that every project and group has. */
export const PLAN = 'default';

/** The most that the limit allows. */
export const limitOf = (limits: PlanLimits, name: PlanLimitName): number => limits[name] || Infinity;
