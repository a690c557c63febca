/** From the text of a configuration file to the jobs of a pipeline. */
import { stringify } from 'yaml';
import type { Files, PipelineContext } from './context.ts';
import { type IncludedFile, Includes } from './includes/include.ts';
import { type ConfigFile, readConfigFile } from './inputs/config-file.ts';
import type { Json, Outcome } from './plan.ts';
import { fromJson, type Hash, isHash, sizeOf, type Value } from './reading/value.ts';
import { extendJobs } from './reuse/extends.ts';
import { resolveReferences } from './reuse/references.ts';
import { Conditions } from './rules/conditions.ts';
import { regexCompiler } from './rules/regex.ts';
import { composeConfig, type PipelineConfig } from './seeding/config.ts';
import { logicProblems } from './seeding/logic.ts';
import { Seeding } from './seeding/seed.ts';
import { Findings } from './validation/check.ts';
import { checkConfig } from './validation/root.ts';
import { flatRules } from './validation/rules.ts';

const MAX_WARNINGS = 25;
/** Characters of all files together, with what their references name. */
const MAX_LENGTH = 64 * 1024 * 1024;

export type CompileRequest = {
  text: string;
  /** Of `spec:inputs`, by name. */
  inputs?: { [name: string]: Json };
  context: PipelineContext;
  files: Files;
};

export type Compiled = {
  outcome: Outcome;
  /** All files as one, for lint; null where they could not be put together. */
  mergedYaml(): string | null;
  includes: readonly IncludedFile[];
};

/** The jobs for the pipeline, or why there are none. It throws what the files and the context throw. */
export async function compile({ text, inputs, context, files }: CompileRequest): Promise<Compiled> {
  const conditions = new Conditions(context, files, await regexCompiler());
  const includes = new Includes(context, files, conditions);
  const invalid = (errors: string[], merged: Hash | null = null, warnings: string[] = []): Compiled => ({
    outcome: { kind: 'invalid', errors, warnings },
    mergedYaml: () => merged && toYaml(merged),
    includes: includes.included,
  });
  if (text.trim() === '') return invalid(['Please provide content of .gitlab-ci.yml']);
  const file = readConfigFile({
    text,
    inputs: inputs && fromJson(inputs),
    variable: includes.variable,
    compile: conditions.compile,
  });
  if (file.kind !== 'read') return invalid(problemsOf(file));
  const included = await includes.expand(file.config, context.at);
  if (!included) return invalid(includes.problems);
  const resolved = resolveReferences(included);
  if ('problem' in resolved) return invalid([resolved.problem]);
  if (sizeOf(resolved.config) > MAX_LENGTH) return invalid(['The parsed YAML is too big']);
  const extended = extendJobs(resolved.config);
  if ('problems' in extended) return invalid(extended.problems);
  const root = extended.config;

  const findings = new Findings(conditions.compile);
  checkConfig(root, findings);
  if (findings.errors.length > 0) return invalid(findings.errors, root);
  const config = composeConfig(root);
  if ('problem' in config) return invalid([config.problem], root);
  const warnings = warningsOf(config);
  const problems = logicProblems(config);
  if (problems.length > 0) return invalid(problems, root, warnings);
  return {
    outcome: await new Seeding(config, context, conditions).plan(warnings),
    mergedYaml: () => toYaml(root),
    includes: includes.included,
  };
}

const problemsOf = (file: Exclude<ConfigFile, { kind: 'read' }>): string[] =>
  file.kind === 'malformed' ? [file.problem] : [file.problems.join(', ')];

const toYaml = (root: Hash): string =>
  `---\n${stringify(root, { version: '1.1', schema: 'yaml-1.1', aliasDuplicateObjects: false, lineWidth: 0 })}`;

/** Rules that end with anything, where no workflow keeps a push from making two pipelines. */
function warningsOf({ workflow, jobs }: PipelineConfig): string[] {
  if (Array.isArray(workflow.get('rules'))) return [];
  const isLoose = (rules: Value[]): boolean => {
    const last = rules.at(-1);
    return isHash(last) && last.has('when') && last.size === 1 && last.get('when') !== 'never';
  };
  return Array.from(jobs.values())
    .filter((job) => isLoose(flatRules(job.keywords.get('rules')) ?? []))
    .slice(0, MAX_WARNINGS)
    .map(
      ({ name }) =>
        `jobs:${name} may allow multiple pipelines to run for a single action due to \`rules:when\` clause with no \`workflow:rules\``,
    );
}
