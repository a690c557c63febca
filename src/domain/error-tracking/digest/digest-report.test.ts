/** The bounds of the rows that one report can make, however well it is packed. */
import { randomBytes } from 'node:crypto';
import { brotliCompressSync, constants } from 'node:zlib';
import { expect, test } from 'vitest';
import { readEvent } from '../events/shape.ts';
import { createAllowance } from './allowance.ts';
import { digestReport } from './digest-report.ts';

const all = { personKey: 'key', mayBeWhole: () => true };

const reportOf = (body: string) => ({
  project_id: 1,
  form: 'envelope',
  encoding: 'br' as const,
  body: brotliCompressSync(body, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_LGWIN]: 22 },
  }),
  address: null,
  received_at: new Date('2026-10-30T10:40:00Z'),
  keep_addresses: false,
});
const envelopeOf = (events: readonly string[]): string =>
  ['{}', ...events.flatMap((event) => ['{"type":"event"}', event])].join('\n');

test('a hundred large events that are alike are kept with less each', () => {
  const parts = Array.from({ length: 12 }, () => randomBytes(6_000).toString('base64'));
  const event = JSON.stringify({ message: 'said', extra: { parts } });
  const report = reportOf(envelopeOf(Array.from({ length: 100 }, () => event)));
  expect(report.body.length).toBeLessThan(200_000);
  const { events, unreadable } = digestReport(report, all);
  const sizes = events.map(({ payload }) => payload.length);
  expect([events.length, unreadable]).toEqual([100, 0]);
  expect(sizes[0]).toBeGreaterThan(sizes.at(-1) ?? 0);
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(9_000_000);
});

test('an event that cannot be read costs those beside it nothing', () => {
  const { events, unreadable } = digestReport(
    reportOf(envelopeOf(['{"message":"one"}', '{"message":', '{"message":"two"}'])),
    all,
  );
  expect(events.map(({ name }) => name)).toEqual(['one', 'two']);
  expect(unreadable).toBe(1);
});

test('of an error so many events in a minute are kept whole; of the others, where it happened and whom it met', async () => {
  const frame = {
    function: 'lay',
    module: 'walls',
    lineno: 7,
    context_line: 'lay(stone)',
    vars: { stone: 1 },
  };
  const thrown = (type: string) =>
    JSON.stringify({
      exception: { values: [{ type, value: 'no stone left', stacktrace: { frames: [frame] } }] },
      user: { id: 5 },
      tags: { yard: 'north' },
      request: { url: 'http://walls.example/' },
      breadcrumbs: [{ message: 'came by' }],
      extra: { weather: 'wet' },
      modules: { mortar: '1.0' },
    });
  const types = ['A', 'A', 'A', 'B', 'A', 'B'];
  const situation = { personKey: 'key', mayBeWhole: createAllowance(2) };
  const { events } = digestReport(reportOf(envelopeOf(types.map(thrown))), situation);
  expect(events.map(({ name, abridged }) => [name, abridged])).toEqual([
    ['A', false],
    ['A', false],
    ['A', true],
    ['B', false],
    ['A', true],
    ['B', false],
  ]);
  const [whole, , brief] = events;
  if (!whole || !brief) throw new Error('no events');
  expect(brief.fingerprint).toBe(whole.fingerprint);
  expect([brief.person, brief.tags, brief.actor]).toEqual([whole.person, whole.tags, whole.actor]);
  const [{ event_id: _, ...full }, { event_id: __, ...outline }] = await Promise.all([
    readEvent(whole),
    readEvent(brief),
  ]);
  const [exception] = full.exceptions;
  expect(exception?.frames[0]).toMatchObject({ context_line: 'lay(stone)', vars: { stone: 1 } });
  expect(full).toMatchObject({ extra: { weather: 'wet' }, breadcrumbs: [{ message: 'came by' }] });
  const bare = { pre_context: [], context_line: null, post_context: [], vars: null };
  expect(outline).toEqual({
    ...full,
    exceptions: [{ ...exception, frames: [{ ...exception?.frames[0], ...bare }] }],
    request: null,
    breadcrumbs: [],
    extra: {},
    modules: {},
  });
});
