import { expect, test } from 'vitest';
import type { Tracker } from '../kinds/description.ts';
import { byNumber, clickup, ewm, jira, phorge, youtrack } from './trackers.ts';

const properties = { issues_url: 'https://t.example/:id?x=:id', url: 'https://j.example/base/' };

test.each<[string, Tracker, string, string | undefined]>([
  ['by number', byNumber, '#12', 'https://t.example/12?x=12'],
  ['by number', byNumber, 'STONE_1-12', 'https://t.example/12?x=12'],
  ['by number', byNumber, 'T12', undefined],
  ['youtrack', youtrack, 'STONE-12', 'https://t.example/STONE-12?x=STONE-12'],
  ['youtrack', youtrack, '#12', 'https://t.example/12?x=12'],
  ['phorge', phorge, 'T12', 'https://t.example/T12?x=T12'],
  ['phorge', phorge, 'STONE-12', undefined],
  ['phorge', phorge, '#12', undefined],
  ['clickup', clickup, 'CU-1a', 'https://t.example/1a?x=1a'],
  ['clickup', clickup, '#12', 'https://t.example/12?x=12'],
  ['clickup', clickup, 'STONE-12', 'https://t.example/STONE-12?x=STONE-12'],
  ['ewm', ewm, 'Work item 12', 'https://t.example/12?x=12'],
  ['ewm', ewm, 'rtcwi 12', 'https://t.example/12?x=12'],
  ['ewm', ewm, '#12', undefined],
  ['jira', jira, 'STONE-12', 'https://j.example/base/browse/STONE-12'],
  ['jira', jira, '#12', undefined],
  ['jira', jira, 'stone/12', undefined],
])('%s: %3$s', (_, tracker, name, address) => {
  expect(tracker(name, properties)).toBe(address);
});

test('names of Jira in the way of the project', () => {
  const own = { ...properties, jira_issue_regex: '[a-z]+/[0-9]+' };
  expect(jira('stone/12', own)).toBe('https://j.example/base/browse/stone%2F12');
  expect(jira('#12', own)).toBe(undefined);
});
