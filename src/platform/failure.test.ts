/** The closed list of failures and docs/errors.md say the same, both ways. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  badRequest,
  conflict,
  Failure,
  type FailureKind,
  failureStatus,
  forbidden,
  invalid,
  notFound,
  unauthenticated,
} from './failure.ts';
import { renderFailure } from './http/messages.ts';

/** One of each kind, as the program makes them. */
const samples: Record<FailureKind, Failure> = {
  bad_request: invalid({
    name: ['is too long (maximum is 255 characters)'],
    strategies: { parameters: ['are invalid'] },
  }),
  unauthenticated: unauthenticated({
    error: 'invalid_token',
    errorDescription: 'Token is expired. You can either do re-authorization or token refresh.',
  }),
  forbidden: new Failure('forbidden', '403 Forbidden', {
    error: 'insufficient_scope',
    errorDescription: 'The request requires higher privileges than provided by the access token.',
    scope: 'api read_api',
  }),
  not_found: notFound('Project'),
  method_not_allowed: new Failure('method_not_allowed', '405 Method Not Allowed', {
    error: '405 Not Allowed',
  }),
  not_acceptable: new Failure('not_acceptable', "Can't cancel the automatic merge", {
    fields: { status: 'error', http_status: 406 },
  }),
  request_timeout: new Failure('request_timeout', 'Request timed out'),
  conflict: new Failure('conflict', { path: ['has already been taken'] }),
  gone: new Failure('gone', '410 Gone', { error: 'API V3 is no longer supported. Use API V4 instead.' }),
  precondition_failed: new Failure('precondition_failed', '412 Precondition Failed'),
  payload_too_large: new Failure('payload_too_large', '413 Request Entity Too Large'),
  uri_too_long: new Failure('uri_too_long', '414 Request-URI Too Large'),
  unsupported_media_type: new Failure('unsupported_media_type', '415 Unsupported Media Type'),
  unprocessable: new Failure('unprocessable', '422 Unprocessable Entity'),
  locked: new Failure('locked', '423 Locked - by 5f3c'),
  too_many_requests: new Failure('too_many_requests', {
    error: 'This endpoint has been requested too many times. Try again later.',
  } as never),
  not_implemented: new Failure('not_implemented', '501 Not Implemented'),
  unavailable: new Failure('unavailable', '503 Service Unavailable'),
};

type Entry = { kind: string; status: number; body: unknown };

function readCatalogue(): Entry[] {
  const text = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8');
  const pattern = /^## (\w+): (\d+)$[\s\S]*?^```json$([\s\S]*?)^```$/gm;
  return [...text.matchAll(pattern)].map(([, kind = '', status, body = '']) => ({
    kind,
    status: Number(status),
    body: JSON.parse(body),
  }));
}

test('docs/errors.md lists every kind with its status, in order, and no other', () => {
  const documented = readCatalogue().map(({ kind, status }) => [kind, status]);
  expect(documented).toEqual(Object.entries(failureStatus));
});

test.each(Object.entries(samples))('the example of %s is what a client reads', (kind, failure) => {
  const entry = readCatalogue().find((each) => each.kind === kind);
  const response = renderFailure(failure);
  expect(response.status).toBe(entry?.status);
  expect(JSON.parse(String(response.body))).toEqual(entry?.body);
});

test.each([
  [badRequest('"name" not given'), '400 Bad request - "name" not given'],
  [forbidden(), '403 Forbidden'],
  [forbidden('Your account has been blocked.'), '403 Forbidden - Your account has been blocked.'],
  [notFound(), '404 Not found'],
  [unauthenticated(), '401 Unauthorized'],
  [conflict(), '409 Conflict'],
  [conflict('Member already exists'), 'Member already exists'],
])('%s', (failure, message) => {
  expect(failure.publicMessage).toBe(message);
  expect(failure.message).toBe(message);
});

test('what went wrong inside is kept, and never sent', () => {
  const failure = new Failure('unavailable', 'later', { cause: new Error('disk of host 7 is full') });
  expect(failure.cause).toBeInstanceOf(Error);
  expect(renderFailure(failure).body).toBe('{"message":"later"}');
});
