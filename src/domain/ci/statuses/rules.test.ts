import { expect, test } from 'vitest';
import { refName, transitionRefusal } from './rules.ts';
import { states } from './schema.ts';

test.each([
  ['created', states],
  ['pending', ['running', 'success', 'failed', 'canceled', 'skipped']],
  ['running', ['success', 'failed', 'canceled']],
])('from %s it goes to %j', (before, after) =>
  expect(states.filter((state) => transitionRefusal(before, state) === undefined)).toEqual(after),
);

test.each([
  ['main', 'main'],
  ['refs/heads/main', 'main'],
  ['refs/tags/v1', 'v1'],
  ['refs/notes/x', undefined],
  ['-x', undefined],
  ['a..b', undefined],
])('refName(%s) is %s', (ref, name) => expect(refName(ref)).toBe(name));
