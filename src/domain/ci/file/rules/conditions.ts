/** What a rule asks: `if`, `changes` and `exists`, of the pipeline and its files (facts-ci: 2.6). */

import { monotonic } from '../../../../platform/clock.ts';
import { globMatcher } from '../../../../platform/patterns/glob.ts';
import { takeTurns } from '../../../../platform/turns.ts';
import type { Files, PipelineContext, SourceCommit } from '../context.ts';
import { expandText } from '../expansion.ts';
import type { Path } from '../reading/problem.ts';
import { isHash, type Value } from '../reading/value.ts';
import { holds, parseExpression } from './expression.ts';
import type { RegexCompiler } from './regex.ts';

/** Paths times globs; where there are more, the answer is yes. */
const MAX_COMPARISONS = 50_000;
/** Of all rules of a pipeline, where each glob counts once. */
const MAX_ALL_COMPARISONS = 5_000_000;

/** From the first file to the last rule. */
const RULES_TIMEOUT_MS = 60_000;

/** What is wrong with a rule can show only when it is asked. */
export class RuleProblem extends Error {
  /** Where the rule stands among those that were asked. */
  at: Path = [];
}

type Lookup = (name: string) => string | undefined;

/** Rules of one pipeline; answers that many jobs ask for are given once. */
export class Conditions {
  readonly #context: PipelineContext;
  readonly #files: Files;
  readonly compile: RegexCompiler;
  readonly #expressions = new Map<string, ReturnType<typeof parseExpression>>();
  readonly #changed = new Map<string | null, ReturnType<PipelineContext['changedPaths']>>();
  readonly #paths = new Map<string, Promise<readonly string[]>>();
  readonly #answers = new Map<string, boolean>();
  readonly #othersTurn = takeTurns();
  readonly #deadline = monotonic() + RULES_TIMEOUT_MS;
  #comparisons = 0;

  constructor(context: PipelineContext, files: Files, compile: RegexCompiler) {
    this.#context = context;
    this.#files = files;
    this.compile = compile;
  }

  /** Whether an expression holds; one that is none does not. */
  holds(text: string, variable: Lookup): boolean {
    let expression = this.#expressions.get(text);
    if (expression === undefined) {
      expression = parseExpression(text, this.compile);
      this.#expressions.set(text, expression);
    }
    return expression !== undefined && holds(expression, { variable }, this.compile);
  }

  /** Whether all that the rule asks is so; `at` is where the rule's file is. RuleProblem. */
  async met(
    rule: { if?: Value | undefined; changes?: Value | undefined; exists?: Value | undefined },
    variable: Lookup,
    at: SourceCommit = this.#context.at,
  ): Promise<boolean> {
    await this.#othersTurn();
    if (monotonic() > this.#deadline)
      throw new RuleProblem(`rules take more than ${RULES_TIMEOUT_MS / 1_000} seconds`);
    if (typeof rule.if === 'string' && !this.holds(rule.if, variable)) return false;
    if (rule.changes !== undefined && rule.changes !== null && !(await this.changed(rule.changes, variable)))
      return false;
    return rule.exists === undefined || rule.exists === null || this.exists(rule.exists, variable, at);
  }

  async changed(changes: Value, variable: Lookup): Promise<boolean> {
    const compareTo = isHash(changes) ? changes.get('compare_to') : undefined;
    const ref = typeof compareTo === 'string' ? expandText(compareTo, variable) : null;
    let asked = this.#changed.get(ref);
    if (!asked) {
      asked = this.#context.changedPaths(ref);
      this.#changed.set(ref, asked);
    }
    const paths = await asked;
    if (paths === 'no_ref') throw new RuleProblem('rules:changes:compare_to is not a valid ref');
    return paths === 'unknown' || this.#anyFits(`changes ${ref}`, globsOf(changes, variable), paths);
  }

  async exists(exists: Value, variable: Lookup, from: SourceCommit): Promise<boolean> {
    const at = await this.#commitOf(exists, variable, from);
    const key = `${at.project}@${at.sha}`;
    let asked = this.#paths.get(key);
    if (!asked) {
      asked = this.#files.paths(at);
      this.#paths.set(key, asked);
    }
    const paths = await asked;
    const globs = globsOf(exists, variable);
    const isTopLevel = globs.every((glob) => !glob.includes('/'));
    const searched = isTopLevel ? paths.filter((path) => !path.includes('/')) : paths;
    return this.#anyFits(`exists ${key} ${isTopLevel}`, globs, searched);
  }

  async #commitOf(exists: Value, variable: Lookup, from: SourceCommit): Promise<SourceCommit> {
    const project = isHash(exists) ? exists.get('project') : undefined;
    if (!isHash(exists) || typeof project !== 'string') return from;
    const ref = exists.get('ref');
    const path = expandText(project, variable);
    const at = await this.#files.commit(path, typeof ref === 'string' ? expandText(ref, variable) : null);
    if (at === 'no_project')
      throw new RuleProblem(`rules:exists:project \`${path}\` is not a valid project path`);
    if (at === 'no_ref')
      throw new RuleProblem(`rules:exists:ref \`${ref}\` is not a valid ref in project \`${path}\``);
    return at;
  }

  /** A glob that ends with a slash names a folder. */
  async #anyFits(key: string, globs: string[], paths: readonly string[]): Promise<boolean> {
    if (globs.length * paths.length > MAX_COMPARISONS) return true;
    for (const glob of globs) {
      const question = `${key} ${glob}`;
      let answer = this.#answers.get(question);
      if (answer === undefined) {
        await this.#othersTurn();
        this.#comparisons += paths.length;
        if (this.#comparisons > MAX_ALL_COMPARISONS) return true;
        answer = paths.some(globMatcher(glob.endsWith('/') ? `${glob}**/*` : glob));
        this.#answers.set(question, answer);
      }
      if (answer) return true;
    }
    return false;
  }
}

function globsOf(rule: Value, variable: Lookup): string[] {
  const globs = isHash(rule) ? rule.get('paths') : rule;
  return (Array.isArray(globs) ? globs : [globs])
    .filter((glob) => typeof glob === 'string')
    .map((glob) => expandText(glob, variable).replace(/^\//, ''));
}
