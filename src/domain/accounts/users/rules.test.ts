import { describe, expect, test } from 'vitest';
import { localTime, profileProblems, type StateChange, stateRefusal, workInformation } from './rules.ts';

describe('stateRefusal', () => {
  const today = '2026-06-01';
  const states = ['active', 'blocked', 'deactivated', 'banned', 'blocked_pending_approval'];
  const allowed: [StateChange, string[]][] = [
    ['block', ['active', 'blocked', 'deactivated', 'blocked_pending_approval']],
    ['unblock', ['active', 'blocked']],
    ['ban', ['active']],
    ['unban', ['banned']],
    ['activate', ['active', 'deactivated']],
    ['deactivate', ['active', 'deactivated']],
  ];
  test.each(allowed)('%s starts from %j', (change, from) => {
    const takes = states.filter((state) => {
      const subject = { state, kind: 'human', last_activity_on: null };
      return stateRefusal(change, subject, today) === undefined;
    });
    expect(takes).toEqual(from);
  });

  test('only dormant users are deactivated', () => {
    const seen = (last_activity_on: string | null) =>
      stateRefusal('deactivate', { state: 'active', kind: 'human', last_activity_on }, today);
    expect(seen('2026-03-03')).toMatch(/active in the past 90 days/);
    expect(seen('2026-03-02')).toBeUndefined();
    expect(seen(null)).toBeUndefined();
  });

  test('the ghost stays as it is', () => {
    expect(stateRefusal('block', { state: 'active', kind: 'ghost', last_activity_on: null }, today)).toMatch(
      /internal/,
    );
  });
});

test.each([
  ['', null, null],
  ['', '', null],
  ['Mason', null, 'Mason'],
  ['', 'Works', 'Works'],
  ['Mason', 'Works', 'Mason at Works'],
])('work information of %j at %j is %j', (job_title, organization, shown) => {
  expect(workInformation({ job_title, organization })).toBe(shown);
});

test('local time by time zone', () => {
  const time = new Date('2026-01-15T15:04:00Z');
  expect(localTime('America/New_York', time)?.replace(/\s/, ' ')).toBe('10:04 AM');
  expect(localTime(null, time)).toBeNull();
  expect(localTime('Atlantis/Center', time)).toBeNull();
});

test.each([
  [{}, {}],
  [{ name: ' ' }, { name: ["can't be blank"] }],
  [{ website_url: 'https://example.com/~ada' }, {}],
  [{ website_url: '' }, {}],
  [{ website_url: 'javascript:alert(1)' }, { website_url: ['is not a valid URL'] }],
  [{ website_url: 'example' }, { website_url: ['is not a valid URL'] }],
  [{ discord: '12345678901234567' }, {}],
  [{ discord: 'ada#1' }, { discord: ['must contain only a discord user ID.'] }],
])('problems of %j', (fields, problems) => {
  expect(profileProblems(fields)).toEqual(problems);
});
