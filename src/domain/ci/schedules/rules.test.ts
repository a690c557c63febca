/** Pipeline schedules: places, refs, inputs, and whose they are. */
import { expect, test } from 'vitest';
import { DEVELOPER, MAINTAINER, type Role } from '../../../kernel/policy/roles.ts';
import {
  administers,
  changedInputs,
  fullRefAmong,
  MAX_INPUTS,
  requireNextRun,
  requirePlace,
} from './rules.ts';

test('there are so many and no more', () => {
  expect(() => requirePlace(9, 10, 'pipeline schedules')).not.toThrow();
  expect(() => requirePlace(10, 10, 'pipeline schedules')).toThrow(
    'Maximum number of pipeline schedules (10) exceeded',
  );
});

test('a wrong pattern or zone is named', () => {
  const refusal = (cron: string, cron_timezone: string) => () =>
    requireNextRun({ cron, cron_timezone }, new Date());
  expect(refusal('never', 'UTC')).toThrow('{"cron":["syntax is invalid"]}');
  expect(refusal('@daily', 'Nowhere')).toThrow('{"cron_timezone":["syntax is invalid"]}');
});

test('a short name stands for the one ref that has it', () => {
  const branch = { kind: 'branch', ref: 'refs/heads/wall' } as const;
  const tag = { kind: 'tag', ref: 'refs/tags/wall' } as const;
  expect(fullRefAmong('wall', [branch])).toBe('refs/heads/wall');
  expect(fullRefAmong('wall', [tag])).toBe('refs/tags/wall');
  expect(fullRefAmong('wall', [])).toBe('wall');
  expect(() => fullRefAmong('wall', [branch, tag])).toThrow('{"ref":["is ambiguous"]}');
});

test.each<[boolean, Role, boolean]>([
  [true, DEVELOPER, true],
  [false, DEVELOPER, false],
  [false, MAINTAINER, true],
])('of the owner (%s) with role %s, administering is %s', (isOwner, role, expected) => {
  expect(administers({ isOwner, role })).toBe(expected);
});

test('inputs that a change does not name stay', () => {
  const before = [
    { name: 'stone', value: 'granite' },
    { name: 'height', value: 2 },
  ];
  const changes = [{ name: 'stone', destroy: true }, { name: 'height', value: 3 }, { name: 'dry' }];
  expect(changedInputs(before, changes)).toEqual([
    { name: 'height', value: 3 },
    { name: 'dry', value: null },
  ]);
  const many = Array.from({ length: MAX_INPUTS + 1 }, (_, at) => ({ name: `n${at}`, value: at }));
  expect(changedInputs([], many.slice(1))).toHaveLength(MAX_INPUTS);
  expect(() => changedInputs([], many)).toThrow('Maximum number of inputs (20) exceeded');
});
