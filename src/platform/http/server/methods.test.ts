/** Methods that a path refuses although a path with parameters has them. */
import { expect, test } from 'vitest';
import { overshadowed, pathFinder } from './methods.ts';

const paths = (given: Record<string, string>) =>
  new Map(Object.entries(given).map(([path, methods]) => [path, new Set(methods.split(' '))]));

test.each([
  ['alone', { '/users': 'GET' }, {}],
  [
    'beside a parameter',
    { '/users/export': 'GET', '/users/:id': 'GET DELETE' },
    { '/users/export': ['DELETE'] },
  ],
  ['with all of the methods', { '/users/export': 'GET DELETE', '/users/:id': 'GET DELETE' }, {}],
  ['longer', { '/users/export/now': 'GET', '/users/:id': 'DELETE' }, {}],
  ['another beginning', { '/groups/export': 'GET', '/users/:id': 'DELETE' }, {}],
  ['within a segment', { '/a/x.zip': 'GET', '/a/x.:format': 'PUT' }, { '/a/x.zip': ['PUT'] }],
  ['under a wildcard', { '/a/b/c': 'GET', '/a/*': 'POST' }, { '/a/b/c': ['POST'] }],
  ['above a wildcard', { '/a': 'GET', '/a/*': 'POST' }, {}],
  ['parameters both', { '/a/:id/b': 'GET', '/:any/:id/b': 'POST' }, { '/a/:id/b': ['POST'] }],
  [
    'by two',
    { '/a/b': 'GET', '/:x/b': 'POST', '/a/:y': 'POST PUT' },
    { '/a/b': ['POST', 'PUT'], '/:x/b': [], '/a/:y': [] },
  ],
])('a path %s', (_, given, expected) => {
  const some = Object.entries(expected).filter(([, methods]) => methods.length > 0);
  expect([...overshadowed(paths(given))].sort()).toEqual(some.sort());
});

test('an address is found by its path, once one is asked for', () => {
  let built = 0;
  const find = pathFinder(() => {
    built += 1;
    return ['/users/:id', '/users/export', '/files/:name(\\d+)', '/:path+.git/info'];
  });
  expect(built).toBe(0);
  expect(
    ['/users/7?x=1', '//users/export/', '/files/12', '/files/a', '/a%2Fb.git/info', '/groups'].map(find),
  ).toEqual(['/users/:id', '/users/export', '/files/:name(\\d+)', undefined, '/:path+.git/info', undefined]);
  expect(built).toBe(1);
});
