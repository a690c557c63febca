import { describe, expect, test } from 'vitest';
import { challengedUser, isChallengeOf, makeChallenge } from './challenge.ts';

const key = 'the key of an instance';
const user = { id: 7, password_hash: '$argon2id$one' };
const time = new Date('2030-01-10T12:00:00Z');
const minutesOn = (minutes: number) => new Date(time.getTime() + minutes * 60_000);
const challenge = makeChallenge(key, user, time);

test('names its user', () => {
  expect(challengedUser(challenge)).toBe(7);
  expect(challengedUser('7.1')).toBeUndefined();
  expect(challengedUser(`${'9'.repeat(20)}.1.x`)).toBeUndefined();
});

describe('counts for one user, one password, one instance and ten minutes', () => {
  test.each([
    ['as made', key, user, challenge, minutesOn(9), true],
    ['too late', key, user, challenge, minutesOn(10), false],
    ['another key', 'another', user, challenge, time, false],
    ['another password since', key, { ...user, password_hash: '$argon2id$two' }, challenge, time, false],
    ['another user', key, { ...user, id: 8 }, challenge, time, false],
    ['the number changed', key, { ...user, id: 8 }, challenge.replace('7.', '8.'), time, false],
    ['the time changed', key, user, challenge.replace(/\.\d/, '.9'), time, false],
    ['no code', key, user, challenge.replace(/[^.]+$/, ''), time, false],
    ['nonsense', key, user, 'x', time, false],
  ])('%s', (_case, secretKey, subject, text, at, right) => {
    expect(isChallengeOf(secretKey, subject, text, at)).toBe(right);
  });
});
