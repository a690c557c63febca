/** Every template is a configuration by itself, or makes one with a job. */
import { expect, test } from 'vitest';
import { compile, lint } from './compile.ts';
import type { Files, PipelineContext } from './context.ts';
import { configurationTemplates } from './includes/templates.ts';

const at = { project: 'group/app', sha: 'abc' };
const context: PipelineContext = {
  at,
  source: 'push',
  ref: 'main',
  refKind: 'branch',
  mostNeeds: 50,
  predefined: [
    { key: 'CI_COMMIT_BRANCH', value: 'main' },
    { key: 'CI_DEFAULT_BRANCH', value: 'main' },
    { key: 'CI_COMMIT_REF_NAME', value: 'main' },
  ],
  overriding: [],
  changedPaths: async () => 'unknown',
};
const files: Files = {
  commit: async () => at,
  read: async () => undefined,
  paths: async () => ['Dockerfile'],
  remote: async () => ({ kind: 'refused', reason: 'no' }),
  component: async () => undefined,
};

test.each([...configurationTemplates])('%s', async (name, template) => {
  const text = name.startsWith('Workflows/') ? `${template}job: {script: x}\n` : template;
  const { errors, warnings, jobs } = await lint({ text, context, files });
  expect({ errors, warnings }).toEqual({ errors: [], warnings: [] });
  expect(jobs.length).toBeGreaterThan(0);
  const { outcome } = await compile({ text, context, files });
  expect(outcome.kind).toBe('planned');
  const included = await lint({
    text: `include: {template: ${name}.gitlab-ci.yml}\nmore: {script: x}\n`,
    context,
    files,
  });
  expect(included.errors).toEqual([]);
});
