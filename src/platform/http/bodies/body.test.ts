/** Bodies over HTTP: in memory, on disk, in the thread; and refusals with their times. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { useRoutes } from '../../../../test/support/routes-server.ts';
import { type HttpRequest, json } from '../messages.ts';
import { MAX_JSON_VALUES } from '../parameters/json-meter.ts';
import { isRawObject, type RawValue, UploadedFile } from '../parameters/raw-parameters.ts';
import type { Route } from '../server/server.ts';
import { readBody } from './body.ts';

const MEBIBYTE = 1_048_576;
const LIMIT = 8 * MEBIBYTE;

/** Texts by their length, files by their size. */
const outline = (value: RawValue): unknown => {
  if (value instanceof UploadedFile) return { file: value.filename, bytes: value.bytes.length };
  if (Array.isArray(value)) return value.map(outline);
  if (isRawObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, outline(item)]));
  return typeof value === 'string' && value.length > 100 ? { letters: value.length } : value;
};

const answer = async (request: HttpRequest) => {
  const body = await readBody(request);
  return json(200, { read: outline(body), prototype: Object.getPrototypeOf(body) });
};
const held: (() => void)[] = [];
const routes: Route[] = [
  { kind: 'api', method: 'POST', path: '/small', handle: answer },
  { kind: 'api', method: 'POST', path: '/large', bodyLimit: LIMIT, handle: answer },
  { kind: 'api', method: 'GET', path: '/small', handle: answer },
  {
    kind: 'api',
    method: 'POST',
    path: '/slow',
    bodyLimit: LIMIT,
    async handle(request) {
      await readBody(request);
      await new Promise<void>((resolve) => held.push(resolve));
      return json(200, {});
    },
  },
];
const site = useRoutes(routes);

const JSON_TYPE = { 'content-type': 'application/json' };
const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' };

async function send(path: string, body: RequestInit['body'], headers: Record<string, string> = {}) {
  const response = await fetch(site.url + path, {
    method: 'POST',
    body,
    headers,
    duplex: 'half',
  } as RequestInit);
  return {
    status: response.status,
    body: (await response.json()) as { read: Record<string, unknown>; message: string },
    retryAfter: response.headers.get('retry-after'),
  };
}
const chunked = (text: string): ReadableStream => new Blob([text]).stream();
const letters = (count: number): string => 'x'.repeat(count);

describe('what was sent is read, wherever it waits', () => {
  const sizes = [10, 100_000, 300_000, 2 * MEBIBYTE];
  test.each(sizes)('a text of %s letters as JSON, a form and multipart, also in chunks', async (size) => {
    const text = letters(size);
    const read = {
      status: 200,
      body: { read: { text: size > 100 ? { letters: size } : text }, prototype: null },
    };
    const form = new FormData();
    form.append('text', text);
    expect(await send('/large', JSON.stringify({ text }), JSON_TYPE)).toMatchObject(read);
    expect(await send('/large', chunked(JSON.stringify({ text })), JSON_TYPE)).toMatchObject(read);
    expect(await send('/large', `text=${text}`, FORM_TYPE)).toMatchObject(read);
    expect(await send('/large', chunked(`text=${text}`), FORM_TYPE)).toMatchObject(read);
    expect(await send('/large', form)).toMatchObject(read);
  });

  test('a large file and a text beside it', async () => {
    const form = new FormData();
    form.append('file', new Blob([letters(3 * MEBIBYTE)]), 'a.txt');
    form.append('a[b]', 'c');
    const { body } = await send('/large', form);
    expect(body.read).toEqual({ file: { file: 'a.txt', bytes: 3 * MEBIBYTE }, a: { b: 'c' } });
  });

  test('names that objects have anyway, by way of the thread too', async () => {
    const names = { constructor: 1, toString: { hasOwnProperty: [] }, text: letters(300_000) };
    const { body } = await send('/large', JSON.stringify(names).replace('{', '{"__proto__":2,'), JSON_TYPE);
    expect(JSON.stringify(body.read)).toBe(
      '{"__proto__":2,"constructor":1,"toString":{"hasOwnProperty":[]},"text":{"letters":300000}}',
    );
  });

  test('nothing at all, without a type', async () => {
    expect(await send('/small', null)).toMatchObject({ status: 200, body: { read: {} } });
    expect((await fetch(`${site.url}/small`)).status).toBe(200);
  });
});

describe('what is refused', () => {
  const many = (count: number) => `{"a":[${Array(count).fill('0').join(',')}]}`;
  test.each<[string, string, string, Record<string, string>, number, RegExp]>([
    ['a byte too many', '/small', `{"a":"${letters(MEBIBYTE - 7)}"}`, JSON_TYPE, 413, /^413/],
    ['very many values', '/large', many(MAX_JSON_VALUES + 1), JSON_TYPE, 400, /more than 100000 names/],
    ['very many parameters', '/large', 'a&'.repeat(LIMIT / 4), FORM_TYPE, 400, /more than 1000 par/],
    ['as many in JSON', '/large', `{${'"a":1,'.repeat(1_001)}`, JSON_TYPE, 400, /more than 1000 par/],
    ['deep JSON', '/large', `${'['.repeat(LIMIT / 2)}`, JSON_TYPE, 400, /nested deeper than 100/],
    ['another type', '/small', 'a', { 'content-type': 'text/plain' }, 415, /^415/],
    ['broken JSON', '/small', '{', JSON_TYPE, 400, /malformed JSON/],
    ['broken JSON, large', '/large', `{"a":"${letters(2 * MEBIBYTE)}`, JSON_TYPE, 400, /malformed JSON/],
    ['a NUL, large', '/large', `{"a":"${letters(2 * MEBIBYTE)}\\u0000"}`, JSON_TYPE, 400, /NUL byte/],
    ['a list, large', '/large', `["${letters(2 * MEBIBYTE)}"]`, JSON_TYPE, 400, /not an object/],
    ['a NUL in a form, large', '/large', `a=${letters(2 * MEBIBYTE)}%00`, FORM_TYPE, 400, /NUL byte/],
  ])('%s', async (_, path, body, headers, status, message) => {
    expect(await send(path, body, headers)).toMatchObject({
      status,
      body: { message: expect.stringMatching(message) },
    });
    expect((await send(path, chunked(body), headers)).status).toBe(status);
  });

  test('as many values as there may be are read', async () => {
    const { status, body } = await send('/large', many(MAX_JSON_VALUES - 10), JSON_TYPE);
    expect([status, (body.read.a as unknown[]).length]).toEqual([200, MAX_JSON_VALUES - 10]);
  });

  test('very many parts, without reading them all', async () => {
    const part = '--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n\r\n';
    const body = `${part.repeat(100_000)}--b--`;
    const type = { 'content-type': 'multipart/form-data; boundary=b' };
    expect((await send('/large', body, type)).status).toBe(400);
  });
});

test('a caller with many large bodies waits and is refused; another caller is served', async () => {
  const from = (address: string) => ({ ...JSON_TYPE, 'x-forwarded-for': address });
  const body = JSON.stringify({ a: letters(100_000) });
  const statuses: number[] = [];
  const greedy = Array.from({ length: 60 }, async () => {
    const { status, retryAfter } = await send('/slow', body, from('192.0.2.1'));
    statuses.push(status);
    return { status, retryAfter };
  });
  // 16 have a slot and 32 wait; the other 12 are refused before any of them ends.
  await expect.poll(() => statuses, { timeout: 30_000 }).toEqual(Array(12).fill(429));
  expect((await send('/large', body, from('192.0.2.2'))).status).toBe(200);
  const end = setInterval(() => {
    for (const release of held.splice(0)) release();
  }, 10);
  const responses = await Promise.all(greedy);
  clearInterval(end);
  expect(responses.filter(({ status }) => status === 200)).toHaveLength(48);
  expect(responses.find(({ status }) => status === 429)?.retryAfter).toBe('5');
});

test('a client that hangs up in the middle leaves no file behind, and no place taken', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ashlar-test-'));
  vi.stubEnv('TMPDIR', folder);
  for (let round = 0; round < 70; round++) {
    const headers = { ...JSON_TYPE, 'content-length': 4 * MEBIBYTE };
    const sending = httpRequest(`${site.url}/large`, { method: 'POST', headers }).on('error', () => {});
    sending.write(Buffer.alloc(2 * MEBIBYTE, 'x'), () => sending.destroy());
  }
  const whole = () => send('/large', JSON.stringify({ text: letters(2 * MEBIBYTE) }), JSON_TYPE);
  await expect.poll(async () => (await whole()).status, { timeout: 30_000 }).toBe(200);
  await expect.poll(() => site.load.inFlight(), { timeout: 30_000 }).toBe(0);
  const again = await Promise.all(Array.from({ length: 17 }, whole));
  expect(again.map(({ status }) => status)).toEqual(Array(17).fill(200));
  expect(readdirSync(folder)).toEqual([]);
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});
