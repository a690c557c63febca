/** Whose pipelines of merge requests run, and which of them count as protected; files that are elsewhere. */
import { expect, test } from 'vitest';
import { includedInstead, type RightOnRef, rightOnMergeRequest } from './rules.ts';

const HERE = 1;
const FORK = 2;
const open: RightOnRef = { isProtected: false, mayRun: true };
const held: RightOnRef = { isProtected: true, mayRun: true };
const barred: RightOnRef = { isProtected: true, mayRun: false };

test.each<[number, number, number, RightOnRef, RightOnRef, RightOnRef]>([
  [HERE, HERE, HERE, open, open, open],
  [HERE, HERE, HERE, open, held, open],
  [HERE, HERE, HERE, held, open, open],
  [HERE, HERE, HERE, held, held, held],
  [HERE, HERE, HERE, held, barred, open],
  [HERE, HERE, HERE, barred, held, { isProtected: false, mayRun: false }],
  // Of a fork, in the fork, where the target's protection is another's.
  [FORK, FORK, HERE, held, held, open],
  [FORK, FORK, HERE, barred, held, { isProtected: false, mayRun: false }],
  // The same in the target, where a branch of the source's name is another branch.
  [HERE, FORK, HERE, barred, held, open],
])(
  'in %i, from %i into %i: source %j and target %j make %j',
  (project, source, target, ofSource, ofTarget, right) => {
    const mergeRequest = { sourceProjectId: source, targetProjectId: target, targetBranch: 'main' };
    const onBranch = (name: string) => (name === 'main' ? ofTarget : ofSource);
    expect(rightOnMergeRequest(project, 'topic', mergeRequest, onBranch)).toEqual(right);
  },
);

test.each<[string, object | undefined]>([
  ['.gitlab-ci.yml', undefined],
  ['ci/me@home.json', undefined],
  ['ci/x.yml@lights', { project: 'lights', file: 'ci/x.yml' }],
  ['.gitlab-ci.yaml@lights/house', { project: 'lights/house', file: '.gitlab-ci.yaml' }],
  ['a.yml@lights/house:v1:0', { project: 'lights/house', file: 'a.yml', ref: 'v1:0' }],
  ['https://example.com/ci.yml', { remote: 'https://example.com/ci.yml' }],
  ['http://example.com/a@b.yml@c', { remote: 'http://example.com/a@b.yml@c' }],
])('the file at %s', (path, entry) => {
  const text = includedInstead(path);
  expect(text && JSON.parse(text)).toEqual(entry && { include: [entry] });
});
