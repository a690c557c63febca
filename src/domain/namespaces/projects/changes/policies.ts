/** What a request makes of a project's policies: for the expiration of images, and the cleanup of packages. */
import { changedPolicy } from '../../../../kernel/namespaces/expiration-policy.ts';
import { changedCleanup } from '../../../../kernel/namespaces/packages-cleanup-policy.ts';
import type { ProjectSettings } from '../../../../kernel/namespaces/project-settings.ts';
import { now } from '../../../../platform/clock.ts';
import { invalid } from '../../../../platform/failure.ts';
import { patternCompiler, wholePatternProblem } from '../../../../platform/patterns/pattern.ts';
import type { UpdateProject } from './schema.ts';

type Expiration = Pick<ProjectSettings, 'container_expiration_policy'>;

/** Nothing where the request names no attribute; 400 for a pattern that is wrong, or missing in a policy that runs. */
async function expirationPolicy(
  { container_expiration_policy: before }: Expiration,
  { container_expiration_policy_attributes: attributes }: UpdateProject,
): Promise<Partial<Expiration>> {
  if (attributes === undefined) return {};
  const policy = changedPolicy(before, attributes, now());
  if (policy.enabled && !policy.name_regex)
    throw invalid({ 'container_expiration_policy.name_regex': ["can't be blank"] });
  const compile = await patternCompiler();
  for (const name of ['name_regex', 'name_regex_keep'] as const) {
    const problem = policy[name] ? wholePatternProblem(compile, policy[name]) : undefined;
    if (problem !== undefined) throw invalid({ [`container_expiration_policy.${name}`]: [problem] });
  }
  return { container_expiration_policy: policy };
}

/** Those of which the request names an attribute. */
export const policies = async (
  before: Expiration,
  input: UpdateProject,
): Promise<Partial<Expiration & Pick<ProjectSettings, 'packages_cleanup_policy'>>> => ({
  ...(await expirationPolicy(before, input)),
  ...(input.packages_cleanup_policy_attributes && {
    packages_cleanup_policy: changedCleanup(input.packages_cleanup_policy_attributes, now()),
  }),
});
