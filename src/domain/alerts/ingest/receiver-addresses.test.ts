/** The path before `/alerts/notify` is a project's, perhaps with the word for metrics. */
import { expect, test } from 'vitest';
import { readingsOf } from './receiver-addresses.ts';

test.each([
  ['g/p', [['g/p', 'http']]],
  ['G/Sub/P', [['g/sub/p', 'http']]],
  ['g/p/-', [['g/p', 'http']]],
  [
    'g/p/metrics',
    [
      ['g/p/metrics', 'http'],
      ['g/p', 'metrics'],
    ],
  ],
  [
    'g/p/prometheus',
    [
      ['g/p/prometheus', 'http'],
      ['g/p', 'metrics'],
    ],
  ],
  ['g/p/-/metrics', [['g/p', 'metrics']]],
  ['g/p/-/prometheus', [['g/p', 'metrics']]],
  // A project needs a namespace.
  ['g/metrics', [['g/metrics', 'http']]],
  ['metrics', []],
  ['g', []],
  ['g/', []],
  ['', []],
  ['g/p\0', []],
  ['g\0/p/metrics', []],
])('%j', (path, readings) => {
  expect(readingsOf(path).map((reading) => [reading.path, reading.kind])).toEqual(readings);
});
