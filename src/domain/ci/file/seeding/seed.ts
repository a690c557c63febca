/** The jobs that a pipeline gets: rules are asked, names expanded, needs checked (facts-ci: 2.6–2.8). */
import { takeTurns } from '../../../../platform/turns.ts';
import type { PipelineContext, SourceCommit } from '../context.ts';
import { expandText, expansionProblem, variableLookup } from '../expansion.ts';
import type { AutoCancel, Outcome, PlannedJob, PlannedNeed, When, YamlVariable } from '../plan.ts';
import { type Path, type Problem, problemAt } from '../reading/problem.ts';
import { type Hash, isHash, pathOfItem, toJson, type Value } from '../reading/value.ts';
import { type Conditions, RuleProblem } from '../rules/conditions.ts';
import { flatRules } from '../validation/rules.ts';
import { type JobConfig, type PipelineConfig, textOf, yamlVariables } from './config.ts';
import {
  artifactsOf,
  cachesOf,
  environmentOf,
  exitCodesOf,
  hashIn,
  idTokensOf,
  imageOf,
  pagesOf,
  releaseOf,
  retryOf,
  secondsOf,
  servicesOf,
  textsIn,
  triggerOf,
} from './fields.ts';
import {
  jobYamlVariables,
  type PipelineVariables,
  pipelineVariables,
  variableSource,
} from './job-variables.ts';
import { circleProblem } from './logic.ts';
import {
  type BaseNeed,
  baseNames,
  baseNeeds,
  expandNeed,
  foreignNeeds,
  fullNames,
  placesOfNeeds,
} from './needs.ts';
import { isForPipeline } from './policy.ts';

const MAX_NAME_LENGTH = 255;

type Lookup = (name: string) => string | undefined;

/** The first rule that fits; undefined without one. RuleProblem, with the place of its rule. */
async function firstMatch(
  rules: Value[],
  conditions: Conditions,
  variable: Lookup,
  at: SourceCommit,
): Promise<Hash | undefined> {
  for (const [index, rule] of (flatRules(rules) ?? []).entries()) {
    if (!isHash(rule)) continue;
    const asked = { if: rule.get('if'), changes: rule.get('changes'), exists: rule.get('exists') };
    try {
      if (await conditions.met(asked, variable, at)) return rule;
    } catch (error) {
      if (error instanceof RuleProblem) error.at = pathOfItem(rules, index);
      throw error;
    }
  }
  return undefined;
}

/** As an outcome, with the places of what is wrong. */
export type Seeded =
  | Exclude<Outcome, { kind: 'invalid' }>
  | { kind: 'invalid'; problems: Problem[]; warnings: string[] };

export class Seeding {
  readonly #config: PipelineConfig;
  readonly #context: PipelineContext;
  readonly #conditions: Conditions;
  readonly #variables: PipelineVariables;
  readonly #bases: ReadonlyMap<string, string>;
  readonly #stageIndexes: ReadonlyMap<string, number>;
  readonly #problems: Problem[] = [];
  #top: YamlVariable[];

  constructor(config: PipelineConfig, context: PipelineContext, conditions: Conditions) {
    this.#config = config;
    this.#context = context;
    this.#conditions = conditions;
    this.#variables = pipelineVariables(context.predefined, context.overriding);
    this.#bases = baseNames(config);
    this.#stageIndexes = new Map(config.stages.map((stage, index) => [stage, index]));
    this.#top = config.variables;
  }

  async plan(warnings: string[]): Promise<Seeded> {
    const rule = await this.#workflowRule();
    if (rule === undefined) return this.#invalid(warnings) ?? { kind: 'filtered', by: 'workflow_rules' };
    this.#top = merged(this.#config.variables, yamlVariables(rule.get('variables')));

    const jobs: PlannedJob[] = [];
    const othersTurn = takeTurns();
    for (const base of this.#config.jobs.values())
      for (const job of base.jobs) {
        await othersTurn();
        const planned = await this.#planJob(job);
        if (planned) jobs.push(planned);
      }
    this.#checkNeeds(jobs);
    const invalid = this.#invalid(warnings);
    if (invalid) return invalid;
    const used = new Set(jobs.map((job) => job.stage));
    const stages = this.#config.stages.filter((stage) => used.has(stage));
    if (stages.every((stage) => stage === '.pre' || stage === '.post'))
      return { kind: 'filtered', by: 'rules' };
    return {
      kind: 'planned',
      pipeline: {
        name: this.#name(),
        stages,
        jobs: jobs.toSorted((one, other) => one.stageIndex - other.stageIndex),
        autoCancel: this.#autoCancel(rule),
        variables: this.#top,
        warnings,
      },
    };
  }

  #invalid(warnings: string[]): Seeded | undefined {
    return this.#problems.length > 0 ? { kind: 'invalid', problems: this.#problems, warnings } : undefined;
  }

  #report(message: string, ...at: Path): void {
    this.#problems.push(problemAt(message, ...at));
  }

  /** Of a job by its full name. */
  #reportOf(job: string, message: string, ...at: Path): void {
    this.#report(message, this.#bases.get(job) ?? job, ...at);
  }

  /** An empty one without rules; undefined where the pipeline is unwanted. */
  async #workflowRule(): Promise<Hash | undefined> {
    const rules = this.#config.workflow.get('rules');
    if (!Array.isArray(rules)) return new Map();
    const variable = variableLookup(variableSource(this.#variables, this.#top));
    try {
      const rule = await firstMatch(rules, this.#conditions, variable, this.#context.at);
      return rule?.get('when') === 'never' ? undefined : rule;
    } catch (error) {
      if (!(error instanceof RuleProblem)) throw error;
      this.#report(`Failed to parse rule for workflow: ${error.message}`, 'workflow', 'rules', ...error.at);
      return undefined;
    }
  }

  #name(): string | null {
    const name = textOf(this.#config.workflow.get('name'));
    if (name === null) return null;
    const variable = variableLookup(variableSource(this.#variables, this.#top));
    const expanded = expandText(name, variable).trim().slice(0, MAX_NAME_LENGTH);
    return expanded === '' ? null : expanded;
  }

  #autoCancel(rule: Hash): AutoCancel {
    const [general, ofRule] = [this.#config.workflow, rule].map((each) => hashIn(each.get('auto_cancel')));
    const say = (key: string) => textOf(ofRule?.get(key)) ?? textOf(general?.get(key));
    return {
      onNewCommit: (say('on_new_commit') ?? 'conservative') as AutoCancel['onNewCommit'],
      onJobFailure: (say('on_job_failure') ?? 'none') as AutoCancel['onJobFailure'],
    };
  }

  /** Undefined for a job that the pipeline does not get. */
  async #planJob(job: JobConfig): Promise<PlannedJob | undefined> {
    const yaml = jobYamlVariables(job, this.#top, undefined);
    const source = variableSource(this.#variables, yaml, job);
    const problem = expansionProblem(yaml, source);
    if (problem) {
      this.#reportOf(job.name, `${job.name}: ${problem}`, 'variables');
      return undefined;
    }
    try {
      const rule = await this.#ruleOf(job, variableLookup(source));
      return rule && this.#plannedJob(job, rule);
    } catch (error) {
      if (!(error instanceof RuleProblem)) throw error;
      const at = job.keywords.has('rules') ? ['rules', ...error.at] : ['only'];
      this.#reportOf(job.name, `Failed to parse rule for ${job.name}: ${error.message}`, ...at);
      return undefined;
    }
  }

  /** An empty one for a job without rules that is wanted. */
  async #ruleOf({ keywords }: JobConfig, variable: Lookup): Promise<Hash | undefined> {
    const rules = keywords.get('rules');
    if (!Array.isArray(rules)) {
      const always = Array.isArray(this.#config.workflow.get('rules'));
      const isWanted = await isForPipeline(keywords, always, this.#context, this.#conditions, variable);
      return isWanted ? new Map() : undefined;
    }
    const rule = await firstMatch(rules, this.#conditions, variable, this.#context.at);
    return rule?.get('when') === 'never' ? undefined : rule;
  }

  #plannedJob(job: JobConfig, rule: Hash): PlannedJob {
    const { name, kind, stage, keywords } = job;
    const yaml = jobYamlVariables(job, this.#top, rule.get('variables'));
    const variable = variableLookup(variableSource(this.#variables, yaml, job));
    const own = (key: string): Value | undefined => rule.get(key) ?? keywords.get(key);
    const when = (textOf(own('when')) ?? 'on_success') as When;
    const allowFailure = own('allow_failure');
    const needs = own('needs');
    const sameNeeds = baseNeeds(needs);
    const hasNeeds = sameNeeds.length > 0 || (Array.isArray(needs) && needs.length === 0);
    const dependencies = keywords.get('dependencies');
    const pages = kind === 'job' ? pagesOf(name, keywords) : null;
    const coverage = textOf(keywords.get('coverage'));
    const resourceGroup = textOf(keywords.get('resource_group'));
    return {
      name,
      stage,
      stageIndex: this.#stageIndexes.get(stage) ?? 0,
      kind,
      when,
      startIn: when === 'delayed' ? secondsOf(own('start_in')) : null,
      manualConfirmation: textOf(keywords.get('manual_confirmation')),
      allowFailure:
        typeof allowFailure === 'boolean'
          ? allowFailure
          : !isHash(allowFailure) && keywords.get('when') === 'manual',
      allowFailureExitCodes: exitCodesOf(allowFailure),
      schedulingType: hasNeeds ? 'dag' : 'stage',
      needs: this.#needsOf(name, sameNeeds),
      foreignNeeds: foreignNeeds(needs),
      dependencies: Array.isArray(dependencies)
        ? dependencies.flatMap((each) => fullNames(this.#config, this.#bases, String(each)))
        : null,
      tags: textsIn(keywords.get('tags')).map((tag) => expandText(tag, variable, 'keep')),
      interruptible: own('interruptible') === true,
      timeout: secondsOf(keywords.get('timeout')),
      retry: retryOf(keywords.get('retry')),
      coverage: coverage === null ? null : coverage.slice(1, -1),
      environment: environmentOf(keywords.get('environment'), variable),
      resourceGroup: resourceGroup === null ? null : expandText(resourceGroup, variable),
      parallel: job.parallel,
      variables: yaml,
      script: textsIn(keywords.get('script')),
      beforeScript: textsIn(keywords.get('before_script')),
      afterScript: textsIn(keywords.get('after_script')),
      image: imageOf(keywords.get('image')),
      services: servicesOf(keywords.get('services')),
      artifacts: artifactsOf(keywords.get('artifacts'), pages),
      cache: cachesOf(keywords.get('cache')),
      hooks: { preGetSourcesScript: textsIn(hashIn(keywords.get('hooks')).get('pre_get_sources_script')) },
      idTokens: idTokensOf(keywords.get('id_tokens')),
      release: releaseOf(keywords.get('release')),
      trigger: kind === 'bridge' ? triggerOf(keywords, variable) : null,
      pages,
      secrets: toJson(keywords.get('secrets')),
      inputs: toJson(keywords.get('inputs')),
      run: toJson(keywords.get('run')),
    };
  }

  #needsOf(job: string, needs: BaseNeed[]): PlannedNeed[] {
    const expanded = needs.flatMap((need) => expandNeed(this.#config, this.#bases, need));
    const { mostNeeds } = this.#context;
    if (expanded.length <= mostNeeds) return expanded;
    this.#reportOf(
      job,
      `${job}: one job can only need ${mostNeeds} others, but you have listed ${expanded.length}. See needs keyword documentation for more details`,
      'needs',
    );
    return [];
  }

  /** Needs of jobs that rules left out; optional ones are dropped. */
  #checkNeeds(jobs: PlannedJob[]): void {
    const names = new Set(jobs.map((job) => job.name));
    for (const job of jobs) {
      for (const need of job.needs)
        if (!names.has(need.name) && !need.optional) this.#reportMissing(job.name, need);
      job.needs = job.needs.filter((need) => names.has(need.name));
      job.dependencies = job.dependencies?.filter((name) => names.has(name)) ?? null;
    }
    // Rules may have replaced needs.
    const needs = new Map(jobs.map((job) => [job.name, job.needs.map((need) => need.name)]));
    const circle = circleProblem(needs, (job) => this.#bases.get(job) ?? job);
    if (circle) this.#problems.push(circle);
  }

  #reportMissing(job: string, { name }: PlannedNeed): void {
    const base = this.#config.jobs.get(this.#bases.get(job) ?? job);
    const places = placesOfNeeds(base?.keywords.get('needs'));
    const at = places.get(name) ?? places.get(this.#bases.get(name)) ?? [];
    this.#reportOf(
      job,
      `'${job}' job needs '${name}' job, but '${name}' does not exist in the pipeline. This might be because of the only, except, or rules keywords. To need a job that sometimes does not exist in the pipeline, use needs:optional.`,
      'needs',
      ...at,
    );
  }
}

const merged = (below: readonly YamlVariable[], above: readonly YamlVariable[]): YamlVariable[] => [
  ...new Map([...below, ...above].map((variable) => [variable.key, variable])).values(),
];
