/**
 * Abilities that a custom role adds to its base role, by their public names: the rows of the policy that each one opens. What is
 * not here is refused when a role is made (facts: packages §7.1).
 */
import { type GroupAbility, groupPolicy, type ProjectAbility, projectPolicy, type Rule } from './policy.ts';

type Opened = { project?: readonly ProjectAbility[]; group?: readonly GroupAbility[] };

export const customAbilities = {
  admin_cicd_variables: { project: ['manage_ci_variables'], group: ['manage_ci_variables'] },
  admin_group_member: { group: ['manage_group_members'] },
  admin_integrations: { project: ['manage_integrations'], group: ['manage_integrations'] },
  admin_protected_environments: {
    project: ['manage_protected_environments'],
    group: ['manage_protected_environments'],
  },
  admin_push_rules: { project: ['manage_push_rules'], group: ['manage_push_rules'] },
  admin_terraform_state: { project: ['read_terraform_state', 'manage_terraform_state'] },
  admin_web_hook: { project: ['manage_hooks'], group: ['manage_hooks'] },
  archive_project: { project: ['archive_project'] },
  manage_deploy_tokens: { project: ['manage_deploy_tokens'], group: ['manage_group_deploy_tokens'] },
  manage_group_access_tokens: { group: ['manage_group_tokens'] },
  manage_project_access_tokens: { project: ['manage_project_tokens'] },
  read_code: { project: ['read_code'] },
  remove_project: { project: ['delete_project'] },
} as const satisfies Record<string, Opened>;

export type CustomAbility = keyof typeof customAbilities;
export const customAbilityNames = Object.keys(customAbilities) as CustomAbility[];

const opened = (name: string): Opened => (customAbilities as Record<string, Opened>)[name] ?? {};

/** The rows of the policy that these open in a project. */
export const openedInProject = (names: readonly string[]): ReadonlySet<Rule> =>
  new Set(names.flatMap((name) => opened(name).project ?? []).map((ability) => projectPolicy[ability]));

/** The rows that they open in a group. */
export const openedInGroup = (names: readonly string[]): ReadonlySet<Rule> =>
  new Set(names.flatMap((name) => opened(name).group ?? []).map((ability) => groupPolicy[ability]));

/** The abilities of custom roles that open this one in a project. */
export const openersInProject = (ability: ProjectAbility): CustomAbility[] =>
  customAbilityNames.filter((name) => opened(name).project?.includes(ability));
