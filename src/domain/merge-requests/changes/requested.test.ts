import { describe, expect, test } from 'vitest';
import { invalid } from '../../../platform/failure.ts';
import { type ChangeRights, permitted, type Requested } from './requested.ts';

const all: ChangeRights = { metadata: true, lock: true, premium: true };
const people = (count: number): number[] => Array.from({ length: count }, (_, place) => place + 1);

describe('what of a request its caller may have', () => {
  test.each<[string, Partial<ChangeRights>, Requested, Requested]>([
    ['all', {}, { title: 'a', labels: ['b'] }, { title: 'a', labels: ['b'] }],
    ['no metadata', { metadata: false }, { title: 'a', labels: ['b'], assignee_ids: [1] }, { title: 'a' }],
    ['no lock', { lock: false }, { title: 'a', discussion_locked: true }, { title: 'a' }],
    ['one of each below premium', { premium: false }, { reviewer_ids: people(201) }, { reviewer_ids: [1] }],
    ['200', {}, { assignee_ids: people(200) }, { assignee_ids: people(200) }],
    ['one often', {}, { reviewer_ids: Array(201).fill(7) }, { reviewer_ids: Array(201).fill(7) }],
    ['too many, passed over', { metadata: false }, { reviewer_ids: people(201) }, {}],
  ])('%s', (_, rights, requested, expected) => {
    expect(permitted(requested, { ...all, ...rights })).toEqual(expected);
  });

  test.each([
    ['assignee_ids', 'assignees'],
    ['reviewer_ids', 'reviewers'],
  ])('more than 200 are refused: %s', (name, property) => {
    expect(() => permitted({ [name]: people(201) }, all)).toThrow(
      invalid({ [property]: ['total must be less than or equal to 200'] }),
    );
  });
});
