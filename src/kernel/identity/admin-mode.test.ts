/** Which administrators' rights count. */
import { expect, test } from 'vitest';
import { adminRights, type Elevation } from './admin-mode.ts';

const time = new Date('2026-11-29T12:00:00Z');
const token = (...scopes: string[]): Elevation => ({ via: 'token', scopes });
const session = (enteredAt: string | null): Elevation => ({
  via: 'session',
  enteredAt: enteredAt === null ? null : new Date(enteredAt),
});

const outside = { admin: false };
const inside = { admin: true, adminMode: true };

test.each<[string, boolean, boolean, Elevation, object]>([
  ['no administrator', false, false, token('admin_mode'), outside],
  ['no administrator, with the mode', false, true, token('api', 'admin_mode'), outside],
  ['no administrator, in a session that entered it', false, true, session('2026-11-29T11:59:00Z'), outside],
  ['the instance does not demand it', true, false, token('api'), { admin: true }],
  ['the same by a session', true, false, session(null), { admin: true }],
  ['a token without the scope', true, true, token('api', 'sudo', 'read_user'), outside],
  ['a token without any', true, true, token(), outside],
  ['a token with the scope', true, true, token('read_user', 'admin_mode'), inside],
  ['a token with a scope of a like name', true, true, token('admin_mode_too'), outside],
  ['a session that has not entered', true, true, session(null), outside],
  ['a session that has just entered', true, true, session('2026-11-29T12:00:00Z'), inside],
  ['a session, almost six hours later', true, true, session('2026-11-29T06:00:00.001Z'), inside],
  ['a session, six hours later', true, true, session('2026-11-29T06:00:00Z'), outside],
])('%s', (_, admin, admin_mode, elevation, expected) => {
  expect(adminRights({ admin }, { admin_mode }, elevation, time)).toEqual(expected);
});
