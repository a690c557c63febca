/** A configuration with all that it includes: later files over earlier ones, and the including file over all of them. */
import { monotonic } from '../../../../platform/clock.ts';
import type { ContextVariable, Files, PipelineContext, SourceCommit } from '../context.ts';
import { expandText, sourceOf, variableLookup } from '../expansion.ts';
import { readConfigFile } from '../inputs/config-file.ts';
import { specProblems } from '../inputs/spec.ts';
import type { Json } from '../plan.ts';
import type { Problem, Source, Spot } from '../reading/problem.ts';
import { deepMerge, type Hash, isHash, nestedItems, type Value } from '../reading/value.ts';
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
class IncludeProblem extends Error {
  readonly spot: Spot;
  constructor(message: string, spot: Spot) {
    super(message);
    this.spot = spot;
  }
}

/** A file, and the commit by whose tree its local paths are found. */
type Including = { source: Source; at: SourceCommit | null };

export class Includes {
  readonly included: IncludedFile[] = [];
  readonly problems: Problem[] = [];
  /** All files: of what two of them have, the later one's is taken. */
  readonly sources: Source[] = [];
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
  async expand(source: Source, at: SourceCommit | null): Promise<Hash | undefined> {
    try {
      const expanded = await this.#expand({ source, at });
      return this.problems.length === 0 ? expanded : undefined;
    } catch (error) {
      if (!(error instanceof IncludeProblem)) throw error;
      this.#refuse(error.message, error.spot);
      return undefined;
    }
  }

  #refuse(message: string, ...spots: Spot[]): undefined {
    this.problems.push({ message, spots });
  }

  async #expand(from: Including): Promise<Hash> {
    const { source } = from;
    if (!source.config.has('include')) {
      this.sources.push(source);
      return source.config;
    }
    const own: Hash = new Map(source.config);
    own.delete('include');
    const { entries, problems } = includeEntries(source.config.get('include'), ['include']);
    for (const { message, at } of problems) this.#refuse(message, { source, at });
    let merged: Hash = new Map();
    for (const entry of entries) {
      const expanded = this.#withVariables(entry);
      if (!(await this.#isWanted(expanded, from))) continue;
      for (const each of await this.#matching(expanded, from)) {
        const included = await this.#include(each, from);
        if (included) merged = deepMerge(merged, included);
      }
    }
    this.sources.push(source);
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

  async #isWanted({ rules, path }: IncludeEntry, { source, at }: Including): Promise<boolean> {
    if (rules === undefined || rules === null) return true;
    const refuse = (problem: string, ...below: (string | number)[]): never => {
      throw new IncludeProblem(problem, { source, at: [...path, 'rules', ...below] });
    };
    if (!Array.isArray(rules)) return refuse('include:rules config should be a array');
    for (const [rule, below] of nestedItems(rules)) {
      if (!isHash(rule)) return refuse('include:rules:rule config should be a hash', ...below);
      const problem = ruleProblem(rule, this.#conditions);
      if (problem) refuse(`include:rules:rule ${problem}`, ...below);
      const asked = { if: rule.get('if'), changes: rule.get('changes'), exists: rule.get('exists') };
      try {
        if (await this.#conditions.met(asked, this.#variable, at ?? undefined))
          return rule.get('when') !== 'never';
      } catch (error) {
        if (!(error instanceof RuleProblem)) throw error;
        refuse(`include:${error.message}`, ...below);
      }
    }
    return false;
  }

  /** A path with stars is each file that it fits. */
  async #matching(entry: IncludeEntry, { source, at }: Including): Promise<IncludeEntry[]> {
    if (entry.kind !== 'local' || !entry.location.includes('*') || !at) return [entry];
    const fits = wildcardMatcher(entry.location);
    const paths = (await this.#files.paths(at)).filter((path) => isYaml(path) && fits(path));
    if (paths.length === 0) {
      this.#refuse(`Local file \`${this.#shown(entry.location)}\` does not exist!`, {
        source,
        at: entry.path,
      });
      return [];
    }
    return paths.toSorted().map((location) => ({ ...entry, location }));
  }

  async #include(entry: IncludeEntry, from: Including): Promise<Hash | undefined> {
    const read = await this.#read(entry, from);
    return read && this.#expand(read);
  }

  /**
   * What `inputs:` of the files of a `spec:include` declare, a later one instead of an earlier one, or what is wrong first.
   * The header's own come after them.
   */
  async inputsOf(include: Value, from: Including): Promise<Hash | Problem> {
    const before = this.problems.length;
    const inputs: Hash = new Map();
    try {
      const { entries, problems } = includeEntries(include, ['spec', 'include']);
      for (const { message, at } of problems) this.#refuse(message, { source: from.source, at });
      for (const entry of entries)
        for (const [name, input] of await this.#declaredIn(this.#withVariables(entry), from))
          inputs.set(name, input);
    } catch (error) {
      if (!(error instanceof IncludeProblem)) throw error;
      this.#refuse(error.message, error.spot);
    }
    const [problem] = this.problems.splice(before);
    return problem ?? inputs;
  }

  async #declaredIn(entry: IncludeEntry, from: Including): Promise<Hash> {
    const none: Hash = new Map();
    const spot: Spot = { source: from.source, at: entry.path };
    if (!['local', 'project', 'remote'].includes(entry.kind)) {
      this.#refuse('spec:include config can only be of: local, project, remote', spot);
      return none;
    }
    if (!(await this.#isWanted(entry, from))) return none;
    const read = await this.#read({ ...entry, inputs: undefined }, from, true);
    if (!read) return none;
    const { source } = read;
    const shown = `\`${source.name}\``;
    const unknown = [...source.config.keys()].filter((key) => key !== 'inputs');
    if (unknown.length > 0) {
      const message = `${shown}: config contains unknown keys: ${unknown.join(', ')}`;
      this.#refuse(message, { source, at: unknown.slice(0, 1) });
    }
    // Its inputs are those of a header.
    for (const { message, at } of specProblems(source.config, this.#conditions.compile))
      this.#refuse(`${shown}: ${message}`, { source, at: typeof at === 'number' ? at : at.slice(1) });
    const declared = source.config.get('inputs');
    return isHash(declared) ? declared : none;
  }

  /** The file of an entry; one of a header's inputs has none of others. */
  async #read(entry: IncludeEntry, from: Including, isOfHeader = false): Promise<Including | undefined> {
    const spot: Spot = { source: from.source, at: entry.path };
    if (this.included.length >= MAX_INCLUDES)
      throw new IncludeProblem(`Maximum of ${MAX_INCLUDES} nested includes are allowed!`, spot);
    if (monotonic() > this.#deadline)
      throw new IncludeProblem('Request timed out when fetching configuration files.', spot);
    const shown = this.#shown(entry.location);
    if (entry.kind !== 'component' && !isYaml(entry.location.replace(/[?#].*/, '')))
      return this.#refuse(`Included file \`${shown}\` does not have YAML extension!`, spot);
    const fetched = await fetchInclude(entry, shown, from.at, this.#files);
    if (typeof fetched === 'string') return this.#refuse(fetched, spot);
    const { text } = fetched;
    this.#totalLength += text.length;
    if (this.#totalLength > MAX_TOTAL_LENGTH)
      throw new IncludeProblem('Total size of combined CI/CD configuration is too big', spot);
    this.included.push({
      type: entry.kind === 'project' ? 'file' : entry.kind,
      location: shown,
      extra: extraOf(entry),
      context: from.at,
      at: entry.kind === 'artifact' ? null : fetched.at,
    });
    const file = await readConfigFile({
      name: shown,
      text,
      inputs: entry.inputs,
      ...(fetched.component && { component: fetched.component }),
      variable: this.variable,
      compile: this.#conditions.compile,
      includedInputs: async (include, header) =>
        isOfHeader
          ? {
              message: '`spec:include` is not allowed here',
              spots: [{ source: header, at: ['spec', 'include'] }],
            }
          : this.inputsOf(include, { source: header, at: fetched.at }),
    });
    if (file.kind === 'malformed')
      return this.#refuse(
        /too big$/.test(file.problem)
          ? `\`${shown}\`: ${file.problem}`
          : `Included file \`${shown}\` does not have valid YAML syntax!`,
        file.offset === undefined ? spot : { source: { name: shown, text }, at: file.offset },
      );
    if (file.kind === 'read') return { source: file.source, at: fetched.at };
    const { message, spots } = file.problem;
    if (file.kind === 'refused' && spots.length > 0)
      return this.#refuse(`\`${shown}\`: ${message}`, ...spots);
    // What is given to the file stands in the one that gives it.
    const names = spots.map(({ at }) => (typeof at === 'number' ? [] : at.slice(['spec', 'inputs'].length)));
    const given = (names.length > 0 ? names : [[]]).map((name) => [...entry.path, 'inputs', ...name]);
    return this.#refuse(`\`${shown}\`: ${message}`, ...given.map((at) => ({ source: from.source, at })));
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
