/** Long texts: rendered beside the program, given up on when they take too long, and refused when too many wait. */
import { expect, test } from 'vitest';
import type { Dialect } from './engine.ts';
import { renderSource } from './rendering.ts';

const dialect: Dialect = { gfm: true, baseUrl: 'https://here.example' };
const long = `<b>#1</b> ${'x '.repeat(10_000)}`;

test('a long text is rendered as a short one is', async () => {
  const { texts, fragments } = await renderSource(long, dialect);
  expect(fragments).toEqual([{ reference: expect.objectContaining({ kind: 'issue', name: '1' }) }]);
  expect(texts[0]).toBe('<p dir="auto"><b>');
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

test('when too many wait, the next is told so at once', async () => {
  const settled = await Promise.allSettled(Array.from({ length: 25 }, () => renderSource(long, dialect)));
  const refused = settled.filter(({ status }) => status === 'rejected');
  expect(refused).toHaveLength(5);
  expect(refused[0]).toMatchObject({ reason: { kind: 'unavailable' } });
});
