/** `rules:` of jobs and of the workflow, `only:` and `except:` (facts-ci: 2.6). */
import { WEEK_SECONDS } from '../duration.ts';
import { isHash, type Value } from '../reading/value.ts';
import { parseExpression } from '../rules/expression.ts';
import {
  attribute,
  bool,
  type Check,
  duration,
  eachItem,
  entry,
  type Findings,
  hashOf,
  isGiven,
  isText,
  type Keyword,
  type Keywords,
  type Location,
  noMoreThan,
  type Rule,
  required,
  text,
  texts,
} from './check.ts';
import { needs } from './needs.ts';
import { globalVariables, jobVariables } from './shared.ts';

const MAX_GLOBS = 50;
const MAX_NESTING = 10;
const MAX_START_IN_SECONDS = WEEK_SECONDS;

export const expression: Rule = (value, { compile }) =>
  !(isText(value) && parseExpression(value, compile)) && 'invalid expression syntax';

const known =
  (values: readonly string[]): Rule =>
  (value) =>
    !values.includes(String(value)) && `unknown value: ${value}`;

/** Globs, or a hash with them. */
const globs = (keywords: Keywords): Keyword =>
  entry((value, location, findings) => {
    const check = hashOf(
      { paths: required(texts, noMoreThan(MAX_GLOBS)), ...keywords },
      { otherwise: 'config should be an array or a hash' },
    );
    if (!Array.isArray(value)) {
      check(value, location, findings);
      return;
    }
    const problem = texts(value, findings) || noMoreThan(MAX_GLOBS)(value, findings);
    if (problem) findings.add(location, `config ${problem}`);
  });

const asked: Keywords = {
  if: attribute(expression),
  changes: globs({ compare_to: attribute(text) }),
  exists: globs({ project: attribute(text), ref: attribute(text) }),
};

/** A delayed job says when it starts, and no other does. */
export function checkStartIn(
  when: Value | undefined,
  startIn: Value | undefined,
  location: Location,
  findings: Findings,
): void {
  if (when !== 'delayed') {
    if (isGiven(startIn)) findings.add(location, 'start in must be blank', 'start_in');
    return;
  }
  const problem = isGiven(startIn)
    ? duration(MAX_START_IN_SECONDS)(startIn, findings)
    : 'should be a duration';
  if (problem) findings.add(location, `start in ${problem}`, 'start_in');
}

const ruleOf = (when: readonly string[]): Check =>
  hashOf(
    {
      ...asked,
      when: attribute(known(when)),
      start_in: attribute(),
      allow_failure: attribute(bool),
      interruptible: attribute(bool),
      variables: entry(jobVariables),
      needs: entry(needs),
    },
    {
      more: (rule, location, findings) =>
        checkStartIn(rule.get('when'), rule.get('start_in'), location, findings),
    },
  );

const bridgeWhen = ['on_success', 'on_failure', 'always', 'never', 'manual'];
const jobRule = ruleOf([...bridgeWhen, 'delayed']);
const bridgeRule = ruleOf(bridgeWhen);

/** Rules in the order in which they are tried; undefined where they are no rules. */
export function flatRules(rules: Value | undefined): Value[] | undefined {
  if (!Array.isArray(rules)) return undefined;
  const flat = rules.flat(MAX_NESTING) as Value[];
  return flat.some(Array.isArray) ? undefined : flat;
}

/** A rule is told of at the place of all of them. */
const rulesOf =
  (rule: Check): Check =>
  (value, location, findings) => {
    const rules = flatRules(value);
    if (!rules?.every(isHash)) return;
    eachItem(value, location, ':rule', (each, at) => rule(each, at, findings));
  };

/** What is wrong with all of them stands with the job. */
export const rulesShape: Rule = (value) =>
  !flatRules(value)?.every(isHash) && 'should be an array containing hashes and arrays of hashes';

export const jobRules = rulesOf(jobRule);
export const bridgeRules = rulesOf(bridgeRule);

const autoCancel = hashOf({
  on_new_commit: attribute(oneOfThese(['conservative', 'interruptible', 'none'])),
  on_job_failure: attribute(oneOfThese(['none', 'all'])),
});

function oneOfThese(values: readonly string[]): Rule {
  return (value) => !values.includes(String(value)) && `must be one of: ${values.join(', ')}`;
}

const workflowRule = hashOf({
  ...asked,
  when: attribute(known(['always', 'never'])),
  variables: entry(globalVariables),
  auto_cancel: entry(autoCancel),
});

export const workflow = hashOf({
  name: attribute(text, (value) => {
    const { length } = String(value);
    return (length === 0 || length > 255) && 'should be a string of 1 to 255 characters';
  }),
  auto_cancel: entry(autoCancel),
  rules: entry((value, location, findings) => {
    if (!Array.isArray(value)) findings.add(location, 'config should be a array');
    else eachItem(value, location, ':rule', (rule, at) => workflowRule(rule, at, findings));
  }),
});

const isRef =
  (findings: Findings) =>
  (value: Value): boolean =>
    isText(value) &&
    (!value.startsWith('/') || findings.compile(value.replace(/@[^/]*(\/[^/]*)*$/, '')) !== undefined);

const refs: Rule = (value, findings) =>
  !(Array.isArray(value) && value.every(isRef(findings))) &&
  'should be an array of strings or regular expressions using re2 syntax';

const policyOf = hashOf(
  {
    refs: attribute(refs),
    variables: attribute(texts, (value, findings) => {
      const wrong = (value as string[]).some((each) => expression(each, findings));
      return wrong && 'invalid expression syntax';
    }),
    changes: attribute(texts, noMoreThan(MAX_GLOBS)),
    kubernetes: attribute(known(['active'])),
  },
  { otherwise: 'has to be either an array of conditions or a hash' },
);

/** `only:` or `except:`. */
export const policy: Check = (value, location, findings) => {
  if (!Array.isArray(value)) policyOf(value, location, findings);
  else {
    const problem = refs(value, findings);
    if (problem) findings.add(location, `config ${problem}`);
  }
};
