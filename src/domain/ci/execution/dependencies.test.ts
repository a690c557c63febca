import { expect, test } from 'vitest';
import type { PlannedJob } from '../file/plan.ts';
import { dependsOn } from './dependencies.ts';

const others = ['a 0', 'b 0', 'c 1', 'same 2', 'later 3'].map((text) => {
  const [name = '', stage] = text.split(' ');
  return { name, stage_index: Number(stage) };
});
const need = (name: string, artifacts = true) => ({ name, artifacts, optional: false });
type Planned = Pick<PlannedJob, 'schedulingType' | 'needs' | 'dependencies'>;

test.each<[string, Partial<Planned>, string]>([
  ['all of earlier stages', {}, 'a b c'],
  ['those that are named', { dependencies: ['b', 'later'] }, 'b'],
  ['none, where the list is empty', { dependencies: [] }, ''],
  ['what is needed', { schedulingType: 'dag', needs: [need('a'), need('same')] }, 'a same'],
  [
    'not what is needed without artifacts',
    { schedulingType: 'dag', needs: [need('a', false), need('c')] },
    'c',
  ],
  ['nothing, where nothing is needed', { schedulingType: 'dag', needs: [] }, ''],
  [
    'of what is needed, what is named',
    { schedulingType: 'dag', needs: [need('a'), need('c')], dependencies: ['c', 'b'] },
    'c',
  ],
])('a job gets %s', (_, given, names) => {
  const planned: Planned = { schedulingType: 'stage', needs: [], dependencies: null, ...given };
  expect(
    others
      .filter(dependsOn({ stage_index: 2 }, planned))
      .map(({ name }) => name)
      .join(' '),
  ).toBe(names);
});
