/** Keywords of jobs and bridges (facts-ci: 2.5), and of what is neither. */
import { inputProblems, inputValues } from '../inputs/spec.ts';
import { type Hash, isHash, type Value } from '../reading/value.ts';
import { betweenSlashes } from '../rules/regex.ts';
import {
  atMost,
  attribute,
  bool,
  type Check,
  checkOf,
  config,
  entry,
  type Findings,
  filled,
  hash,
  hashOf,
  integer,
  isGiven,
  isText,
  type Keywords,
  Location,
  nestedTexts,
  oneOf,
  type Rule,
  required,
  text,
  textOrTexts,
  texts,
} from './check.ts';
import { combinationCount, MAX_PARALLEL } from './matrix.ts';
import { bridgeNeeds, needItems, needs } from './needs.ts';
import { bridgeRules, checkStartIn, jobRules, policy, rulesShape } from './rules.ts';
import { allowFailure, allowFailureKind, defaultKeywords, environment, jobVariables } from './shared.ts';

export const MAX_NAME_LENGTH = 255;
export const MAX_JOB_INPUTS = 50;
const MAX_CHILD_INCLUDES = 3;

export type JobKind = 'hidden' | 'job' | 'bridge';

/** Undefined for what is no job. */
export function kindOfJob(name: string, value: Value): JobKind | undefined {
  if (name.startsWith('.')) return 'hidden';
  if (!isHash(value)) return undefined;
  if (value.has('script') || value.has('run')) return 'job';
  return value.has('trigger') || value.has('needs') ? 'bridge' : undefined;
}

const boolOrTexts: Rule = (value, findings) =>
  typeof value !== 'boolean' && texts(value, findings) && 'should be a bool or array of strings';

const inherit = hashOf({
  default: config(boolOrTexts, (value) => {
    const unknown = Array.isArray(value)
      ? value.filter((name) => !Object.hasOwn(defaultKeywords, String(name)))
      : [];
    return unknown.length > 0 && `contains unknown values: ${unknown.join(', ')}`;
  }),
  variables: config(boolOrTexts),
});

const matrix: Check = (value, location, findings) => {
  if (!Array.isArray(value) || !value.every(isHash)) {
    findings.add(location, 'config should be an array of hashes');
    return;
  }
  const isScalar = (each: Value) => each !== null && typeof each !== 'object';
  for (const [index, row] of value.entries()) {
    const place = location.below(index, ':variables');
    if (row.size === 0) findings.add(place, 'config requires at least 1 items');
    for (const [key, values] of row) {
      const given: Value[] = Array.isArray(values) ? values : [values];
      if (given.length > 0 && given.every(isScalar)) continue;
      findings.add(place, 'config should be a hash of key value pairs', key);
      break;
    }
  }
  if (combinationCount(value) > MAX_PARALLEL)
    findings.add(location, `config generates too many jobs (maximum is ${MAX_PARALLEL})`);
};

const matrixOf = hashOf(
  { matrix: entry(matrix) },
  {
    otherwise: 'should be an integer or a hash',
    more: (value, location, findings) => {
      if (!value.has('matrix')) findings.add(location, 'config missing required keys: matrix');
    },
  },
);

const parallel: Check = (value, location, findings) => {
  if (typeof value === 'number') checkOf(integer(1, MAX_PARALLEL))(value, location, findings);
  else matrixOf(value, location, findings);
};

const bridgeParallel: Check = (value, location, findings) =>
  typeof value === 'number'
    ? findings.add(location, 'config cannot use "parallel: <number>".')
    : matrixOf(value, location, findings);

const common: Keywords = {
  extends: attribute(textOrTexts),
  stage: config(text),
  rules: attribute(rulesShape),
  only: entry(policy),
  except: entry(policy),
  variables: entry(jobVariables),
  inherit: entry(inherit),
  resource_group: attribute(text, filled, atMost(MAX_NAME_LENGTH)),
  allow_failure: attribute(allowFailureKind),
  interruptible: config(bool),
  environment: entry(environment),
  start_in: attribute(),
};

const notWithRules = ['only', 'except', 'start_in'];

function checkCommon(job: Hash, rules: Check, location: Location, findings: Findings): void {
  const given = job.get('rules');
  if (!isGiven(given)) return;
  const unusable = notWithRules.filter((key) => isGiven(job.get(key)));
  if (unusable.length > 0)
    findings.add(location, `config key may not be used with \`rules\`: ${unusable.join(', ')}`, unusable[0]);
  rules(given, location.below('rules'), findings);
}

const coverage = config((value, { compile }) => {
  const source = isText(value) ? /^\/(.+)\/$/s.exec(value)?.[1] : undefined;
  const isPattern = source !== undefined && compile(betweenSlashes(source)) !== undefined;
  return !isPattern && 'must be a regular expression with re2 syntax';
});

const link = hashOf({
  name: required(text, filled),
  url: required(text, filled),
  filepath: attribute(text),
  link_type: attribute(text),
});

const release = hashOf({
  tag_name: required(text, filled),
  description: required(text, filled),
  tag_message: attribute(text),
  name: attribute(text),
  ref: attribute(text),
  released_at: attribute(
    (value) => !(isText(value) && Number.isFinite(Date.parse(value))) && 'must be a valid datetime',
  ),
  milestones: attribute(textOrTexts),
  assets: entry(
    hashOf({
      links: entry((value, location, findings) => {
        if (!Array.isArray(value)) findings.add(location, 'config should be an array');
        else
          for (const [index, each] of value.entries()) link(each, location.below(index, ':link'), findings);
      }),
    }),
  ),
});

const pages: Check = (value, location, findings) => {
  if (typeof value === 'boolean') return;
  hashOf(
    { path_prefix: attribute(text), expire_in: attribute(), publish: attribute(text) },
    { otherwise: 'config should be a boolean or a hash' },
  )(value, location, findings);
};

const jobInputs: Check = (value, location, findings) => {
  if (!isHash(value)) findings.add(location, 'config should be a hash');
  else if (value.size > MAX_JOB_INPUTS)
    findings.add(location, `config cannot define more than ${MAX_JOB_INPUTS} inputs`);
  else
    for (const [name, input] of value) {
      const keywords = {
        type: attribute(),
        description: attribute(text),
        options: attribute(),
        regex: attribute(text),
        default: attribute(),
      };
      const at = location.below(name);
      hashOf({ ...keywords, default: required() })(input, at, findings);
      if (!isHash(input) || !isGiven(input.get('default'))) continue;
      const wrong = [...inputProblems(input, findings.compile)].find((each) => typeof each === 'string');
      const [problem] = wrong
        ? []
        : inputValues(new Map([['inputs', new Map([[name, input]])]]), new Map(), findings.compile).problems;
      const message = wrong || problem?.message.replace(/^`.*?` input: /s, '');
      if (message) findings.add(at, message, message.split(' ', 1)[0]);
    }
};

const jobKeywords: Keywords = {
  ...common,
  ...defaultKeywords,
  script: attribute(),
  trigger: attribute(),
  run: config((value) => !(Array.isArray(value) && value.every(isHash)) && 'should be an array of hashes'),
  when: attribute(oneOf(['on_success', 'on_failure', 'always', 'manual', 'delayed'])),
  manual_confirmation: attribute(text),
  dependencies: attribute(texts),
  coverage,
  parallel: entry(parallel),
  needs: entry(needs),
  release: entry(release),
  publish: config(text),
  pages: entry(pages),
  inputs: entry(jobInputs),
  secrets: config(hash),
  dast_configuration: config(hash),
};

export const jobCheck = hashOf(jobKeywords, {
  exclusive: [
    ['script', 'trigger'],
    ['script', 'run'],
    ['run', 'trigger'],
    ['run', 'before_script'],
    ['run', 'after_script'],
  ],
  more: (job, location, findings) => {
    const script = job.get('script');
    if (!job.has('run') && (!isGiven(script) || filled(script, findings)))
      findings.add(location, "script can't be blank", 'script');
    if (!isGiven(job.get('rules')) || job.get('when') === 'delayed')
      checkStartIn(job.get('when'), job.get('start_in'), location, findings);
    checkDependencies(job, location, findings);
    if (isGiven(script)) checkOf(nestedTexts)(script, location.below('script'), findings);
    allowFailure(job.get('allow_failure') ?? null, location.below('allow_failure'), findings);
    checkCommon(job, jobRules, location, findings);
  },
});

function checkDependencies(job: Hash, location: Location, findings: Findings): void {
  const dependencies = job.get('dependencies');
  const needed = needItems(job.get('needs'));
  if (!Array.isArray(dependencies) || needed.length === 0) return;
  const names = new Set(needed.map((need) => (isHash(need) ? need.get('job') : need)));
  const missing = dependencies.filter((name) => !names.has(name));
  if (missing.length > 0)
    findings.add(location, `dependencies the ${missing.join(', ')} should be part of needs`, 'dependencies');
}

const strategy = attribute(oneOf(['depend', 'mirror'], 'should be depend or mirror'));
const forward = entry(hashOf({ yaml_variables: attribute(bool), pipeline_variables: attribute(bool) }));

function checkChildInclude(item: Hash, location: Location, findings: Findings): void {
  if (item.has('artifact') && !item.has('job'))
    findings.add(location, 'config must specify the job where to fetch the artifact from');
  if (item.has('project') && !item.has('file'))
    findings.add(location, 'config must specify the file where to fetch the config from');
}

const childTrigger = hashOf({
  include: entry((value, location, findings) => {
    if (Array.isArray(value) && value.length > MAX_CHILD_INCLUDES)
      findings.add(location, `config is too long (maximum is ${MAX_CHILD_INCLUDES})`);
    const check = (item: Value, at: Location) => {
      if (isHash(item)) checkChildInclude(item, at, findings);
      else if (!isText(item)) findings.add(at, 'config should be a hash, a string, or an array of them');
    };
    if (!Array.isArray(value)) check(value, location);
    else for (const [index, item] of value.entries()) check(item, location.below(index, ''));
  }),
  strategy,
  forward,
  inputs: config(hash),
});

const projectTrigger = hashOf(
  {
    project: required(text, filled),
    branch: attribute(text),
    strategy,
    forward,
    inputs: config(hash),
  },
  { otherwise: 'has to be either a string or a hash' },
);

const trigger: Check = (value, location, findings) => {
  if (isText(value)) {
    if (value === '') findings.add(location, "config can't be blank");
  } else if (isHash(value) && value.has('include')) childTrigger(value, location, findings);
  else projectTrigger(value, location, findings);
};

const bridgeKeywords: Keywords = {
  ...common,
  trigger: entry(trigger),
  when: attribute(oneOf(['on_success', 'on_failure', 'always', 'manual'])),
  manual_confirmation: attribute(text),
  parallel: entry(bridgeParallel),
  needs: entry((value, location, findings) => bridgeNeeds(value, location, findings)),
};

/** The pipelines of other projects whose status a bridge may have. */
export const upstreamNeeds = (job: Hash): Hash[] =>
  needItems(job.get('needs')).filter((need) => isHash(need) && need.has('pipeline')) as Hash[];

export const bridgeCheck = hashOf(bridgeKeywords, {
  more: (job, location, findings) => {
    const upstream = upstreamNeeds(job);
    if (!isGiven(job.get('trigger')) && upstream.length === 0)
      findings.add(location, 'config should contain either a trigger or a needs:pipeline');
    if (upstream.length > 1)
      findings.add(location, 'bridge needs should contain exactly one bridge need', 'needs');
    if (isGiven(job.get('start_in')) && !isGiven(job.get('rules')))
      findings.add(location, 'start in must be blank', 'start_in');
    allowFailure(job.get('allow_failure') ?? null, location.below('allow_failure'), findings);
    checkCommon(job, bridgeRules, location, findings);
  },
});

export function checkName(name: string, findings: Findings): void {
  if (name === '') findings.add(Location.top(name, 'jobs:job'), "name can't be blank");
  else if (name.length > MAX_NAME_LENGTH)
    findings.add(
      Location.top(name, `jobs:${name}`),
      `name is too long (maximum is ${MAX_NAME_LENGTH} characters)`,
    );
}
