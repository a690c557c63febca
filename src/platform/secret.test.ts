/** Passwords of callers are hashed one by one, and a flood of them from one place holds up nobody else's sign-in. */
import { expect, test } from 'vitest';
import { runForCaller } from './fair-share.ts';
import { checkPassword } from './secret.ts';

test('of one caller 100 passwords wait to be hashed; the next is told so, and another caller is served', async () => {
  const guess = (caller: string) => runForCaller({ name: caller }, () => checkPassword('a guess', undefined));
  const refused: unknown[] = [];
  const flood = Array.from({ length: 130 }, () =>
    guess('192.0.2.1').catch((error: unknown) => refused.push(error)),
  );
  expect(await guess('192.0.2.2')).toEqual({ right: false, rehash: false });
  // By now: on a busy machine, some of those who wait do so in vain.
  expect(refused).toHaveLength(29);
  expect(refused[0]).toMatchObject({
    kind: 'too_many_requests',
    details: { headers: { 'retry-after': '5' } },
  });
  await Promise.all(flood);
});
