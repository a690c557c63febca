/** Who may give variables to a pipeline, and what keeps a push from making one (facts for CI: When pipelines are created). Pure. */
import type { ProjectSettings } from '../../../kernel/namespaces/project-settings.ts';
import { DEVELOPER, MAINTAINER, OWNER, type Role } from '../../../kernel/policy/roles.ts';

const roles: Record<ProjectSettings['ci_pipeline_variables_minimum_override_role'], Role | undefined> = {
  no_one_allowed: undefined,
  developer: DEVELOPER,
  maintainer: MAINTAINER,
  owner: OWNER,
};

/** Whether this role may give variables to pipelines of the project. */
export function maySetVariables(
  { ci_pipeline_variables_minimum_override_role: least }: ProjectSettings,
  role: Role,
): boolean {
  const needed = roles[least];
  return needed !== undefined && role >= needed;
}

/** The keys that are given more than once, each once. */
export const doubled = (keys: readonly string[]): string[] => [
  ...new Set(keys.filter((key, at) => keys.indexOf(key) !== at)),
];

/** Whether the message of a commit asks for no pipeline. */
export const asksToSkip = (message: string): boolean => /\[(ci[ _-]skip|skip[ _-]ci)\]/i.test(message);
