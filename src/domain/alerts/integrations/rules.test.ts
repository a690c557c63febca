/** Samples, mappings and names of integrations. */
import { describe, expect, test } from 'vitest';
import { Failure } from '../../../platform/failure.ts';
import type { IntegrationChanges } from '../alerts/schema.ts';
import type { Mapping } from '../payloads/mapping.ts';
import { changedMapping, presentMapping, slugOf } from './rules.ts';

const sample = { name: 'Disk', level: 3 };
const mapping: Mapping = { title: { path: ['name'], label: 'name', type: 'string' } };
const title = { field_name: 'title', path: ['name'] } as const;
const given = [{ ...title, path: [...title.path] }];
const plain = { kind: 'http', mapping: null, sample: null };
const mapped = { kind: 'http', mapping, sample };

type Case = [what: string, before: typeof plain | typeof mapped, changes: IntegrationChanges, tier: string];

describe('a change', () => {
  test.each<[...Case, expected: unknown]>([
    ['of nothing', mapped, {}, 'free', undefined],
    ['of the name', mapped, { name: 'x' }, 'free', undefined],
    ['to a sample alone', plain, { payload_example: sample }, 'premium', { sample, mapping: null }],
    [
      'to both',
      plain,
      { payload_example: sample, payload_attribute_mappings: given },
      'premium',
      { sample, mapping },
    ],
    ['of the mapping', mapped, { payload_attribute_mappings: given }, 'ultimate', { sample, mapping }],
    [
      'to the same sample in another order',
      mapped,
      { payload_example: { level: 3, name: 'Disk' } },
      'premium',
      { sample, mapping },
    ],
    ['to no mapping', mapped, { payload_attribute_mappings: [] }, 'premium', { sample, mapping: null }],
    [
      'to nothing, in Free too',
      mapped,
      { payload_example: null, payload_attribute_mappings: [] },
      'free',
      { sample: null, mapping: null },
    ],
  ])('%s', (_what, before, changes, tier, expected) => {
    expect(changedMapping(before, changes, tier)).toEqual(expected);
  });

  test.each<[...Case, status: number]>([
    ['of a sample in Free', plain, { payload_example: sample }, 'free', 403],
    ['of a mapping in Free', mapped, { payload_attribute_mappings: given }, 'free', 403],
    ['to another sample without a mapping', mapped, { payload_example: { name: 'x' } }, 'premium', 400],
    ['to no sample with the mapping', mapped, { payload_example: null }, 'premium', 400],
    ['to a mapping without a sample', plain, { payload_attribute_mappings: given }, 'premium', 400],
    ['of metrics', { ...plain, kind: 'metrics' }, { payload_example: sample }, 'premium', 400],
    [
      'to a place that is a number, as another type',
      mapped,
      { payload_attribute_mappings: [{ field_name: 'title', path: ['level'], type: 'string' }] },
      'premium',
      400,
    ],
    [
      'to a sample that no receiver takes',
      plain,
      { payload_example: { a: 'x'.repeat(1_048_577) } },
      'premium',
      400,
    ],
  ])('%s is refused', (_what, before, changes, tier, status) => {
    const attempt = () => changedMapping(before, changes, tier);
    expect(attempt).toThrow(Failure);
    try {
      attempt();
    } catch (error) {
      expect((error as Failure).status).toBe(status);
    }
  });
});

test('a mapping is told in the order of the properties', () => {
  const field = { path: ['a'], label: 'a', type: 'string' } as const;
  expect(presentMapping({ severity: field, title: field }).map((each) => each.field_name)).toEqual([
    'title',
    'severity',
  ]);
  expect(presentMapping(null)).toEqual([]);
});

test.each([
  ['My tool', 'my-tool'],
  ['Größe / №1', 'gro-e-no1'],
  ['--', 'http-endpoint'],
  ['監視', 'http-endpoint'],
  ['a'.repeat(200), 'a'.repeat(100)],
  ['snake_case', 'snake_case'],
])('%s is %s in an address', (name, slug) => {
  expect(slugOf(name)).toBe(slug);
});
