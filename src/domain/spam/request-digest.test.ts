import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import type { HttpRequest } from '../../platform/http/messages.ts';
import { digestRequest } from './request-digest.ts';

type Sent = Partial<Pick<HttpRequest, 'method' | 'path' | 'query' | 'headers' | 'params'>> & {
  json?: unknown;
  form?: string;
};

const request = ({ json, form, headers, ...rest }: Sent): HttpRequest => ({
  id: 'r',
  method: 'POST',
  path: '/api/v4/projects/1/issues',
  query: '',
  address: '127.0.0.1',
  origin: 'http://localhost',
  params: { id: '1' },
  bodyStream: Readable.from([Buffer.from(json === undefined ? (form ?? '') : JSON.stringify(json))]),
  bodyLimit: 1_048_576,
  atEnd: () => {},
  signal: new AbortController().signal,
  replyHeaders: {},
  ...rest,
  headers: {
    'transfer-encoding': 'chunked',
    'content-type': json === undefined ? 'application/x-www-form-urlencoded' : 'application/json',
    ...headers,
  },
});
const digestOf = async (sent: Sent, user = 1) => (await digestRequest(request(sent), user)).toString('hex');

const json = { title: 'a', confidential: false, labels: ['x', 'y'], weight: 3 };

test.each<[string, Sent]>([
  ['again', { json }],
  ['in another order', { json: { weight: 3, labels: ['x', 'y'], confidential: false, title: 'a' } }],
  ['as a form', { form: 'title=a&confidential=false&labels[]=x&labels[]=y&weight=3' }],
  ['partly in the query', { json: { labels: ['x', 'y'], weight: 3 }, query: 'title=a&confidential=false' }],
  ['with another token', { json, headers: { 'private-token': 'b' }, query: 'private_token=b' }],
  ['with the headers of a repetition', { json, headers: { 'x-service-spam-log-id': '1' } }],
])('it is the same request %s', async (_, sent) => {
  expect(await digestOf(sent)).toBe(await digestOf({ json }));
});

test.each<[string, Sent, number?]>([
  ['another title', { json: { ...json, title: 'b' } }],
  ['another truth', { json: { ...json, confidential: true } }],
  ['labels in another order', { json: { ...json, labels: ['y', 'x'] } }],
  ['another number', { json: { ...json, weight: 30 } }],
  ['one parameter more', { json: { ...json, description: '' } }],
  ['one parameter less', { json: { title: 'a', confidential: false, labels: ['x', 'y'] } }],
  ['one that is null', { json: { ...json, weight: null } }],
  ['a list where there was a text', { json: { ...json, title: ['a'] } }],
  ['more in the query', { json, query: 'issue_type=task' }],
  ['another method', { json, method: 'PUT' }],
  ['another path', { json, path: '/api/v4/projects/2/issues', params: { id: '2' } }],
  ['another user', { json }, 2],
])('it is another request with %s', async (_, sent, user) => {
  expect(await digestOf(sent, user)).not.toBe(await digestOf({ json }));
});
