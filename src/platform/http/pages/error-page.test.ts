/** Responses to browsers and to programs for missing pages and for failures. */
import { expect, test } from 'vitest';
import { useRoutes } from '../../../../test/support/routes-server.ts';
import { Failure, notFound } from '../../failure.ts';
import type { Route } from '../server/server.ts';

const throwing = (kind: Route['kind'], path: string, thrown: Error): Route => ({
  kind,
  method: 'GET',
  path,
  handle: () => Promise.reject(thrown),
});
const site = useRoutes([
  throwing('page', '/broken', new Error('the secret reason')),
  throwing('page', '/gone', notFound()),
  throwing('page', '/busy', new Failure('unavailable', '<later>', { headers: { 'retry-after': '9' } })),
  throwing('api', '/api/v4/broken', new Error('the secret reason')),
]);

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const ask = async (path: string, accept: string, method = 'GET') => {
  const response = await fetch(`${site.url}${path}`, { method, headers: { accept } });
  return { answer: response, type: response.headers.get('content-type'), text: await response.text() };
};

test.each([
  ['/nowhere', 404, 'Page not found'],
  ['/gone', 404, 'Page not found'],
  ['/busy', 503, 'That did not work'],
  ['/broken', 500, 'Something went wrong'],
  ['/apiary', 404, 'Page not found'],
])('a browser gets a page at %s', async (path, status, title) => {
  const { answer: response, type, text } = await ask(path, BROWSER);
  expect([response.status, type]).toEqual([status, 'text/html; charset=utf-8']);
  expect(text).toContain(`<h1>${title}</h1>`);
  expect(text).toContain('<link rel="stylesheet" href="/-/style.css">');
  expect(response.headers.get('vary')).toContain('Accept');
  expect(response.headers.get('x-frame-options')).toBe('SAMEORIGIN');
  const head = await ask(path, BROWSER, 'HEAD');
  expect([head.answer.status, head.text]).toEqual([status, '']);
});

test('the page of a fault names the request and nothing of the reason, and the fault is logged', async () => {
  const { answer: response, text } = await ask('/broken', BROWSER);
  expect(text).toContain(response.headers.get('x-request-id'));
  expect(text).not.toContain('secret reason');
  expect(site.log.join('')).toContain('the secret reason');
});

test('a failure’s text is escaped, and its headers are kept', async () => {
  const { answer: response, text } = await ask('/busy', BROWSER);
  expect(text).toContain('&lt;later&gt;');
  expect(response.headers.get('retry-after')).toBe('9');
});

test.each([
  ['/nowhere', '*/*', 404],
  ['/nowhere', 'application/json', 404],
  ['/broken', '*/*', 500],
  ['/api/v4/nowhere', BROWSER, 404],
  ['//api/v4/nowhere', BROWSER, 404],
  ['/api/v4/broken', BROWSER, 500],
  ['/api', BROWSER, 404],
])('%s for %s stays JSON', async (path, accept, status) => {
  const { answer: response, type, text } = await ask(path, accept);
  expect([response.status, type]).toEqual([status, 'application/json']);
  expect(JSON.parse(text)).toHaveProperty('message');
});
