/** Cached results are shared by all callers; a pending one belongs to its caller. */
import { expect, test } from 'vitest';
import { runForCaller } from '../../fair-share.ts';
import { createCommitCache } from './commit-cache.ts';

test('a caller who is refused, or waits, keeps nobody else from the answer', async () => {
  const responses = createCommitCache<string | undefined>(10);
  const refusal = Promise.withResolvers<string>();
  const refused = runForCaller({ name: 'refused' }, () => responses('key', () => refusal.promise));
  const twice = runForCaller({ name: 'refused' }, () => responses('key', async () => 'not asked for'));
  expect(
    await runForCaller({ name: 'other' }, () => responses('key', async () => undefined)),
  ).toBeUndefined();
  refusal.reject(new Error('429'));
  await expect(refused).rejects.toThrow('429');
  await expect(twice).rejects.toThrow('429');
  expect(
    await runForCaller({ name: 'refused' }, () => responses('key', async () => 'asked again')),
  ).toBeUndefined();
});
