/** From the text of a configuration file to the jobs of a pipeline. */
import type { Files, PipelineContext } from './context.ts';
import { type IncludedFile, Includes } from './includes/include.ts';
import { type ConfigFile, readConfigFile } from './inputs/config-file.ts';
import type { Json, Outcome } from './plan.ts';
import { fromJson, type Hash, isHash, sizeOf, type Value } from './reading/value.ts';
import { writeYaml } from './reading/yaml.ts';
import { extendJobs } from './reuse/extends.ts';
import { resolveReferences } from './reuse/references.ts';
import { Conditions } from './rules/conditions.ts';
import { regexCompiler } from './rules/regex.ts';
import { composeConfig, type PipelineConfig } from './seeding/config.ts';
import { logicProblems } from './seeding/logic.ts';
import { Seeding } from './seeding/seed.ts';
import { type StaticJob, staticJobs } from './seeding/static-jobs.ts';
import { Findings } from './validation/check.ts';
import { checkConfig } from './validation/root.ts';
import { flatRules } from './validation/rules.ts';

const MAX_WARNINGS = 25;
const MAX_INPUTS = 20;
/** Characters of all files together, with what their references name. */
const MAX_LENGTH = 64 * 1024 * 1024;
/** Characters that are written as one file, which holds up all others meanwhile. */
const MAX_MERGED_LENGTH = 4 * 1024 * 1024;

export type CompileRequest = {
  /**
   * Of the file. One that lies in another project, or at an address, is a text that includes it; so is what a bridge starts,
   * with `include:` as its trigger has it.
   */
  text: string;
  /** Of `spec:inputs`, by name. */
  inputs?: { [name: string]: Json };
  context: PipelineContext;
  files: Files;
};

export type Compiled = {
  outcome: Outcome;
  includes: readonly IncludedFile[];
};

export type Linted = {
  errors: string[];
  warnings: string[];
  /** All files as one; null where they could not be put together, or are too long to be shown. */
  mergedYaml: string | null;
  includes: readonly IncludedFile[];
  /** Of a configuration without errors. */
  jobs: StaticJob[];
};

/** The jobs for the pipeline, or why there are none. It throws what the files and the context throw. */
export async function compile(request: CompileRequest): Promise<Compiled> {
  const loaded = await load(request);
  return { outcome: await planned(loaded, request), includes: loaded.includes };
}

/** What is wrong with the configuration by itself; rules are asked for includes alone. */
export async function lint(request: CompileRequest): Promise<Linted> {
  return linted(await load(request));
}

/** Both at once. */
export async function lintAndCompile(request: CompileRequest): Promise<Linted & { outcome: Outcome }> {
  const loaded = await load(request);
  return { ...linted(loaded), outcome: await planned(loaded, request) };
}

async function planned(
  { config, conditions, errors, warnings }: Loaded,
  { context }: CompileRequest,
): Promise<Outcome> {
  if (!config) return { kind: 'invalid', errors, warnings };
  return new Seeding(config, context, conditions).plan(warnings);
}

const linted = ({ config, errors, warnings, includes, root }: Loaded): Linted => ({
  errors,
  warnings,
  mergedYaml: root && sizeOf(root) <= MAX_MERGED_LENGTH ? writeYaml(root) : null,
  includes,
  jobs: config ? staticJobs(config) : [],
});

type Loaded = {
  conditions: Conditions;
  includes: readonly IncludedFile[];
  root: Hash | undefined;
  config: PipelineConfig | undefined;
  errors: string[];
  warnings: string[];
};

async function load(request: CompileRequest): Promise<Loaded> {
  const { context, files } = request;
  const conditions = new Conditions(context, files, await regexCompiler());
  const includes = new Includes(context, files, conditions);
  const merged = await mergedConfig(request, includes, conditions);
  const root = 'errors' in merged ? undefined : merged.root;
  const composed = 'errors' in merged ? merged : validConfig(merged.root, conditions);
  const config = 'errors' in composed ? undefined : composed;
  const warnings = config ? warningsOf(config) : [];
  let errors = 'errors' in composed ? composed.errors : [];
  if (config) errors = logicProblems(config);
  return {
    conditions,
    includes: includes.included,
    root,
    config: errors.length === 0 ? config : undefined,
    errors,
    warnings,
  };
}

/** The file with all that it includes, refers to and extends. */
async function mergedConfig(
  { text, inputs, context }: CompileRequest,
  includes: Includes,
  { compile }: Conditions,
): Promise<{ root: Hash } | { errors: string[] }> {
  if (text.trim() === '') return { errors: ['Please provide content of .gitlab-ci.yml'] };
  if (inputs && Object.keys(inputs).length > MAX_INPUTS)
    return { errors: [`There cannot be more than ${MAX_INPUTS} inputs`] };
  const file = await readConfigFile({
    text,
    inputs: inputs && fromJson(inputs),
    variable: includes.variable,
    compile,
  });
  if (file.kind !== 'read') return { errors: problemsOf(file) };
  const included = await includes.expand(file.config, context.at);
  if (!included) return { errors: includes.problems };
  const resolved = resolveReferences(included);
  if ('problem' in resolved) return { errors: [resolved.problem] };
  if (sizeOf(resolved.config) > MAX_LENGTH) return { errors: ['The parsed YAML is too big'] };
  const extended = extendJobs(resolved.config);
  return 'problems' in extended ? { errors: extended.problems } : { root: extended.config };
}

function validConfig(root: Hash, { compile }: Conditions): PipelineConfig | { errors: string[] } {
  const findings = new Findings(compile);
  checkConfig(root, findings);
  if (findings.errors.length > 0) return { errors: findings.errors };
  const config = composeConfig(root);
  return 'problem' in config ? { errors: [config.problem] } : config;
}

const problemsOf = (file: Exclude<ConfigFile, { kind: 'read' }>): string[] =>
  file.kind === 'malformed' ? [file.problem] : [file.problems.join(', ')];

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
