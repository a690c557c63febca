import { expect, test } from 'vitest';
import {
  failureReason,
  groupName,
  isDebugged,
  isRetried,
  isSupported,
  keptExitCode,
  rangeStart,
} from './rules.ts';

test.each([
  ['0-9', 0],
  [' 10-19 ', 10],
  ['10', undefined],
  ['bytes 0-9', undefined],
  ['-1-9', undefined],
  ['99999999999999999-99999999999999999', undefined],
  [undefined, undefined],
])('a part of %j begins at %s', (header, start) => expect(rangeStart(header)).toBe(start));

test.each([
  [undefined, 'unknown_failure'],
  ['script_failure', 'script_failure'],
  ['because', 'unknown_failure'],
])('a failure by %s is by %s', (given, reason) => expect(failureReason(given)).toBe(reason));

test.each([
  [undefined, null],
  [0, 0],
  [137, 137],
  [-1_073_741_510, -1_073_741_510],
  [2_147_483_647, 2_147_483_647],
  [3_221_225_786, null],
  [1e300, null],
])('of the exit code %j is kept %j', (code, kept) => expect(keptExitCode(code)).toBe(kept));

const release = {
  ...{ tagName: 'v1', tagMessage: null, name: null, description: 'One' },
  ...{ ref: null, releasedAt: null, milestones: [], links: [] },
};
test.each<[Parameters<typeof isSupported>[0], Record<string, boolean>, boolean]>([
  [{}, {}, true],
  [{ release: null, run: null, inputs: null, secrets: null }, {}, true],
  [{ release }, { multi_build_steps: true }, true],
  [{ release }, { multi_build_steps: false }, false],
  [{ release }, {}, false],
  [{ run: [{ name: 'lay' }] }, { native_steps_integration: true }, true],
  [{ run: [{ name: 'lay' }] }, { multi_build_steps: true }, false],
  [{ inputs: { n: { default: 1 } } }, { job_inputs: true }, true],
  [{ inputs: { n: { default: 1 } } }, {}, false],
  [{ secrets: { P: { vault: 'a/b/c' } } }, { vault_secrets: true }, true],
  [{ secrets: { P: { vault: 'a/b/c' } } }, {}, false],
  [{ release, run: [] }, { multi_build_steps: true }, false],
])('a job with %j is run by a runner with %j: %s', (planned, features, supported) =>
  expect(isSupported(planned, features)).toBe(supported),
);

const retry = (max: number, when: string[] = [], exitCodes: number[] = []) => ({ max, when, exitCodes });
test.each([
  ['script_failure', 1, 0, null, false],
  ['scheduler_failure', undefined, 1, null, true],
  ['scheduler_failure', undefined, 2, null, false],
  ['script_failure', 1, 0, retry(1), true],
  ['script_failure', 1, 1, retry(1), false],
  ['script_failure', 1, 1, retry(2), true],
  ['script_failure', 1, 0, retry(2, ['always']), true],
  ['script_failure', 1, 0, retry(2, ['runner_system_failure']), false],
  ['runner_system_failure', undefined, 0, retry(2, ['runner_system_failure']), true],
  ['script_failure', 137, 0, retry(2, [], [137]), true],
  ['script_failure', 1, 0, retry(2, [], [137]), false],
  ['missing_dependency_failure', undefined, 0, retry(2), false],
])('after %s (%s) as attempt %i with %j: %s', (reason, exitCode, attempts, given, again) =>
  expect(isRetried(given, { reason, exitCode }, attempts)).toBe(again),
);

test.each([
  ['build', 'build'],
  ['build 1/3', 'build'],
  ['build: [linux, x64]', 'build'],
  ['test 2', 'test 2'],
])('%j is of the group %j', (name, group) => expect(groupName(name)).toBe(group));

test.each<[variables: [key: string, value: string][], debugged: boolean]>([
  [[], false],
  [[['CI_DEBUG_TRACE', 'true']], true],
  [[['CI_DEBUG_SERVICES', '1']], true],
  [[['CI_DEBUG_TRACE', 'false']], false],
  [
    [
      ['CI_DEBUG_TRACE', 'true'],
      ['CI_DEBUG_TRACE', 'false'],
    ],
    false,
  ],
  [
    [
      ['CI_DEBUG_TRACE', ''],
      ['CI_DEBUG_TRACE', 'TRUE'],
    ],
    true,
  ],
  [[['DEBUG', 'true']], false],
])('variables %j debug: %s', (variables, debugged) => {
  expect(isDebugged(variables.map(([key, value]) => ({ key, value })))).toBe(debugged);
});
