/** Paths for the router: segments that are joined, and segments that stay. */
import { expect, test } from 'vitest';
import { ANY_PATH, joinPathSegments, routerPath } from './path-segments.ts';

const SECRET = '0123456789abcdef'.repeat(2);

const join = joinPathSegments([
  ANY_PATH,
  '/:path+.git/info/refs',
  '/:path+/uploads/:secret([0-9a-f]{32})/:filename',
  '/:path+/-/blob/*',
  '/:path+/-/issues',
  '/:path+/-/issues/:iid',
  '/:path+/-/snippets/:id',
  '/users/sign_in',
]);

test.each([
  ['/g/p/-/issues', '/g%2Fp/-/issues'],
  ['/g/p/-/issues/', '/g%2Fp/-/issues/'],
  ['/g/p/-/issues/5?state=all', '/g%2Fp/-/issues/5?state=all'],
  ['/groups/g/h/-/issues/5', '/groups%2Fg%2Fh/-/issues/5'],
  ['//g//p/-/issues', '//g%2Fp/-/issues'],
  ['http://host/g/p/-/issues', 'http://host/g%2Fp/-/issues'],
  // A `/-/` within a file's path ends no project path.
  ['/g/p/-/blob/main/a/-/blob/b', '/g%2Fp/-/blob/main/a/-/blob/b'],
  ['/g/p/-/blob/main/uploads/x', '/g%2Fp/-/blob/main/uploads/x'],
  ['/g/p/-/blob/main/x.git/info/refs', '/g%2Fp/-/blob/main/x.git/info/refs'],
  // A snippet's page is not a repository's address.
  ['/g/p/-/snippets/1', '/g%2Fp/-/snippets/1'],
  ['/g/p/-/snippets/1.git/info/refs', '/g%2Fp%2F-%2Fsnippets%2F1.git/info/refs'],
  ['/-/snippets/1.git/info/refs', '/-%2Fsnippets%2F1.git/info/refs'],
  ['/g/p.git/info/refs?service=x', '/g%2Fp.git/info/refs?service=x'],
  [`/groups/g/-/uploads/${SECRET}/b`, `/groups%2Fg%2F-/uploads/${SECRET}/b`],
  [`/g/uploads/p/uploads/${SECRET}/b`, `/g%2Fuploads%2Fp/uploads/${SECRET}/b`],
  ['/g/uploads/p.git/info/refs', '/g%2Fuploads%2Fp.git/info/refs'],
])('%s is %s', (given, joined) => expect(join(given)).toBe(joined));

test.each([
  '/',
  '/g/p',
  '/users/sign_in',
  '/-/snippets/1',
  '/-/issues',
  '/g/p/-/issues/5/deeper',
  '/g/p/-/settings',
  // A group may be named `uploads`.
  '/g/uploads/a/b',
  '/api/v4/projects/g/-/issues',
  '/v2/g/p.git/info/refs',
  '/g/p?x=/-/issues',
])('%s stays', (address) => expect(join(address)).toBe(address));

test('the router is given one segment', () => {
  expect(routerPath('/:path+/-/issues/:iid')).toBe('/:path/-/issues/:iid');
});
