import { describe, expect, test } from 'vitest';
import { presentStatus, type StatusChange, type StatusRow, statusFrom } from './status.ts';

const noon = new Date('2026-03-01T12:00:00.000Z');
const later = (seconds: number) => new Date(noon.getTime() + seconds * 1_000);
const away: StatusRow = {
  status: { emoji: 'palm_tree', message: 'away', availability: 'busy' },
  status_clears_at: later(60),
};
const empty = { emoji: null, message: null, availability: null, message_html: '', clear_status_at: null };

describe('presentStatus', () => {
  test('what has run out is not shown, to the millisecond', () => {
    expect(presentStatus(away, later(59.999))).toEqual({
      emoji: 'palm_tree',
      message: 'away',
      availability: 'busy',
      message_html: 'away',
      clear_status_at: later(60).toISOString(),
    });
    expect(presentStatus(away, later(60))).toEqual(empty);
    expect(presentStatus({ status: null, status_clears_at: null }, noon)).toEqual(empty);
  });

  test('the message is text, and its HTML shows that text', () => {
    const status = { emoji: 'x', message: `<img onerror='a("b")'>&`, availability: 'not_set' } as const;
    const shown = presentStatus({ status, status_clears_at: null }, noon);
    expect(shown.message).toBe(status.message);
    expect(shown.message_html).toBe('&lt;img onerror=&#39;a(&quot;b&quot;)&#39;&gt;&amp;');
  });
});

describe('statusFrom', () => {
  test.each<[string, StatusChange, StatusRow | undefined, unknown]>([
    [
      'words alone get the default emoji',
      { message: 'hi' },
      undefined,
      { status: { emoji: 'speech_balloon', message: 'hi', availability: 'not_set' }, clearsAt: null },
    ],
    ['nothing is no status', {}, undefined, { status: null, clearsAt: null }],
    ['empty texts are no status', { emoji: '', message: '' }, undefined, { status: null, clearsAt: null }],
    [
      'a period counts from now',
      { emoji: 'tea', clear_status_after: '30_minutes' },
      undefined,
      { status: { emoji: 'tea', message: '', availability: 'not_set' }, clearsAt: later(1_800) },
    ],
    [
      'what is not given stays',
      { message: 'back soon' },
      away,
      { status: { emoji: 'palm_tree', message: 'back soon', availability: 'busy' }, clearsAt: later(60) },
    ],
    [
      'null takes the period away',
      { clear_status_after: null },
      away,
      { status: { emoji: 'palm_tree', message: 'away', availability: 'busy' }, clearsAt: null },
    ],
    [
      'what has run out does not come back',
      { availability: 'busy' },
      { ...away, status_clears_at: noon },
      { status: { emoji: 'speech_balloon', message: '', availability: 'busy' }, clearsAt: null },
    ],
  ])('%s', (_, change, before, expected) => {
    expect(statusFrom(change, before, noon)).toEqual(expected);
  });

  test('an emoji is a name', () => {
    expect(statusFrom({ emoji: '<b>' }, undefined, noon).problem).toEqual({
      emoji: ['is not a valid emoji name'],
    });
  });
});
