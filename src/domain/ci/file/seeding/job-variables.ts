/** The variables of one job, where rules and names ask for them (facts-ci: 1.11, 2.7). Pure. */
import type { ContextVariable } from '../context.ts';
import type { VariableSource } from '../expansion.ts';
import type { YamlVariable } from '../plan.ts';
import { isHash, type Value } from '../reading/value.ts';
import { inherits, type JobConfig, textOf, yamlVariables } from './config.ts';

/** Those of the job over what it inherits; those of a rule over both. */
export function jobYamlVariables(
  { keywords, matrix }: JobConfig,
  top: readonly YamlVariable[],
  ofRule: Value | undefined,
): YamlVariable[] {
  const inherit = keywords.get('inherit');
  const isInherited = inherits(isHash(inherit) ? inherit.get('variables') : undefined);
  const all = [
    ...top.filter(({ key }) => isInherited(key)),
    ...yamlVariables(keywords.get('variables')),
    ...matrix,
    ...yamlVariables(ofRule),
  ];
  return [...new Map(all.map((variable) => [variable.key, variable])).values()];
}

/** What a job's name is without the numbers and values of parallel ones. */
const groupName = (name: string): string =>
  name.replace(/(?:\s*(?:\d+[\s:/\\]+\d+|:\s*\[[^\]]*\]))+\s*$/, '');

const slugOf = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '-')
    .slice(0, 63)
    .replace(/^-+|-+$/g, '');

function predefinedOf({ name, stage, keywords, parallel }: JobConfig): Record<string, string> {
  const given = keywords.get('environment');
  const environment = isHash(given) ? given : new Map([['name', given ?? null]]);
  const fields: Record<string, string | null> = {
    CI_JOB_NAME: name,
    CI_JOB_NAME_SLUG: slugOf(name),
    CI_JOB_GROUP_NAME: groupName(name),
    CI_JOB_STAGE: stage,
    CI_NODE_TOTAL: String(parallel?.total ?? 1),
    CI_NODE_INDEX: parallel ? String(parallel.index) : null,
    CI_JOB_MANUAL: ['manual', 'delayed'].includes(String(keywords.get('when'))) ? 'true' : null,
    CI_ENVIRONMENT_NAME: textOf(environment.get('name')),
    CI_ENVIRONMENT_ACTION: given ? (textOf(environment.get('action')) ?? 'start') : null,
    CI_ENVIRONMENT_TIER: textOf(environment.get('deployment_tier')),
  };
  return Object.fromEntries(
    Object.entries(fields).flatMap(([key, value]) => (value === null ? [] : [[key, value]])),
  );
}

/** Variables of the pipeline, of which the file's own lie between the others. */
export type PipelineVariables = {
  predefined: ReadonlyMap<string, ContextVariable>;
  overriding: ReadonlyMap<string, ContextVariable>;
};

export const pipelineVariables = (
  predefined: readonly ContextVariable[],
  overriding: readonly ContextVariable[],
): PipelineVariables => {
  const byKey = (list: readonly ContextVariable[]) =>
    new Map(list.map((variable) => [variable.key, variable]));
  return { predefined: byKey(predefined), overriding: byKey(overriding) };
};

/** All that a job, or the workflow, sees. */
export function variableSource(
  { predefined, overriding }: PipelineVariables,
  yaml: readonly YamlVariable[],
  job?: JobConfig,
): VariableSource {
  const ofFile = new Map(yaml.map((variable) => [variable.key, variable]));
  let ofJob: Record<string, string> | undefined;
  return (name) => {
    const found = overriding.get(name) ?? ofFile.get(name);
    if (found || !job || !name.startsWith('CI_')) return found ?? predefined.get(name);
    ofJob ??= predefinedOf(job);
    const value = Object.hasOwn(ofJob, name) ? ofJob[name] : undefined;
    return value === undefined ? predefined.get(name) : { key: name, value };
  };
}
