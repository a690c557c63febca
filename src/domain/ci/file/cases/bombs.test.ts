/** Files that are made to take long: each is refused, or compiled, in bounded size. */
import { expect, test } from 'vitest';
import { compile } from '../compile.ts';
import type { Files, PipelineContext } from '../context.ts';
import type { Outcome } from '../plan.ts';

const at = { project: 'group/app', sha: 'abc' };
const context: PipelineContext = {
  at,
  source: 'push',
  ref: 'main',
  refKind: 'branch',
  mostNeeds: 50,
  predefined: [{ key: 'CI_COMMIT_BRANCH', value: 'main' }],
  overriding: [],
  changedPaths: async () => 'unknown',
};

const filesWith = (text: string, pathCount = 100_000): Files => ({
  commit: async () => 'no_project',
  read: async () => text,
  paths: async () => Array.from({ length: pathCount }, (_, i) => `folder/file-${i}`),
  remote: async () => ({ kind: 'failed', reason: 'http', attempts: 1 }),
  component: async () => undefined,
});

async function outcomeOf(text: string, included = ''): Promise<Outcome> {
  const { outcome } = await compile({ text, context, files: filesWith(included) });
  return outcome;
}

const many = (count: number, line: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => line(i)).join('\n');
const errorsOf = (outcome: Outcome) => (outcome.kind === 'invalid' ? outcome.errors : outcome);

const doubling = (anchor: (i: number) => string) => many(40, anchor);

test.each<[name: string, text: string, error: string]>([
  ['a file of three megabytes', `a: "${'x'.repeat(3_000_000)}"`, 'The provided YAML is too big'],
  ['a million brackets', '['.repeat(1_000_000), 'The parsed YAML is too big'],
  ['a million braces', '{a: '.repeat(250_000), 'The parsed YAML is too big'],
  ['a hundred and one lists', `a: ${'['.repeat(101)}${']'.repeat(101)}`, 'The parsed YAML is too big'],
  ['a hundred and one dashes', '- '.repeat(102), 'The parsed YAML is too big'],
  [
    'aliases that double',
    `x0: &x0 [y, y]\n${doubling((i) => `x${i + 1}: &x${i + 1} [*x${i}, *x${i}]`)}`,
    'The parsed YAML is too big',
  ],
  [
    'merge keys that double',
    `x0: &x0 {y: {z: y}}\n${doubling((i) => `x${i + 1}: &x${i + 1} {a: {<<: *x${i}}, b: {<<: *x${i}}}`)}`,
    'The parsed YAML is too big',
  ],
  [
    'references that double',
    `a: {script: x}\n.x0: [y, y]\n${many(9, (i) => `.x${i + 1}: [${Array(30).fill(`!reference [.x${i}]`).join(', ')}]`)}`,
    'The parsed YAML is too big',
  ],
  [
    'jobs that extend a large one',
    `.base: {script: x, variables: {${Array.from({ length: 20_000 }, (_, i) => `V${i}: ${i}`).join(', ')}}}\n${many(
      10_000,
      (i) => `j${i}: {extends: .base, variables: {A: a}}`,
    )}`,
    'The parsed YAML is too big',
  ],
  [
    'a job that extends one very often',
    `.base: {script: x, variables: {${Array.from({ length: 20_000 }, (_, i) => `V${i}: ${i}`).join(', ')}}}\nj: {extends: [${Array(100_000).fill('.base').join(', ')}]}`,
    'The parsed YAML is too big',
  ],
  [
    'parallel jobs without end',
    many(1_000, (i) => `j${i}: {script: x, parallel: 200}`),
    'The number of jobs has exceeded the limit of 20000. Try splitting the configuration with parent-child-pipelines (line 101, column 1)',
  ],
  [
    'variables for each of many jobs',
    `variables: {${Array.from({ length: 10_000 }, (_, i) => `V${i}: ${i}`).join(', ')}}\n${many(5_000, (i) => `j${i}: {script: x}`)}`,
    'The parsed YAML is too big',
  ],
  [
    'values that double',
    `variables:\n${many(64, (i) => `  V${i}: $V${i + 1}$V${i + 1}`)}\n  V64: xxxx\na: {script: x}`,
    'a: the value of V46 is too long when its references are expanded (line 67, column 1)',
  ],
])('%s', async (_, text, error) => {
  expect(errorsOf(await outcomeOf(text))).toEqual([error]);
});

test('files that each include two', async () => {
  const outcome = await outcomeOf('include: [a.yml, b.yml]', 'include: [a.yml, b.yml]');
  expect(errorsOf(outcome)).toEqual([
    'Maximum of 150 nested includes are allowed! (a.yml: line 1, column 11)',
  ]);
});

test('very many dependencies, needs and inherited names', async () => {
  const names = Array(60_000).fill('b').join(', ');
  const outcome = await outcomeOf(
    `variables: {${Array.from({ length: 20_000 }, (_, i) => `V${i}: ${i}`).join(', ')}}
a: {script: x, dependencies: [${names}], needs: [${names}], inherit: {variables: [${names}]}}
b: {script: x, stage: build}`,
  );
  expect(errorsOf(outcome)).toEqual(['a has the following needs duplicated: b. (line 2, column 180032)']);
});

test('places of very many problems in what jobs extend', async () => {
  const bases = many(1_000, (i) => `.b${i}: {tags: [t]}`);
  const wide = `.wide: {extends: [${Array.from({ length: 1_000 }, (_, i) => `.b${i}`).join(', ')}]}`;
  const jobs = many(1_500, (i) => `j${i}: {extends: .wide, script: x, image: {entrypoint: [x]}}`);
  const outcome = await outcomeOf(`${bases}\n${wide}\n${jobs}`);
  const errors = errorsOf(outcome);
  expect(errors).toHaveLength(1_500);
  expect(errors).toContain("jobs:j0:image name can't be blank (line 1002, column 33)");
});

test('no place in files that are too long to be read twice', async () => {
  const errorsBehind = async (length: number) =>
    errorsOf(await outcomeOf(`a: {script: ${'x'.repeat(length)}, retry: 3}`));
  const message = 'jobs:a:retry config must be less than or equal to 2';
  expect(await errorsBehind(1_000_000)).toEqual([`${message} (line 1, column 1000015)`]);
  expect(await errorsBehind(1_100_000)).toEqual([message]);
});

test('too many blocks', async () => {
  expect(errorsOf(await outcomeOf(`a: ${'$[[ inputs.x ]]'.repeat(10_001)}`))).toEqual([
    'too many interpolation blocks',
  ]);
});

test('globs over very many files are not tried, and fit', async () => {
  const outcome = await outcomeOf(many(100, (i) => `j${i}: {script: x, rules: [{exists: ["**/no-${i}"]}]}`));
  expect(outcome.kind === 'planned' && outcome.pipeline.jobs.length).toBe(100);
});

test('after millions of comparisons globs fit untried', async () => {
  const { outcome } = await compile({
    text: many(126, (i) => `j${i}: {script: x, rules: [{exists: [folder/no-${i}]}]}`),
    context,
    files: filesWith('', 40_000),
  });
  expect(outcome.kind === 'planned' && outcome.pipeline.jobs.map(({ name }) => name)).toEqual(['j125']);
});

test('a pattern that takes others years', async () => {
  const outcome = await outcomeOf(
    `variables: {A: ${'a'.repeat(5_000)}}\nj: {script: x, rules: [{if: '$A =~ /(a+a+)+b/'}, {when: on_success}]}`,
  );
  expect(outcome.kind).toBe('planned');
});

test('ten thousand jobs, of which each needs the one before', async () => {
  const outcome = await outcomeOf(
    many(10_000, (i) => `job-${i}: {script: make, needs: [${i === 0 ? '' : `job-${i - 1}`}]}`),
  );
  expect(outcome.kind === 'planned' && outcome.pipeline.jobs.length).toBe(10_000);
});

test('a circle of ten thousand jobs', async () => {
  const [error] = errorsOf(
    await outcomeOf(many(10_000, (i) => `j${i}: {script: x, needs: [j${(i + 1) % 10_000}]}`)),
  ) as string[];
  expect(error).toMatch(/^The pipeline has circular dependencies: topological sort failed: \["j0", "j1"/);
});
