/** What bridges have of the pipelines that they follow, where they may lead, and what they hand on. */
import { expect, test } from 'vitest';
import type { ContextVariable } from '../file/context.ts';
import type { PlannedTrigger, YamlVariable } from '../file/plan.ts';
import { statuses } from '../processing/status.ts';
import { followingStatus, handedOn, hierarchyRefusal } from './rules.ts';

test('the status of who follows a pipeline of each status', () => {
  const both = statuses.map((status) => [
    status,
    followingStatus('depend', status),
    followingStatus('mirror', status),
  ]);
  const active = both.filter(([, ...of]) => of.every((each) => each === 'running')).map(([status]) => status);
  expect(active).toEqual([
    'created',
    'waiting_for_resource',
    'preparing',
    'waiting_for_callback',
    'pending',
    'running',
    'canceling',
    'scheduled',
  ]);
  expect(both.filter(([status]) => !active.includes(status ?? 'created'))).toEqual([
    ['success', 'success', 'success'],
    ['failed', 'failed', 'failed'],
    ['canceled', 'canceled', 'canceled'],
    ['skipped', 'failed', 'skipped'],
    ['manual', 'running', 'manual'],
  ]);
});

type Kind = PlannedTrigger['target']['kind'];

/** `source project ref`, the pipeline itself first. */
test.each<[Kind, string, string | undefined]>([
  ['child', 'push 1 main', undefined],
  ['child', 'parent_pipeline 1 main, push 1 main', undefined],
  [
    'child',
    'parent_pipeline 1 main, parent_pipeline 1 main, push 1 main',
    'reached_max_descendant_pipelines_depth',
  ],
  // Children are counted in their own project.
  ['child', 'pipeline 2 main, parent_pipeline 1 main, parent_pipeline 1 main, push 1 main', undefined],
  ['project', 'parent_pipeline 1 main, parent_pipeline 1 main, push 1 main', undefined],
  ['project', 'push 1 main', undefined],
  ['project', 'pipeline 1 main, pipeline 2 main, pipeline 1 main, push 2 main', undefined],
  [
    'project',
    'pipeline 1 main, pipeline 2 main, pipeline 1 main, pipeline 2 main, pipeline 1 main, push 2 main',
    'pipeline_loop_detected',
  ],
  ['project', 'pipeline 1 a, pipeline 2 a, pipeline 1 b, pipeline 2 b, pipeline 1 c', undefined],
])('a %s after %s: %j', (target, line, refusal) => {
  const ancestry = line.split(', ').map((text) => {
    const [source = '', project, ref = ''] = text.split(' ');
    return { source, project_id: Number(project), ref };
  });
  expect(hierarchyRefusal(target, ancestry)).toBe(refusal);
});

const yaml = (key: string, value: string, raw = false): YamlVariable => ({ key, value, raw });

test.each<[string, YamlVariable[], ContextVariable[], Record<string, string>]>([
  ['what it refers to', [yaml('A', '$B/$C')], [{ key: 'B', value: 'b' }], { A: 'b/$C' }],
  ['nothing that is raw', [yaml('A', '$B', true)], [{ key: 'B', value: 'b' }], { A: '$B' }],
  ['raw values as they are', [yaml('A', '$B')], [{ key: 'B', value: '$C', raw: true }], { A: '$C' }],
  ['no contents of files', [yaml('A', '$B')], [{ key: 'B', value: 'secret', file: true }], { A: '$B' }],
  ['what wins over it by its own name', [yaml('A', 'x$A')], [{ key: 'A', value: 'a' }], { A: 'xa' }],
  ['itself, where nothing wins over it', [yaml('A', 'x$A')], [], { A: 'x$A' }],
  ['others of the file', [yaml('A', '$B'), yaml('B', 'b')], [], { A: 'b', B: 'b' }],
])('variables hand on %s', (_, ofFile, others, expected) => {
  const forward = { yamlVariables: true, pipelineVariables: false };
  const given = handedOn(forward, ofFile, [{ key: 'G', value: 'g' }], [...ofFile, ...others]);
  expect(Object.fromEntries((given ?? []).map(({ key, value }) => [key, value]))).toEqual(expected);
});

test.each([
  [true, true, ['A', 'given', 'F', 'file']],
  [true, false, ['A', 'of the file']],
  [false, true, ['A', 'given', 'F', 'file']],
  [false, false, []],
])('those of the file: %j, those that were given: %j', (yamlVariables, pipelineVariables, expected) => {
  const given = [
    { key: 'A', value: 'given' },
    { key: 'F', value: 'file', variable_type: 'file' as const },
  ];
  const handed = handedOn({ yamlVariables, pipelineVariables }, [yaml('A', 'of the file')], given, []);
  expect(handed?.flatMap(({ key, value }) => [key, value])).toEqual(expected);
  expect(handed?.find(({ key }) => key === 'F')?.variable_type).toBe(pipelineVariables ? 'file' : undefined);
});

test.each([
  ['of what it refers to', [yaml('A', '$C')], false],
  ['of all together', Array.from({ length: 200 }, (_, i) => yaml(`A${i}`, '$B')), false],
  [
    'of what refers to nothing',
    Array.from({ length: 200 }, (_, i) => yaml(`A${i}`, 'x'.repeat(10_000))),
    true,
  ],
])('beyond a mebibyte nothing is handed on: %s', (_, ofFile, isHanded) => {
  const known = [
    { key: 'B', value: 'x'.repeat(10_000) },
    { key: 'C', value: '$B'.repeat(3_333) },
  ];
  const handed = handedOn(
    { yamlVariables: true, pipelineVariables: true },
    ofFile,
    [],
    [...ofFile, ...known],
  );
  expect(handed !== undefined).toBe(isHanded);
});
