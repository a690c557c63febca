/** Files that are compiled in threads: nobody waits for another's, and the threads ask as the caller. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Failure } from '../../../platform/failure.ts';
import { currentCaller, runForCaller } from '../../../platform/fair-share.ts';
import type { CompileRequest } from './compile.ts';
import { compileFile, lintConfiguration, simulate, TOO_MUCH } from './compiler.ts';
import type { Files } from './context.ts';

const at = { project: 'group/app', sha: 'abc' };
const nothing: Files = {
  commit: async () => 'no_project',
  read: async () => undefined,
  paths: async () => [],
  remote: async () => ({ kind: 'failed', reason: 'http', attempts: 1 }),
  component: async () => undefined,
};
const requestOf = (text: string, files: Partial<Files> = {}): CompileRequest => ({
  text,
  files: { ...nothing, ...files },
  context: {
    at,
    source: 'push',
    ref: 'main',
    refKind: 'branch',
    mostNeeds: 50,
    predefined: [],
    overriding: [],
    changedPaths: async (compareTo) => (compareTo === 'v1' ? ['a.txt'] : 'no_ref'),
  },
});
const jobsOf = (outcome: Awaited<ReturnType<typeof compileFile>>) =>
  outcome.kind === 'planned'
    ? outcome.pipeline.jobs.flatMap((chunk) => JSON.parse(chunk).map((job: { name: string }) => job.name))
    : outcome;
const many = (count: number) =>
  Array.from({ length: count }, (_, i) => `job-${i}: {script: make, needs: [${i ? `job-${i - 1}` : ''}]}`);

test('the world is asked from the thread, for the caller', async () => {
  const callers = new Set<string | undefined>();
  const request = requestOf(
    `include: [own.yml, {project: group/other, file: b.yml}, 'https://x.test/c.yml', {component: here/d@1}]
changed: {script: x, rules: [{changes: {paths: [a.txt], compare_to: v1}}]}
there: {script: x, rules: [{exists: [b.txt]}]}
missing: {script: x, rules: [{exists: [c.txt]}]}`,
    {
      commit: async () => ({ project: 'group/other', sha: 'def' }),
      read: async (path, { sha }) => {
        await nextTurn();
        callers.add(currentCaller());
        return `${path} ${sha}: {script: x}`;
      },
      paths: async () => ['b.txt'],
      remote: async (url) => ({ kind: 'found', text: `'${url}': {script: x}` }),
      component: async () => ({ text: 'part: {script: x}', at, name: 'd', version: '1', reference: '1' }),
    },
  );
  const outcome = await runForCaller({ name: 'mason' }, () => compileFile(request, 'another'));
  expect(jobsOf(outcome)).toEqual([
    'own.yml abc',
    'b.yml def',
    'https://x.test/c.yml',
    'part',
    'changed',
    'there',
  ]);
  expect([...callers]).toEqual(['mason']);
});

test('others are served while a long file is compiled', async () => {
  const ended: string[] = [];
  const text = `include: own.yml\n${many(5_000).join('\n')}`;
  let other = Promise.resolve();
  const read: Files['read'] = async () => {
    other = nextTurn().then(() => void ended.push('other'));
    return 'own: {script: x}';
  };
  const { jobCount } = await lintConfiguration(requestOf(text, { read }), false);
  ended.push('lint');
  await other;
  expect(jobCount).toBe(5_001);
  expect(ended).toEqual(['other', 'lint']);
});

test('jobs come in the order of the plan, some at a time', async () => {
  const outcome = await compileFile(requestOf(many(5_000).join('\n')), 'mason');
  expect(outcome.kind === 'planned' && outcome.pipeline.jobs.length).toBeGreaterThan(2);
  expect(jobsOf(outcome)).toEqual(many(5_000).map((_, i) => `job-${i}`));
});

test('a file that takes too long is invalid, and the next is compiled', async () => {
  const slow = requestOf('include: own.yml', { read: () => new Promise(() => {}) });
  expect(await compileFile(slow, 'mason', 1)).toEqual({ kind: 'invalid', errors: [TOO_MUCH], warnings: [] });
  expect((await lintConfiguration(slow, true, 1)).errors).toEqual([TOO_MUCH]);
  expect((await simulate(slow, true, 1)).outcome).toMatchObject({ errors: [TOO_MUCH] });
  expect(jobsOf(await compileFile(requestOf('build: {script: make}'), 'mason'))).toEqual(['build']);
});

test('so is one whose jobs are too long to be kept', async () => {
  const length = 1_000_000;
  const long = requestOf(`build: {script: ${'x'.repeat(length)}, parallel: 200}`);
  expect(await compileFile(long, 'mason')).toMatchObject({
    kind: 'invalid',
    errors: ['The jobs of the pipeline are too long'],
  });
});

test('what the files throw is thrown, and the thread goes on', async () => {
  const error = new Failure('unavailable', 'the disk is full');
  const request = requestOf('include: own.yml', { read: () => Promise.reject(error) });
  await expect(compileFile(request, 'mason')).rejects.toBe(error);
  expect(jobsOf(await compileFile(requestOf('build: {script: make}'), 'mason'))).toEqual(['build']);
});

test('a job of the program compiles for its user, of whom one file is compiled at a time', async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const waiting = compileFile(requestOf('include: own.yml', { read: () => promise }), 'mason');
  let second = false;
  const next = compileFile(requestOf('a: {script: x}'), 'mason').then(() => {
    second = true;
  });
  await compileFile(requestOf('a: {script: x}'), 'carpenter');
  expect(second).toBe(false);
  resolve('own: {script: x}');
  expect(jobsOf(await waiting)).toEqual(['own']);
  await next;
});
