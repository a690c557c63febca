/** Which commits a changelog has. */
import { expect, test } from 'vitest';
import type { Commit } from '../../platform/git/parse.ts';
import { byCategory, changesOf } from './changes.ts';

const id = (letter: string) => letter.repeat(40);
const commit = (letter: string, body: string): Commit =>
  ({ oid: id(letter), message: `Commit ${letter}\n\n${body}` }) as Commit;
const titles = (...commits: Commit[]) => changesOf(commits, 'Changelog').map(({ title }) => title);

test('a commit with the trailer is a change', () => {
  expect(
    titles(commit('c', 'Changelog: fixed'), commit('b', 'Changelog:'), commit('a', 'Other: added')),
  ).toEqual(['Commit c']);
});

const added = 'Changelog: added';
const reverting = (letter: string) => `This reverts commit ${id(letter)}.`;

test.each([
  [
    'one that is reverted is none',
    [commit('c', reverting('b')), commit('b', added), commit('a', added)],
    ['Commit a'],
  ],
  [
    'the reverting one may be a change itself',
    [commit('c', `${reverting('b')}\n\n${added}`), commit('b', added)],
    ['Commit c'],
  ],
  [
    'a revert that is reverted reverts nothing',
    [commit('d', reverting('c')), commit('c', reverting('b')), commit('b', added)],
    ['Commit b'],
  ],
  ['a revert of an earlier range', [commit('c', reverting('f')), commit('b', added)], ['Commit b']],
])('%s', (_, commits, expected) => {
  expect(titles(...commits)).toEqual(expected);
});

test('categories have their titles, and those that are called alike are one', () => {
  const changes = changesOf(
    [commit('c', 'Changelog: bug'), commit('b', 'Changelog: feature'), commit('a', 'Changelog: fix')],
    'Changelog',
  );
  const found = byCategory(
    changes,
    new Map([
      ['bug', 'Fixes'],
      ['fix', 'Fixes'],
    ]),
  );
  expect([...found].map(([title, { length }]) => [title, length])).toEqual([
    ['Fixes', 2],
    ['feature', 1],
  ]);
});

test('no trailer is called as what every object has', () => {
  expect(changesOf([commit('a', 'x: y')], 'constructor')).toEqual([]);
});
