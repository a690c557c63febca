/** What lint shows of a configuration, and what only child pipelines may include. */
import { expect, test } from 'vitest';
import { compile, lint } from './compile.ts';
import type { Files, PipelineContext } from './context.ts';

const at = { project: 'group/app', sha: 'abc' };
const other = { project: 'group/other', sha: 'def' };
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
const files: Files = {
  commit: async () => other,
  read: async (path, { sha }) =>
    sha === 'def' ? `${path}-job: {script: x}` : 'include: {template: Bash.gitlab-ci.yml}',
  paths: async () => [],
  remote: async () => ({ kind: 'found', text: '.hidden: {tags: [t]}' }),
  component: async () => undefined,
};

const text = `
include:
  - a.yml
  - {project: group/other, file: b.yml}
  - https://x.test/c.yml
variables: {VERSION: 1.0, ON: "on", NUMBER: 8, TEXT: "8"}
one: {extends: .hidden, script: [x, [y]], rules: [{if: $NONE}], parallel: 2}
two: {script: x, needs: [one], when: manual, environment: {name: e}, only: [main]}
`;

test('all jobs are shown, whatever their rules say', async () => {
  const { errors, warnings, jobs } = await lint({ text, context, files });
  expect({ errors, warnings, names: jobs.map(({ name }) => name) }).toEqual({
    errors: [],
    warnings: [],
    names: ['build', 'test', 'deploy', 'b.yml-job', 'one 1/2', 'one 2/2', 'two'],
  });
  expect(jobs.slice(5)).toEqual([
    expect.objectContaining({ name: 'one 2/2', script: ['x', 'y'], tags: ['t'], only: null, needs: null }),
    {
      name: 'two',
      stage: 'test',
      beforeScript: [],
      script: ['x'],
      afterScript: [],
      tags: [],
      only: ['main'],
      except: null,
      environment: 'e',
      when: 'manual',
      allowFailure: true,
      needs: [
        { name: 'one 1/2', artifacts: true, optional: false },
        { name: 'one 2/2', artifacts: true, optional: false },
      ],
    },
  ]);
});

test('the files that are included, in their order', async () => {
  const { includes } = await lint({ text, context, files });
  expect(includes).toEqual([
    { type: 'local', location: 'a.yml', extra: {}, context: at, at },
    { type: 'template', location: 'Bash.gitlab-ci.yml', extra: {}, context: at, at: null },
    {
      type: 'file',
      location: 'b.yml',
      extra: { project: 'group/other', ref: 'HEAD' },
      context: at,
      at: other,
    },
    { type: 'remote', location: 'https://x.test/c.yml', extra: {}, context: at, at: null },
  ]);
});

test('the merged file means what the files mean', async () => {
  const { mergedYaml } = await lint({ text, context, files });
  expect(mergedYaml).toContain(
    'one:\n  tags:\n    - t\n  extends: .hidden\n  script:\n    - x\n    - - "y"\n',
  );
  expect(mergedYaml).not.toContain('include');
  const outcomeOf = async (of: string) => {
    const { outcome } = await compile({ text: of, context, files });
    // The lines are others.
    const withoutPlaces = (errors: string[]) => errors.map((error) => error.replace(/ \(line .*\)$/, ''));
    return outcome.kind === 'invalid' ? withoutPlaces(outcome.errors) : outcome;
  };
  expect(await outcomeOf(mergedYaml ?? '')).toEqual(await outcomeOf(text));
});

test('errors, and no merged file where files are missing', async () => {
  const missing = await lint({ text: 'include: no.txt', context, files });
  expect(missing).toMatchObject({
    errors: ['Included file `no.txt` does not have YAML extension! (line 1, column 1)'],
    mergedYaml: null,
    jobs: [],
  });
  const wrong = await lint({ text: 'a: {script: x, foo: 1}', context, files });
  expect(wrong).toMatchObject({
    errors: ['jobs:a config contains unknown keys: foo (line 1, column 16)'],
    mergedYaml: '---\na:\n  script: x\n  foo: 1\n',
  });
});

test('a child pipeline includes what a job of its parent made', async () => {
  const child: Files = {
    ...files,
    artifact: async (job, path) => (job === 'maker' ? `made: {script: ${path}}` : undefined),
  };
  const outcomeOf = async (include: string) =>
    (await compile({ text: `include: ${include}`, context, files: child })).outcome;
  expect(await outcomeOf('{artifact: out/ci.yml, job: maker}')).toMatchObject({
    pipeline: { jobs: [{ name: 'made', script: ['out/ci.yml'] }] },
  });
  expect(await outcomeOf('{artifact: ci.yml, job: nobody}')).toMatchObject({
    errors: ['Job `nobody` not found in parent pipeline or does not have artifacts! (line 1, column 1)'],
  });
  expect(await outcomeOf('{artifact: ci.yml}')).toMatchObject({
    errors: ['Job must be provided when including configs from artifacts (line 1, column 1)'],
  });
});

test('nothing is said of places in a text that nobody wrote', async () => {
  const including = JSON.stringify({ include: [{ project: 'group/other', file: 'b.txt' }] });
  const wrong: Files = { ...files, read: async () => 'a: {retry: 3, script: x}' };
  const errorsOf = async (given: string, isMade: boolean) =>
    (await lint({ text: given, isMade, context, files: wrong })).errors;
  const message = 'Included file `b.txt` does not have YAML extension!';
  expect(await errorsOf(including, true)).toEqual([message]);
  expect(await errorsOf(including, false)).toEqual([`${message} (line 1, column 13)`]);
  expect(await errorsOf(including.replace('txt', 'yml'), true)).toEqual([
    'jobs:a:retry config must be less than or equal to 2 (b.yml: line 1, column 5)',
  ]);
});
