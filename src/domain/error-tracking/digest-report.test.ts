/** What one report may make the digest write, however well it is packed. */
import { randomBytes } from 'node:crypto';
import { brotliCompressSync, constants } from 'node:zlib';
import { expect, test } from 'vitest';
import { digestReport } from './digest-report.ts';

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
  const { events, unreadable } = digestReport(report, 'key');
  const sizes = events.map(({ payload }) => payload.length);
  expect([events.length, unreadable]).toEqual([100, 0]);
  expect(sizes[0]).toBeGreaterThan(sizes.at(-1) ?? 0);
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(9_000_000);
});

test('an event that cannot be read costs those beside it nothing', () => {
  const { events, unreadable } = digestReport(
    reportOf(envelopeOf(['{"message":"one"}', '{"message":', '{"message":"two"}'])),
    'key',
  );
  expect(events.map(({ name }) => name)).toEqual(['one', 'two']);
  expect(unreadable).toBe(1);
});
