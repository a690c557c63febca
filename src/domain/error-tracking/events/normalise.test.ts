/** Events of several generations of clients in one shape, hostile ones included. */
import { describe, expect, test } from 'vitest';
import { reportedEvents } from '../../../../test/support/reported-events.ts';
import { titleOf } from './grouping.ts';
import { type Arrival, momentOf, outlineEvent } from './normalise.ts';
import { type NormalEvent, packEvent, readEvent } from './shape.ts';

const arrival: Arrival = {
  receivedAt: new Date('2026-10-30T10:40:00Z'),
  keepAddresses: false,
  address: '192.0.2.9',
};
const normal = (event: Record<string, unknown>, changes: Partial<Arrival> = {}): NormalEvent =>
  outlineEvent(event, { ...arrival, ...changes }, 524_288).complete();

describe.each(reportedEvents)('an event of $client', (reported) => {
  const event = normal(reported.event);
  const { name, description, actor, level, timestamp } = reported;

  test('is read', () => {
    expect({ ...titleOf(event), level: event.level, timestamp: event.timestamp }).toEqual({
      name,
      description,
      actor,
      level,
      timestamp,
    });
    const frames = event.exceptions.at(-1)?.frames ?? event.frames;
    expect(frames.filter((frame) => frame.in_app).map((frame) => frame.function)).toEqual(reported.inApp);
    expect(Object.fromEntries(event.tags)).toEqual(reported.tags ?? {});
    expect(event.user?.id ?? null).toBe(reported.user ?? null);
    expect(event.breadcrumbs).toHaveLength(reported.breadcrumbs ?? 0);
    expect(event.event_id).toMatch(/^[\da-f]{32}$/);
  });

  test('keeps no secret, and comes back as it was kept', async () => {
    expect(JSON.stringify(event)).not.toMatch(/hunter2|sessionid|token=abc|192\.0\.2\.|'abc'|"password":"x"/);
    expect(await readEvent({ payload: packEvent(event) })).toEqual(event);
  });
});

test('what is known of an event goes everywhere it belongs', () => {
  const [django] = reportedEvents;
  expect(normal(django?.event ?? {})).toMatchObject({
    exceptions: [
      {
        type: 'KeyError',
        handled: true,
        frames: [{ lineno: 14, context_line: '    return item["price"]', vars: { secret_key: '[removed]' } }],
      },
      { type: 'PriceMissing', module: 'shop.errors', handled: false, mechanism: 'django' },
    ],
    user: { email: 'ada@example.com', ip_address: null },
    request: { method: 'GET', headers: [['Cookie', '[removed]']], env: { REMOTE_ADDR: '[removed]' } },
    modules: { django: '5.1', 'djangorestframework-simplejwt': '5.3' },
    sdk: { name: 'sentry.python.django', version: '2.19.0' },
  });
});

test.each<[unknown, string | undefined]>([
  ['2026-10-30T10:35:02', '2026-10-30T10:35:02.000Z'],
  ['2026-10-30T10:35:02.5+02:00', '2026-10-30T08:35:02.500Z'],
  ['2026-10-30 10:35:02Z', '2026-10-30T10:35:02.000Z'],
  [1793356502, '2026-10-30T10:35:02.000Z'],
  [1793356502.25, '2026-10-30T10:35:02.250Z'],
  ['1793356502', '2026-10-30T10:35:02.000Z'],
  [1793356502_000, '2026-10-30T10:35:02.000Z'],
  [1e300, undefined],
  ['yesterday', undefined],
  [null, undefined],
  [{}, undefined],
])('the moment %j is %s', (value, moment) => {
  expect(momentOf(value)?.toISOString()).toBe(moment);
});

test.each<[unknown, string]>([
  ['2026-10-30T10:39:00Z', '2026-10-30T10:39:00.000Z'],
  ['2026-10-30T10:40:30Z', '2026-10-30T10:40:00.000Z'],
  ['2027-10-30T10:40:30Z', '2026-10-30T10:40:00.000Z'],
  ['2026-09-01T00:00:00Z', '2026-10-30T10:40:00.000Z'],
])('an event that claims to be of %s is of %s', (timestamp, moment) => {
  expect(normal({ timestamp }).timestamp).toBe(moment);
});

test('an event has the id that it says, else that of its envelope, else one of its own', () => {
  const id = 'a'.repeat(32);
  expect(normal({ event_id: id.toUpperCase() }).event_id).toBe(id);
  expect(normal({ event_id: 'x' }, { eventId: id }).event_id).toBe(id);
  expect(normal({}).event_id).not.toBe(normal({}).event_id);
});

test('an address is kept where the project wants it, and found out for browsers', () => {
  const user = (changes: Record<string, unknown>) =>
    normal(changes, { keepAddresses: true }).user?.ip_address ?? null;
  expect(user({ user: { ip_address: '192.0.2.1', geo: {} } })).toBe('192.0.2.1');
  expect(user({ user: { ip_address: '{{auto}}' } })).toBe('192.0.2.9');
  expect(user({ platform: 'javascript' })).toBe('192.0.2.9');
  expect(user({ platform: 'python' })).toBeNull();
  // Current clients set this where the address must not be inferred.
  expect(user({ platform: 'javascript', sdk: { settings: { infer_ip: 'never' } } })).toBeNull();
});

test.each([
  ['wall %s fell %d times', ['north', 3], 'wall north fell 3 times'],
  ['{1} of {0}', ['two', 'one'], 'one of two'],
  ['{} is 100%% of %s', ['a', 'b'], 'a is 100% of b'],
  ['%s and %s', ['a'], 'a and %s'],
  ['%s', [{ deep: true }], '%s'],
  ['signed in with password=%s', ['sesame'], 'signed in with password=[removed]'],
  ['100% {} of it', undefined, '100% {} of it'],
])('the template %j with %j says %j', (message, params, said) => {
  expect(normal({ logentry: { message, params } }).message).toBe(said);
});

test('headers that came several times are one, and what is no text is none of them', () => {
  const headers = { Accept: ['a', { toString: 1 }, ['b'], 'c'], Cookie: ['a=b'] };
  expect(normal({ request: { headers } }).request?.headers).toEqual([
    ['Accept', 'a, c'],
    ['Cookie', '[removed]'],
  ]);
});

describe('a hostile event', () => {
  const size = (event: Record<string, unknown>) => JSON.stringify(normal(event)).length;
  const frame = (n: number) => ({ function: `f${n}`, filename: 'a.py', in_app: true, vars: { n } });

  test('of 10,000 frames keeps the first and the last', () => {
    const frames = Array.from({ length: 10_000 }, (_, n) => frame(n));
    const [thrown] = normal({ exception: { type: 'A', stacktrace: { frames } } }).exceptions;
    expect(thrown?.frames.map((each) => each.function)).toEqual([
      ...Array.from({ length: 50 }, (_, n) => `f${n}`),
      ...Array.from({ length: 200 }, (_, n) => `f${9_800 + n}`),
    ]);
    expect(thrown?.frames_omitted).toBe(9_750);
  });

  test('of huge frames keeps the source of the innermost, and where the others are', () => {
    const frames = Array.from({ length: 100 }, (_, n) => ({ ...frame(n), context_line: 'x'.repeat(16_000) }));
    const [thrown] = normal({ exception: { type: 'A', stacktrace: { frames } } }).exceptions;
    expect(thrown?.frames.map((each) => each.function)).toEqual(frames.map((each) => each.function));
    const withSource = thrown?.frames.map(({ context_line }) => context_line !== null) ?? [];
    const count = withSource.filter(Boolean).length;
    expect(count).toBeGreaterThan(10);
    expect(count).toBeLessThan(50);
    expect(withSource.slice(-count)).not.toContain(false);
  });

  test.each<[string, Record<string, unknown>]>([
    [
      'thousands of exceptions',
      { exception: Array.from({ length: 5_000 }, () => ({ type: 'A', value: 'b'.repeat(1_000) })) },
    ],
    [
      'thousands of breadcrumbs',
      { breadcrumbs: Array.from({ length: 9_000 }, () => ({ message: 'b'.repeat(1_000) })) },
    ],
    [
      'thousands of tags',
      { tags: Object.fromEntries(Array.from({ length: 9_000 }, (_, n) => [`k${n}`, 'v'.repeat(500)])) },
    ],
    [
      'texts without end',
      { message: 'x'.repeat(1e6), release: 'y'.repeat(1e6), extra: { a: 'z'.repeat(1e6) } },
    ],
    ['wide objects', { extra: Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [n, { n }])) }],
    [
      'packages without end',
      { modules: Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`p${n}`, '1'])) },
    ],
    [
      'wrong types everywhere',
      Object.fromEntries(
        [
          'exception',
          'message',
          'tags',
          'user',
          'request',
          'contexts',
          'breadcrumbs',
          'threads',
          'modules',
          'extra',
          'sdk',
          'level',
          'platform',
          'stacktrace',
          'fingerprint',
          'event_id',
        ].map((name, n) => [
          name,
          [[], 7, [[null]], { values: [1, null, []] }, [{ stacktrace: { frames: [null, 3, []] } }]][n % 5],
        ]),
      ),
    ],
  ])('with %s costs little', (_, event) => {
    expect(size(event)).toBeLessThan(900_000);
  });

  test('with what databases cannot hold is mended', () => {
    const event = normal({
      message: 'a\0b\ud800',
      release: '\0',
      tags: { 'k\0': '\udfff' },
      transaction: `${'x'.repeat(198)}😀😀`,
    });
    const title = titleOf(event);
    for (const text of [JSON.stringify(event), ...Object.values(title)]) {
      expect(text).not.toMatch(/\0|\\u0000|\\ud8/);
      expect(text.isWellFormed()).toBe(true);
    }
    expect(event.release ?? '').toBe('');
  });

  test('with names of prototypes changes nothing', () => {
    const event = normal(
      JSON.parse(
        '{"__proto__":{"level":"fatal"},"extra":{"__proto__":{"x":1},"constructor":{"prototype":{"y":1}}},"modules":{"__proto__":"1"}}',
      ),
    );
    expect(event.level).toBe('error');
    expect(({} as Record<string, unknown>).y).toBeUndefined();
    expect(Object.getPrototypeOf(event.extra)).toBe(Object.prototype);
  });
});
