/** What is known of a commit is everybody's; what is being found is its caller's own. */
import { expect, test } from 'vitest';
import { runForCaller } from '../fair-share.ts';
import { keepAnswers } from './answers.ts';

test('a caller who is refused, or waits, keeps nobody else from the answer', async () => {
  const answers = keepAnswers<string | undefined>(10);
  const refusal = Promise.withResolvers<string>();
  const refused = runForCaller({ name: 'refused' }, () => answers('key', () => refusal.promise));
  const twice = runForCaller({ name: 'refused' }, () => answers('key', async () => 'not asked for'));
  expect(await runForCaller({ name: 'other' }, () => answers('key', async () => undefined))).toBeUndefined();
  refusal.reject(new Error('429'));
  await expect(refused).rejects.toThrow('429');
  await expect(twice).rejects.toThrow('429');
  expect(
    await runForCaller({ name: 'refused' }, () => answers('key', async () => 'asked again')),
  ).toBeUndefined();
});
