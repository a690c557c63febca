/** What the files of the cases come to; UPDATE_GOLDEN=1 writes it anew. */
import { writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type ConfigurationCase, configurationCases } from '../../../../test/support/configuration-cases.ts';
import { compile } from './compile.ts';
import type { Files, PipelineContext, RemoteText } from './context.ts';
import type { Outcome, PlannedJob } from './plan.ts';

const at = { project: 'group/app', sha: 'abc' };

const written = ({ title, context, text, others }: ConfigurationCase, results: string[]): string =>
  [
    `# ${title}`,
    ...context.map((line) => `@ ${line}`),
    text.trimEnd(),
    ...Array.from(others, ([path, content]) => `>>> ${path}\n${content.trimEnd()}`),
    ...results.map((line) => `=> ${line}`),
  ].join('\n');

/** Files by path; those of other places by `project@ref:path` or their address. */
function filesOf(others: ReadonlyMap<string, string>): Files {
  const prefix = (project: string, sha: string) => (project === at.project ? '' : `${project}@${sha}:`);
  return {
    commit: async (project, ref) => {
      const names = [...others.keys()].filter((name) => name.startsWith(`${project}@`));
      if (names.length === 0) return 'no_project';
      const sha = ref ?? 'main';
      return names.some((name) => name.startsWith(`${project}@${sha}:`)) ? { project, sha } : 'no_ref';
    },
    read: async (path, { project, sha }) => others.get(prefix(project, sha) + path),
    paths: async ({ project, sha }) => {
      const start = prefix(project, sha);
      const names = [...others.keys()].filter((name) => name.startsWith(start));
      return names.map((name) => name.slice(start.length)).filter((name) => !/[@:]/.test(name));
    },
    remote: async (url) => {
      const text = others.get(url);
      const answers: Record<string, RemoteText> = {
        'https://x.test/slow.yml': { kind: 'failed', reason: 'timeout', attempts: 3 },
        'https://x.test/closed.yml': { kind: 'failed', reason: 'socket', attempts: 2 },
        'https://10.0.0.1/a.yml': { kind: 'refused', reason: 'the address is private' },
      };
      if (text !== undefined) return { kind: 'found', text };
      return answers[url] ?? { kind: 'failed', reason: 404, attempts: 1 };
    },
    component: async (address) => {
      const text = others.get(address);
      const [, project = '', name = '', version = ''] = /^[^/]+\/(.+)\/([^/]+)@(.+)$/.exec(address) ?? [];
      if (text === undefined) return undefined;
      return { text, at: { project, sha: 'c0ffee' }, name, version, reference: version };
    },
  };
}

function contextOf(lines: string[]): { context: PipelineContext; inputs: Record<string, never> | undefined } {
  const settings = new Map(
    lines.map((line) => [line.split('=')[0] ?? '', line.slice(line.indexOf('=') + 1)]),
  );
  const refKind = (settings.get('kind') ?? 'branch') as PipelineContext['refKind'];
  const ref = settings.get('ref') ?? 'main';
  const source = settings.get('source') ?? (refKind === 'merge_request' ? 'merge_request_event' : 'push');
  const changed = settings.get('changed') ?? 'unknown';
  const listed = (kind: string) =>
    Array.from(settings)
      .filter(([name]) => name.startsWith(`${kind} `))
      .map(([name, value]) => ({ key: name.slice(kind.length + 1), value }));
  const inputs = settings.get('inputs');
  return {
    inputs: inputs === undefined ? undefined : JSON.parse(inputs),
    context: {
      at,
      source,
      ref,
      refKind,
      mostNeeds: 50,
      predefined: [
        { key: 'CI_PIPELINE_SOURCE', value: source },
        { key: 'CI_COMMIT_REF_NAME', value: ref },
        { key: 'CI_DEFAULT_BRANCH', value: 'main' },
        ...(refKind === 'branch' ? [{ key: 'CI_COMMIT_BRANCH', value: ref }] : []),
        ...(refKind === 'tag' ? [{ key: 'CI_COMMIT_TAG', value: ref }] : []),
        ...listed('predefined'),
      ],
      overriding: [
        ...listed('variable'),
        ...listed('masked').map((variable) => ({ ...variable, masked: true })),
      ],
      changedPaths: async (compareTo) => {
        if (compareTo !== null && compareTo !== 'main') return 'no_ref';
        return changed === 'unknown' ? 'unknown' : changed.split(',').filter(Boolean);
      },
    },
  };
}

/** What a job has that most have not. */
const usual: Partial<Record<keyof PlannedJob, string>> = {
  kind: '"job"',
  when: '"on_success"',
  schedulingType: '"stage"',
  script: '["x"]',
  hooks: '{"preGetSourcesScript":[]}',
};
const isUsual = (key: string, value: unknown): boolean =>
  ['name', 'stage', 'stageIndex'].includes(key) ||
  (key === 'dependencies'
    ? value === null
    : ['null', 'false', '[]', '{}', usual[key as keyof PlannedJob]].includes(JSON.stringify(value)));

const shownJob = (job: PlannedJob): string =>
  [
    `${job.name} in ${job.stage}`,
    ...Object.entries(job)
      .filter(([key, value]) => !isUsual(key, value))
      .map(([key, value]) => `${key}=${JSON.stringify(value)}`),
  ].join(' ');

function shown(outcome: Outcome): string[] {
  if (outcome.kind === 'filtered') return [`filtered by ${outcome.by}`];
  if (outcome.kind === 'invalid')
    return [
      ...outcome.errors.map((error) => `error: ${error}`),
      ...outcome.warnings.map((each) => `warning: ${each}`),
    ];
  const { name, stages, jobs, autoCancel, variables, warnings } = outcome.pipeline;
  const isUsualCancel = autoCancel.onNewCommit === 'conservative' && autoCancel.onJobFailure === 'none';
  return [
    ...(name === null ? [] : [`name: ${name}`]),
    ...(stages.length > 1 ? [`stages: ${stages.join(', ')}`] : []),
    ...(isUsualCancel ? [] : [`auto-cancel: ${JSON.stringify(autoCancel)}`]),
    ...(variables.length > 0 ? [`variables: ${JSON.stringify(variables)}`] : []),
    ...jobs.map(shownJob),
    ...warnings.map((each) => `warning: ${each}`),
  ];
}

describe.each(configurationCases)('$name', ({ path, cases }) => {
  const results: string[] = [];

  test.each(cases.map((each) => [each.title, each] as const))('%s', async (_, each) => {
    const { context, inputs } = contextOf(each.context);
    const compiled = await compile({
      text: each.text,
      ...(inputs && { inputs }),
      context,
      files: filesOf(each.others),
    });
    const lines = shown(compiled.outcome);
    results.push(written(each, lines));
    if (process.env.UPDATE_GOLDEN) writeFileSync(path, `${results.join('\n\n')}\n`);
    else expect(lines).toEqual(each.expected);
  });

  test('no two cases have one title', () => {
    expect(new Set(cases.map(({ title }) => title)).size, basename(path)).toBe(cases.length);
  });
});
