import { describe, expect, test } from 'vitest';
import { countedPage, signatureType } from './rules.ts';
import { pipelineStatus, refName, transitionRefusal } from './status-rules.ts';
import { states } from './status-schema.ts';

const page = { kind: 'offset', page: 2, perPage: 2, offset: 2, countLimit: 10 } as const;

describe('pages', () => {
  test.each([
    [[3, 4], 5, true],
    [[3, 4], 4, false],
    [[], 1, false],
  ])('of %j, of %i', (items, total, more) =>
    expect(countedPage(page, items, total)).toEqual({ items, total, more }),
  );

  test('of more than are counted', () =>
    expect(countedPage(page, [3, 4], 11)).toEqual({ items: [3, 4], total: undefined, more: true }));
});

test.each([
  [undefined, undefined],
  ['-----BEGIN PGP SIGNATURE-----\nx', 'PGP'],
  ['-----BEGIN SSH SIGNATURE-----\nx', 'SSH'],
  ['-----BEGIN SIGNED MESSAGE-----\nx', 'X509'],
])('signatureType(%j) is %s', (signature, type) =>
  expect(signatureType(signature === undefined ? {} : { signature })).toBe(type),
);

test.each([
  ['created', states],
  ['pending', ['running', 'success', 'failed', 'canceled', 'skipped']],
  ['running', ['success', 'failed', 'canceled']],
])('from %s it goes to %j', (before, after) =>
  expect(states.filter((state) => transitionRefusal(before, state) === undefined)).toEqual(after),
);

test.each([
  [['success'], 'success'],
  [['success', 'skipped'], 'success'],
  [['skipped'], 'skipped'],
  [['success', 'failed'], 'failed'],
  [['success', 'canceled'], 'canceled'],
  [['failed', 'canceled'], 'failed'],
  [['pending', 'pending'], 'pending'],
  [['pending', 'success'], 'running'],
  [['failed', 'running'], 'running'],
])('%j make %s', (statuses, status) => expect(pipelineStatus(statuses)).toBe(status));

test.each([
  ['main', 'main'],
  ['refs/heads/main', 'main'],
  ['refs/tags/v1', 'v1'],
  ['refs/notes/x', undefined],
  ['-x', undefined],
  ['a..b', undefined],
])('refName(%s) is %s', (ref, name) => expect(refName(ref)).toBe(name));
