/** The expiration policy of images that a request makes of a project's. */
import { changedPolicy } from '../../../../kernel/namespaces/expiration-policy.ts';
import type { ProjectSettings } from '../../../../kernel/namespaces/project-settings.ts';
import { now } from '../../../../platform/clock.ts';
import { invalid } from '../../../../platform/failure.ts';
import { patternCompiler, wholePatternProblem } from '../../../../platform/patterns/pattern.ts';
import type { UpdateProject } from './schema.ts';

type Policy = Pick<ProjectSettings, 'container_expiration_policy'>;

/** Nothing where the request names no attribute; 400 for a pattern that is wrong, or missing in a policy that runs. */
export async function expirationPolicy(
  { container_expiration_policy: before }: Policy,
  { container_expiration_policy_attributes: attributes }: UpdateProject,
): Promise<Partial<Policy>> {
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
