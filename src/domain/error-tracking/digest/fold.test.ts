/** The addition of a batch to an error. */
import { expect, test } from 'vitest';
import { distinctEvents, foldEvents, type Occurrence } from './fold.ts';

const occurrence = (at: string, changes: Partial<Occurrence> = {}): Occurrence => ({
  project_id: 1,
  received_at: new Date('2026-11-01T12:00:00Z'),
  occurred_at: new Date(`2026-11-01T${at}Z`),
  event_id: at,
  fingerprint: 'ab',
  name: 'A',
  description: '',
  actor: '',
  platform: 'node',
  level: 'error',
  environment: null,
  release: null,
  abridged: false,
  payload: new Uint8Array(),
  person: null,
  tags: [],
  ...changes,
});

test('events are summed up, whatever their order', () => {
  const addition = foldEvents([
    occurrence('10:59:59.999', { release: '1', person: 'a', tags: [['k', 'v']] }),
    occurrence('11:00:00.000', { name: 'last', level: 'fatal', person: 'a', tags: [['k', 'w']] }),
    occurrence('10:00:00.000', {
      person: 'b',
      tags: [
        ['k', 'v'],
        ['k\nv', ''],
      ],
    }),
    occurrence('10:30:00.000', { release: '2' }),
  ]);
  expect(addition).toMatchObject({
    events: 4,
    first_seen_at: new Date('2026-11-01T10:00:00Z'),
    last_seen_at: new Date('2026-11-01T11:00:00Z'),
    first_release: '2',
    last_release: '1',
    name: 'last',
    level: 'fatal',
    counts: [
      { hour: new Date('2026-11-01T10:00:00Z'), events: 3 },
      { hour: new Date('2026-11-01T11:00:00Z'), events: 1 },
    ],
    people: ['b', 'a'],
  });
  expect(addition.tags).toEqual([
    { key: 'k', value: 'v', events: 2, last_seen_at: new Date('2026-11-01T10:59:59.999Z') },
    { key: 'k\nv', value: '', events: 1, last_seen_at: new Date('2026-11-01T10:00:00Z') },
    { key: 'k', value: 'w', events: 1, last_seen_at: new Date('2026-11-01T11:00:00Z') },
  ]);
});

test('of events that were reported more than once the first counts, in each project', () => {
  const events = [
    occurrence('10:00:00', { name: 'first' }),
    occurrence('10:00:00', { name: 'again' }),
    occurrence('10:00:00', { project_id: 2 }),
    occurrence('11:00:00'),
  ];
  expect(distinctEvents(events)).toEqual([events[0], events[2], events[3]]);
});
