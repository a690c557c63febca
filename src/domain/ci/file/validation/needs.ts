/** `needs:` of jobs and bridges (facts-ci: 2.5). */
import { isHash, type Value } from '../reading/value.ts';
import {
  attribute,
  bool,
  type Check,
  eachItem,
  type Findings,
  filled,
  hash,
  hashOf,
  isText,
  type Location,
  required,
  text,
} from './check.ts';
import { combinationCount, MAX_PARALLEL } from './matrix.ts';

const MAX_FOREIGN_NEEDS = 5;

const ofJob = hashOf({
  job: required(text, filled),
  artifacts: attribute(bool),
  optional: attribute(bool),
  parallel: attribute(hash, (value) => {
    const matrix = isHash(value) ? value.get('matrix') : undefined;
    if (!Array.isArray(matrix) || !matrix.every(isHash)) return 'should be a hash with a matrix';
    return combinationCount(matrix) > MAX_PARALLEL && `selects too many jobs (maximum is ${MAX_PARALLEL})`;
  }),
});

const ofPipeline = hashOf({
  pipeline: required(text, filled),
  job: required(text, filled),
  artifacts: attribute(bool),
});

const ofUpstream = hashOf({ pipeline: required(text, filled) });

const ofProject = hashOf({
  project: required(text, filled),
  job: required(text, filled),
  ref: required(text, filled),
  artifacts: required(bool),
});

const needsOf = (checkPipeline: Check): Check => {
  return (value, location, findings) => {
    if (isHash(value) && value.size === 0) findings.add(location, 'config can not be an empty hash');
    else if (!isHash(value) && !Array.isArray(value))
      findings.add(location, 'config can only be a hash or an array');
    else if (isHash(value)) checkNeed(value, checkPipeline, location.below(undefined, ':need'), findings);
    else eachItem(value, location, ':need', (need, at) => checkNeed(need, checkPipeline, at, findings));
    const foreign = needItems(value).filter(
      (need) => isHash(need) && (need.has('pipeline') || need.has('project')),
    );
    if (foreign.length > MAX_FOREIGN_NEEDS)
      findings.add(location, `config must be less than or equal to ${MAX_FOREIGN_NEEDS}`);
  };
};

/** A single one stands for a list of one; nested lists are one list. */
export function needItems(value: Value | undefined): Value[] {
  if (isHash(value)) return [value];
  return Array.isArray(value) ? (value.flat(10) as Value[]) : [];
}

function checkNeed(need: Value, checkPipeline: Check, location: Location, findings: Findings): void {
  if (isText(need)) {
    if (need === '') findings.add(location, "config can't be blank");
  } else if (!isHash(need)) findings.add(location, 'has an unsupported type');
  else if (need.has('project')) ofProject(need, location, findings);
  else if (need.has('pipeline')) checkPipeline(need, location, findings);
  else ofJob(need, location, findings);
}

export const needs = needsOf(ofPipeline);
export const bridgeNeeds = needsOf(ofUpstream);
