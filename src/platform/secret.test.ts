import { expect, test } from 'vitest';
import { Failure } from './failure.ts';
import { checkPassword } from './secret.ts';

test('resource exhaustion: no more than 500 passwords wait to be hashed, and whoever comes then is told so', async () => {
  // Of the least cost that there is.
  const stored = '$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$AAAA';
  const checks = await Promise.allSettled(Array.from({ length: 600 }, () => checkPassword('x', stored)));
  const refused = checks.flatMap((check) => (check.status === 'rejected' ? [check.reason] : []));
  expect(refused).toHaveLength(100);
  for (const reason of refused) expect(reason).toBeInstanceOf(Failure);
  expect(refused[0]).toMatchObject({ kind: 'unavailable', details: { headers: { 'retry-after': '5' } } });
  expect((await checkPassword('x', stored)).right).toBe(false);
});
