/** Fields of a sample, and refused mappings. */
import { describe, expect, test } from 'vitest';
import { Failure } from '../../../platform/failure.ts';
import type { JsonObject } from '../records.ts';
import { changesSample, fieldsOf, validateMapping } from './mapping.ts';

const sample: JsonObject = {
  event: { name: 'Disk full', at: '2026-04-01T12:00:00Z', level: 3, open: true, 'a.b': 'dotted' },
  nodes: ['a', { name: 'b' }],
  nothing: null,
  empty: [],
};

test('the places of a sample, with their types', () => {
  expect(fieldsOf(sample)).toEqual([
    { path: ['event', 'name'], label: 'event.name', type: 'string' },
    { path: ['event', 'at'], label: 'event.at', type: 'datetime' },
    { path: ['event', 'level'], label: 'event.level', type: 'numeric' },
    { path: ['event', 'a.b'], label: 'event.a.b', type: 'string' },
    { path: ['nodes'], label: 'nodes', type: 'array' },
    { path: ['nodes', 0], label: 'nodes[0]', type: 'string' },
    { path: ['nodes', 1, 'name'], label: 'nodes[1].name', type: 'string' },
    { path: ['empty'], label: 'empty', type: 'array' },
  ]);
  expect(fieldsOf({})).toEqual([]);
});

test('of a large sample the first thousand places', () => {
  expect(fieldsOf({ list: Array.from({ length: 5000 }, () => 'x') })).toHaveLength(1000);
});

test('each place of a sample can be chosen as it is listed', () => {
  for (const { path, label, type } of fieldsOf(sample)) {
    const field = { path: [...path], label, type };
    expect(validateMapping({ hosts: field }, sample)).toEqual({ hosts: field });
  }
});

describe('a mapping is stored', () => {
  test.each<[string, JsonObject, JsonObject]>([
    ['empty', {}, {}],
    [
      'with the type and label of the sample',
      { title: { path: ['event', 'name'] } },
      { title: { path: ['event', 'name'], label: 'event.name', type: 'string' } },
    ],
    [
      'with its own label',
      { title: { path: ['event', 'name'], label: 'Name', type: 'string' } },
      { title: { path: ['event', 'name'], label: 'Name', type: 'string' } },
    ],
    [
      'without what nobody asked for',
      { severity: { path: ['event', 'level'], more: 'x' } },
      { severity: { path: ['event', 'level'], label: 'event.level', type: 'numeric' } },
    ],
    [
      'with an index as text',
      { service: { path: ['nodes', '1', 'name'] } },
      { service: { path: ['nodes', '1', 'name'], label: 'nodes.1.name', type: 'string' } },
    ],
  ])('%s', (_how, mapping, expected) => {
    expect(validateMapping(mapping, sample)).toEqual(expected);
  });
});

describe('a mapping is refused', () => {
  test.each<[string, JsonObject, JsonObject | null, string, RegExp]>([
    ['an unknown property', { colour: { path: ['event', 'name'] } }, sample, 'colour', /not a property/],
    ['one that objects inherit', { toString: { path: ['nodes'] } }, sample, 'toString', /not a property/],
    ['no object', { title: 'event.name' }, sample, 'title', /needs a path/],
    ['no path', { title: { type: 'string' } }, sample, 'title', /needs a path/],
    ['an empty path', { title: { path: [] } }, sample, 'title', /needs a path/],
    ['a path of other things', { title: { path: [{}] } }, sample, 'title', /needs a path/],
    ['a path of a negative number', { title: { path: [-1] } }, sample, 'title', /needs a path/],
    ['a place that is gone', { title: { path: ['event', 'x'] } }, sample, 'title', /event\.x .*new mapping/],
    ['a place of an object', { title: { path: ['event'] } }, sample, 'title', /event is no text/],
    ['a place of nothing', { title: { path: ['nothing'] } }, sample, 'title', /nothing is no text/],
    ['no sample', { title: { path: ['event', 'name'] } }, null, 'title', /payload_example/],
    ['a list for a text', { title: { path: ['nodes'] } }, sample, 'title', /cannot be a list/],
    [
      'another type',
      { title: { path: ['event', 'name'], type: 'array' } },
      sample,
      'title',
      /another type .*: string/,
    ],
  ])('%s', (_what, mapping, of, property, message) => {
    try {
      validateMapping(mapping, of);
      expect.unreachable();
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      expect(error.status).toBe(400);
      expect(error.publicMessage).toEqual({
        payload_attribute_mappings: { [property]: [expect.stringMatching(message)] },
      });
    }
  });

  test('with everything that is wrong at once', () => {
    expect(() => validateMapping({ x: {}, title: {}, hosts: { path: ['nodes'] } }, sample)).toThrow(
      /"x":.*"title":/,
    );
  });
});

test.each<[JsonObject | null, JsonObject | null, boolean]>([
  [sample, { ...sample }, false],
  [{ a: 1, b: 2 }, { b: 2, a: 1 }, false],
  [null, null, false],
  [{ a: 1 }, { a: 2 }, true],
  [{ a: 1 }, { a: 1, b: 1 }, true],
  [null, { a: 1 }, true],
  [{ a: 1 }, null, true],
])('%j to %j changes a sample: %s', (before, after, expected) => {
  expect(changesSample(before, after)).toBe(expected);
});
