/** From the text of a configuration file to the jobs of a pipeline. */
import { positions } from '../../../platform/documents/yaml.ts';
import type { Files, PipelineContext } from './context.ts';
import { type IncludedFile, Includes } from './includes/include.ts';
import { readConfigFile } from './inputs/config-file.ts';
import type { Json, Outcome } from './plan.ts';
import { describe } from './positions.ts';
import { type Problem, problemOf } from './reading/problem.ts';
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
  /** Nobody wrote the text: nothing is said of places in it. */
  isMade?: boolean;
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
  { config, conditions, errors, warnings, described }: Loaded,
  { context }: CompileRequest,
): Promise<Outcome> {
  if (!config) return { kind: 'invalid', errors, warnings };
  const seeded = await new Seeding(config, context, conditions).plan(warnings);
  if (seeded.kind !== 'invalid') return seeded;
  return { kind: 'invalid', errors: await described(seeded.problems), warnings };
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
  /** What is said of problems. */
  described: (problems: readonly Problem[]) => Promise<string[]>;
};

async function load(request: CompileRequest): Promise<Loaded> {
  const { context, files } = request;
  const conditions = new Conditions(context, files, await regexCompiler());
  const includes = new Includes(context, files, conditions);
  const { problems, root, config, resolved } = await configOf(request, includes, conditions);
  const described: Loaded['described'] = (given) =>
    describe(given, includes.sources, resolved, request.isMade);
  const errors = await described(problems);
  return {
    conditions,
    includes: includes.included,
    root,
    config: errors.length === 0 ? config : undefined,
    errors,
    warnings: config ? warningsOf(config) : [],
    described,
  };
}

type Configuration = {
  problems: readonly Problem[];
  /** The file with all that it includes and refers to. */
  resolved?: Hash;
  /** With what its jobs extend, too. */
  root?: Hash;
  /** Of jobs that are right by themselves. */
  config?: PipelineConfig;
};

/** As far as there are no problems. */
async function configOf(
  { text, inputs, context }: CompileRequest,
  includes: Includes,
  { compile }: Conditions,
): Promise<Configuration> {
  const refused = (problem: string): Configuration => ({ problems: [problemOf(problem)] });
  if (text.trim() === '') return refused('Please provide content of .gitlab-ci.yml');
  if (inputs && Object.keys(inputs).length > MAX_INPUTS)
    return refused(`There cannot be more than ${MAX_INPUTS} inputs`);
  const file = await readConfigFile({
    name: undefined,
    text,
    inputs: inputs && fromJson(inputs),
    variable: includes.variable,
    compile,
    includedInputs: (include, header) => includes.inputsOf(include, { source: header, at: context.at }),
  });
  if (file.kind === 'malformed') return refused(malformed(file, text));
  if (file.kind !== 'read') return { problems: [file.problem] };
  const included = await includes.expand(file.source, context.at);
  if (!included) return { problems: includes.problems };
  const references = resolveReferences(included);
  if ('problem' in references) return { problems: [references.problem] };
  const resolved = references.config;
  if (sizeOf(resolved) > MAX_LENGTH) return refused('The parsed YAML is too big');
  const extended = extendJobs(resolved);
  if ('problems' in extended) return { ...extended, resolved };
  const root = extended.config;
  const findings = new Findings(compile);
  checkConfig(root, findings);
  if (findings.problems.length > 0) return { problems: findings.problems, resolved, root };
  const config = composeConfig(root);
  if ('problem' in config) return { problems: [config.problem], resolved, root };
  return { problems: logicProblems(config, context.mostNeeds), resolved, root, config };
}

/** The parser says where it stops in the words of the public API. */
function malformed(
  { problem, offset }: { problem: string; offset: number | undefined },
  text: string,
): string {
  if (offset === undefined) return problem;
  const { line, column } = positions(text)(offset);
  return `${problem} at line ${line} column ${column}`;
}

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
