/** Limits of issues and notes that one user may create per minute. */
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import { type MadeUser, makeUser } from '../../../test/support/factories.ts';
import { type ActorColumns, toActor } from '../../kernel/actor.ts';
import type { ApplicationSettings } from '../../kernel/settings/definitions.ts';
import { moveClock, now } from '../../platform/clock.ts';
import { Failure } from '../../platform/failure.ts';
import type { HttpRequest } from '../../platform/http/messages.ts';
import { checkSpam } from './spam-check.ts';

const app = useApp();

/** Each test starts with a minute, so that it counts within one. */
let back = () => {};
beforeEach(() => {
  back = moveClock(60_000 - (now().getTime() % 60_000));
});
afterEach(() => back());

const request: HttpRequest = {
  id: 'r',
  method: 'POST',
  path: '/',
  query: '',
  headers: {},
  address: '127.0.0.1',
  origin: 'http://localhost',
  params: {},
  bodyStream: Readable.from([]),
  bodyLimit: 1_048_576,
  atEnd: () => {},
  signal: new AbortController().signal,
  replyHeaders: {},
};

/** The number of `times` writes that pass; only the limit may stop one. */
async function passing(
  user: MadeUser,
  times: number,
  kind: 'Issue' | 'Snippet' | 'Note',
  changes: Partial<ApplicationSettings>,
  write: 'create' | 'update' = 'create',
): Promise<number> {
  const { services } = app.app;
  const settings = { ...(await services.settings.read()), ...changes };
  const person: ActorColumns = {
    ...user,
    name: '',
    email: '',
    commit_email: null,
    kind: 'human',
    admin: false,
    auditor: false,
    external: false,
  };
  const actor = toActor(person, { via: 'session', sessionId: 1 });
  let passed = 0;
  for (let made = 0; made < times; made += 1) {
    try {
      await checkSpam(services, settings, { actor, request, kind, write, text: '', publiclyVisible: true });
      passed += 1;
    } catch (error) {
      expect(error).toBeInstanceOf(Failure);
      expect(error).toMatchObject({
        status: 429,
        publicMessage: { error: 'This endpoint has been requested too many times. Try again later.' },
        details: { headers: { 'retry-after': '60' } },
      });
    }
  }
  return passed;
}

describe('creation limits (facts: Application settings fields)', () => {
  test('hold each user, and each kind by itself', async () => {
    const limits = { issues_create_limit: 2, notes_create_limit: 3 };
    const [user, other] = [await makeUser(app), await makeUser(app)];
    expect(await passing(user, 5, 'Issue', limits)).toBe(2);
    expect(await passing(user, 5, 'Note', limits)).toBe(3);
    expect(await passing(other, 5, 'Issue', limits)).toBe(2);
    expect(await passing(user, 5, 'Snippet', limits)).toBe(5);
    expect(await passing(user, 5, 'Issue', limits, 'update')).toBe(5);
  });

  test('are off at 0', async () => {
    const user = await makeUser(app);
    expect(await passing(user, 5, 'Issue', { issues_create_limit: 0 })).toBe(5);
    expect(await passing(user, 5, 'Note', { notes_create_limit: 0 })).toBe(5);
  });

  test('for notes do not hold who is on the list', async () => {
    const user = await makeUser(app);
    const notes_create_limit_allowlist = ['somebody', user.username.toUpperCase()];
    const limits = { issues_create_limit: 1, notes_create_limit: 1, notes_create_limit_allowlist };
    expect(await passing(user, 3, 'Note', limits)).toBe(3);
    expect(await passing(user, 3, 'Issue', limits)).toBe(1);
  });
});
