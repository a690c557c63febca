/** The whole of a configuration (facts-ci: 2.2, 2.8). */
import { type Hash, isHash } from '../reading/value.ts';
import {
  type Check,
  config,
  entry,
  type Findings,
  hashOf,
  isGiven,
  type Keywords,
  Location,
  nestedTextList,
} from './check.ts';
import { bridgeCheck, checkName, jobCheck, kindOfJob } from './job.ts';
import { workflow } from './rules.ts';
import { defaultKeywords, globalVariables } from './shared.ts';

/** Old names at the top of what stands below `default:`. */
export const defaultsAtTop = ['before_script', 'image', 'services', 'after_script', 'cache'] as const;

const topKeywords: Keywords = {
  default: entry(hashOf(defaultKeywords)),
  include: config(),
  variables: entry(globalVariables),
  stages: config(nestedTextList),
  workflow: entry(workflow),
  spec: config(),
  ...Object.fromEntries(defaultsAtTop.map((key) => [key, defaultKeywords[key] ?? config()])),
};

export const isJobName = (key: string): boolean => !Object.hasOwn(topKeywords, key);

export function checkConfig(root: Hash, findings: Findings): void {
  const defaults = root.get('default');
  for (const key of defaultsAtTop)
    if (isGiven(root.get(key)) && isHash(defaults) && defaults.has(key))
      findings.add(Location.top(key, 'root'), `config ${key} is defined in top-level and \`default:\` entry`);
  for (const [key, value] of root) {
    const keyword = isJobName(key) ? undefined : topKeywords[key];
    if (keyword && 'entry' in keyword && isGiven(value)) keyword.entry(value, Location.top(key), findings);
  }
  checkJobs(root, findings);
}

function checkJobs(root: Hash, findings: Findings): void {
  const jobs = [...root].filter(([key]) => isJobName(key));
  for (const [name, value] of jobs)
    if (kindOfJob(name, value) === undefined && name !== '')
      findings.add(
        Location.top(name, `jobs ${name}`),
        'config should implement the script:, run:, or trigger: keyword',
      );
  const isVisible = jobs.some(([name, value]) => !['hidden', undefined].includes(kindOfJob(name, value)));
  if (!isVisible) findings.addOfAll('config should contain at least one visible job');
  for (const [name, value] of jobs) {
    checkName(name, findings);
    const kind = kindOfJob(name, value);
    if (kind) checks[kind](value, Location.top(name, `jobs:${name}`), findings);
  }
}

const hidden: Check = (value, location, findings) => {
  const isBlank = !isGiven(value) || value === '' || (isHash(value) && value.size === 0);
  if (isBlank) findings.add(location, "config can't be blank");
};

const checks: Record<NonNullable<ReturnType<typeof kindOfJob>>, Check> = {
  hidden,
  job: jobCheck,
  bridge: bridgeCheck,
};
