/** Long texts: rendered in a thread, abandoned at a timeout, and shared fairly among callers. */
import { expect, test } from 'vitest';
import { runForCaller } from '../../platform/fair-share.ts';
import type { Dialect } from './engine.ts';
import { renderSource } from './rendering.ts';

const dialect: Dialect = { gfm: true, baseUrl: 'https://here.example' };
const long = `<b>#1</b> ${'x '.repeat(10_000)}`;

test('a long text is rendered as a short one is', async () => {
  const { texts, fragments } = await renderSource(long, dialect);
  expect(fragments).toEqual([{ reference: expect.objectContaining({ kind: 'issue', name: '1' }) }]);
  expect(texts[0]).toBe('<p data-sourcepos="1:1-1:20010" dir="auto"><b>');
  expect(texts[1]).toMatch(/^<\/b> x x /);
});

test('one that takes too long is shown as it was written, and the next is rendered', async () => {
  const slow = '<b>'.repeat(300_000);
  const { texts, fragments } = await renderSource(slow, dialect, 1);
  expect(fragments).toEqual([]);
  expect(texts).toHaveLength(1);
  expect(texts[0]?.slice(0, 40)).toBe('<pre dir="auto">&lt;b&gt;&lt;b&gt;&lt;b&');
  expect((await renderSource(long, dialect)).fragments).toHaveLength(1);
});

test('a caller with too many of them is refused at once, and another is served', async () => {
  const requested = Array.from({ length: 25 }, () =>
    runForCaller({ name: 'greedy' }, () => renderSource(long, dialect)),
  );
  const greedy = Promise.allSettled(requested);
  const { fragments } = await runForCaller({ name: 'modest' }, () => renderSource(long, dialect));
  expect(fragments).toHaveLength(1);
  const refused = (await greedy).filter(({ status }) => status === 'rejected');
  expect(refused).toHaveLength(14);
  expect(refused[0]).toMatchObject({ reason: { kind: 'too_many_requests' } });
});
