/** A configuration with all that it includes: later files over earlier ones, and the including file over all of them. */
import { monotonic } from '../../../../platform/clock.ts';
import type { ContextVariable, Files, PipelineContext, SourceCommit } from '../context.ts';
import { expandText, sourceOf, variableLookup } from '../expansion.ts';
import { readConfigFile } from '../inputs/config-file.ts';
import type { Json } from '../plan.ts';
import { deepMerge, type Hash, isHash, type Value } from '../reading/value.ts';
import { type Conditions, RuleProblem } from '../rules/conditions.ts';
import { parseExpression } from '../rules/expression.ts';
import { type IncludeEntry, includeEntries } from './entries.ts';
import { fetchInclude } from './fetch.ts';
import { wildcardMatcher } from './wildcard.ts';

const MAX_INCLUDES = 150;
/** Characters of all files together: what one process reads in some twenty seconds. */
const MAX_TOTAL_LENGTH = 16 * 1024 * 1024;
const FETCH_TIMEOUT_MS = 30_000;

/** A file that was included, as lint reports it. */
export type IncludedFile = {
  type: 'local' | 'file' | 'remote' | 'template' | 'component' | 'artifact';
  location: string;
  extra: { [name: string]: Json };
  /** Of the file that includes it. */
  context: SourceCommit | null;
  /** Where it is; null for what no project has. */
  at: SourceCommit | null;
};

/** One message, since what comes after it may be due to it. */
class IncludeProblem extends Error {}

export class Includes {
  readonly included: IncludedFile[] = [];
  readonly problems: string[] = [];
  readonly #files: Files;
  readonly #conditions: Conditions;
  readonly #variables: ReadonlyMap<string, ContextVariable>;
  readonly #variable: (name: string) => string | undefined;
  readonly #deadline = monotonic() + FETCH_TIMEOUT_MS;
  #totalLength = 0;

  constructor(context: PipelineContext, files: Files, conditions: Conditions) {
    const variables = [...context.predefined, ...context.overriding];
    this.#files = files;
    this.#conditions = conditions;
    this.#variables = new Map(variables.map((variable) => [variable.key, variable]));
    this.#variable = variableLookup(sourceOf(variables));
  }

  /** For blocks of inputs. */
  readonly variable = (name: string): { value: string; masked: boolean } | undefined => {
    const value = this.#variable(name);
    return value === undefined ? undefined : { value, masked: this.#variables.get(name)?.masked ?? false };
  };

  /** Undefined where there are problems. */
  async expand(config: Hash, at: SourceCommit | null): Promise<Hash | undefined> {
    try {
      const expanded = await this.#expand(config, at);
      return this.problems.length === 0 ? expanded : undefined;
    } catch (error) {
      if (!(error instanceof IncludeProblem)) throw error;
      this.problems.push(error.message);
      return undefined;
    }
  }

  async #expand(config: Hash, at: SourceCommit | null): Promise<Hash> {
    if (!config.has('include')) return config;
    const own: Hash = new Map(config);
    own.delete('include');
    const { entries, problems } = includeEntries(config.get('include'));
    this.problems.push(...problems);
    let merged: Hash = new Map();
    for (const entry of entries) {
      const expanded = this.#withVariables(entry);
      if (!(await this.#isWanted(expanded, at))) continue;
      for (const each of await this.#matching(expanded, at)) {
        const included = await this.#include(each, at);
        if (included) merged = deepMerge(merged, included);
      }
    }
    return deepMerge(merged, own);
  }

  #withVariables(entry: IncludeEntry): IncludeEntry {
    const expand = <T extends string | null>(text: T) =>
      (text === null ? null : expandText(text, this.#variable)) as T;
    const location = expand(entry.location);
    const isPath = entry.kind === 'local' || entry.kind === 'project' || entry.kind === 'artifact';
    return {
      ...entry,
      location: isPath ? location.replace(/^\/+/, '') : location,
      project: expand(entry.project),
      ref: expand(entry.ref),
      job: expand(entry.job),
    };
  }

  async #isWanted({ rules }: IncludeEntry, at: SourceCommit | null): Promise<boolean> {
    if (rules === undefined || rules === null) return true;
    if (!Array.isArray(rules)) throw new IncludeProblem('include:rules config should be a array');
    for (const rule of rules.flat(10)) {
      if (!isHash(rule)) throw new IncludeProblem('include:rules:rule config should be a hash');
      const problem = ruleProblem(rule, this.#conditions);
      if (problem) throw new IncludeProblem(`include:rules:rule ${problem}`);
      const asked = { if: rule.get('if'), changes: rule.get('changes'), exists: rule.get('exists') };
      try {
        if (await this.#conditions.met(asked, this.#variable, at ?? undefined))
          return rule.get('when') !== 'never';
      } catch (error) {
        throw error instanceof RuleProblem ? new IncludeProblem(`include:${error.message}`) : error;
      }
    }
    return false;
  }

  /** A path with stars is each file that it fits. */
  async #matching(entry: IncludeEntry, at: SourceCommit | null): Promise<IncludeEntry[]> {
    if (entry.kind !== 'local' || !entry.location.includes('*') || !at) return [entry];
    const fits = wildcardMatcher(entry.location);
    const paths = (await this.#files.paths(at)).filter((path) => isYaml(path) && fits(path));
    if (paths.length === 0) {
      this.problems.push(`Local file \`${this.#shown(entry.location)}\` does not exist!`);
      return [];
    }
    return paths.toSorted().map((location) => ({ ...entry, location }));
  }

  async #include(entry: IncludeEntry, from: SourceCommit | null): Promise<Hash | undefined> {
    const refuse = (problem: string): undefined => {
      this.problems.push(problem);
    };
    if (this.included.length >= MAX_INCLUDES)
      throw new IncludeProblem(`Maximum of ${MAX_INCLUDES} nested includes are allowed!`);
    if (monotonic() > this.#deadline)
      throw new IncludeProblem('Request timed out when fetching configuration files.');
    const shown = this.#shown(entry.location);
    if (entry.kind !== 'component' && !isYaml(entry.location.replace(/[?#].*/, '')))
      return refuse(`Included file \`${shown}\` does not have YAML extension!`);
    const fetched = await fetchInclude(entry, shown, from, this.#files);
    if (typeof fetched === 'string') return refuse(fetched);
    this.#totalLength += fetched.text.length;
    if (this.#totalLength > MAX_TOTAL_LENGTH)
      throw new IncludeProblem('Total size of combined CI/CD configuration is too big');
    this.included.push({
      type: entry.kind === 'project' ? 'file' : entry.kind,
      location: shown,
      extra: extraOf(entry),
      context: from,
      at: entry.kind === 'artifact' ? null : fetched.at,
    });
    const file = await readConfigFile({
      text: fetched.text,
      inputs: entry.inputs,
      ...(fetched.component && { component: fetched.component }),
      variable: this.variable,
      compile: this.#conditions.compile,
    });
    if (file.kind === 'malformed')
      return refuse(
        /too big$/.test(file.problem)
          ? `\`${shown}\`: ${file.problem}`
          : `Included file \`${shown}\` does not have valid YAML syntax!`,
      );
    if (file.kind === 'refused') return refuse(`\`${shown}\`: ${file.problems.join(', ')}`);
    return this.#expand(file.config, fetched.at);
  }

  /** Without what is masked. */
  #shown(location: string): string {
    let shown = location;
    for (const { value, masked } of this.#variables.values())
      if (masked && value !== '')
        shown = shown.replaceAll(value, `[MASKED]${'x'.repeat(Math.max(0, value.length - 8))}`);
    return shown;
  }
}

const isYaml = (path: string): boolean => /\.ya?ml$/.test(path);

const extraOf = ({ kind, project, ref, job }: IncludeEntry): { [name: string]: Json } => {
  if (kind === 'project') return { project, ref: ref ?? 'HEAD' };
  return kind === 'artifact' ? { job } : {};
};

function ruleProblem(rule: Hash, { compile }: Conditions): string | undefined {
  const allowed = ['if', 'exists', 'changes', 'when'];
  const unknown = [...rule.keys()].filter((key) => !allowed.includes(key));
  if (unknown.length > 0) return `config contains unknown keys: ${unknown.join(', ')}`;
  const when: Value | undefined = rule.get('when');
  if (when !== undefined && when !== 'always' && when !== 'never') return `when unknown value: ${when}`;
  const condition = rule.get('if');
  const isCondition =
    condition === undefined || (typeof condition === 'string' && parseExpression(condition, compile));
  return isCondition ? undefined : 'if invalid expression syntax';
}
