/** Pagination (spec: Limits, Pagination): choice, headers and cursors, all pure. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Failure } from '../failure.ts';
import {
  type ColumnKind,
  choosePagination,
  decodeCursor,
  encodeCursor,
  type KeysetPage,
  type KeysetRule,
  keysetLink,
  offsetHeaders,
  type PageQuery,
} from './pagination.ts';

const projects: KeysetRule = {
  type: 'Project',
  orderBy: { id: 'integer' },
  sort: ['asc', 'desc'],
  anonymous: true,
  signedIn: true,
  default: { orderBy: 'id', sort: 'desc' },
  link: 'id',
};
const groups: KeysetRule = {
  type: 'Group',
  orderBy: { name: 'text' },
  sort: ['asc'],
  anonymous: true,
  signedIn: false,
  default: { orderBy: 'name', sort: 'asc' },
  link: 'cursor',
};
const users: KeysetRule = {
  type: 'User',
  orderBy: { id: 'integer', name: 'text', created_at: 'time' },
  sort: ['asc', 'desc'],
  anonymous: true,
  signedIn: true,
  default: { orderBy: 'id', sort: 'desc' },
  link: 'cursor',
};

function failureOf(work: () => unknown): Failure {
  try {
    work();
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
  throw new Error('nothing failed');
}

describe('the choice', () => {
  test.each<[PageQuery, object]>([
    [{}, { kind: 'offset', page: 1, perPage: 20, offset: 0 }],
    [
      { page: 3, per_page: 7 },
      { kind: 'offset', page: 3, perPage: 7, offset: 14 },
    ],
    [{ per_page: 101 }, { kind: 'offset', page: 1, perPage: 100, offset: 0 }],
    [{ pagination: 'legacy' }, { kind: 'offset', page: 1, perPage: 20, offset: 0 }],
    [
      { pagination: 'keyset', order_by: 'id', page: 2 },
      { kind: 'offset', page: 2, perPage: 20, offset: 20 },
    ],
    [{ page: 1_000_000 }, { kind: 'offset', page: 1_000_000, perPage: 20, offset: 19_999_980 }],
  ])('a list without keyset pagination: %j', (query, expected) => {
    expect(choosePagination(undefined, query, true, 50_000)).toEqual(expected);
  });

  test.each<[string, KeysetRule, PageQuery, boolean, Partial<KeysetPage>]>([
    ['order and sort given', projects, { order_by: 'id', sort: 'asc' }, true, { orderBy: 'id', sort: 'asc' }],
    ['order and sort missing', projects, {}, true, { orderBy: 'id', sort: 'desc', perPage: 20 }],
    ['order missing', projects, { sort: 'asc', per_page: 500 }, false, { sort: 'asc', perPage: 100 }],
    ['sort missing', users, { order_by: 'name' }, true, { orderBy: 'name', sort: 'desc' }],
    ['groups, anonymous', groups, {}, false, { orderBy: 'name', sort: 'asc' }],
    ['start, upwards', projects, { sort: 'asc', id_after: 7, id_before: 9 }, true, { after: { id: 7 } }],
    ['start, downwards', projects, { sort: 'desc', id_after: 7, id_before: 9 }, true, { after: { id: 9 } }],
    ['no start', users, { id_after: 7 }, true, { after: undefined }],
    ['a cursor', users, { cursor: encodeCursor({ id: 7 }) }, true, { after: { id: 7 } }],
    [
      'a cursor of two columns',
      users,
      { order_by: 'name', cursor: encodeCursor({ name: 'Jo', id: 7 }) },
      true,
      { after: { name: 'Jo', id: 7 } },
    ],
  ])('keyset: %s', (_, rule, query, signedIn, expected) => {
    expect(choosePagination(rule, { ...query, pagination: 'keyset' }, signedIn, 50_000)).toMatchObject({
      kind: 'keyset',
      ...expected,
    });
  });

  test.each<[string, KeysetRule, PageQuery, boolean]>([
    ['another column', projects, { order_by: 'name' }, true],
    ['a column of every object', projects, { order_by: 'constructor' }, true],
    ['another direction', groups, { sort: 'desc' }, false],
    ['groups when signed in', groups, { order_by: 'name', sort: 'asc' }, true],
    ['anonymous where one must sign in', { ...projects, anonymous: false }, {}, false],
  ])('keyset is refused with 405: %s', (_, rule, query, signedIn) => {
    const failure = failureOf(() =>
      choosePagination(rule, { ...query, pagination: 'keyset' }, signedIn, 50_000),
    );
    const text = 'Keyset pagination is not yet available for this type of request';
    expect(failure).toMatchObject({ status: 405, publicMessage: text, details: { error: text } });
    expect(failure.details.headers).toEqual({ allow: 'GET, HEAD' });
  });

  test.each<[PageQuery, number, string, number | undefined]>([
    [{ page: 501, per_page: 100 }, 50_000, 'Project', undefined],
    [{ page: 2501 }, 50_000, 'User', undefined],
    [{ page: 3, per_page: 50 }, 149, 'User', 149],
  ])('offset pages past the maximum offset are refused with 405: %j, %i', (query, maximum, type, own) => {
    const rule = { ...users, type };
    const text =
      `Offset pagination has a maximum allowed offset of ${maximum} for requests that return objects of type ` +
      `${type}. Remaining records can be retrieved using keyset pagination.`;
    const failure = failureOf(() => choosePagination(rule, query, true, own ?? 50_000));
    expect(failure).toMatchObject({ status: 405, publicMessage: text, details: { error: text } });
  });

  test.each<[PageQuery, number | undefined]>([
    [{ page: 500, per_page: 100 }, undefined],
    [{ page: 500, per_page: 5000 }, undefined],
    [{ page: 501, per_page: 100 }, 0],
  ])('offset pages up to the maximum offset are served: %j', (query, own) => {
    expect(choosePagination(users, query, true, own ?? 50_000)).toMatchObject({
      kind: 'offset',
      page: query.page,
    });
  });
});

const address = { origin: 'http://127.0.0.1:8080', path: '/api/v4/projects/a%2Fb/members', query: '' };
const url = (query: string): string => `http://127.0.0.1:8080/api/v4/projects/a%2Fb/members?${query}`;

describe('offset headers', () => {
  const middle = { address, page: 2, perPage: 20, total: 45, hasNext: true, omitTotals: false };

  test('a page in the middle has every header and relation', () => {
    expect(offsetHeaders(middle)).toEqual({
      'x-page': '2',
      'x-per-page': '20',
      'x-prev-page': '1',
      'x-next-page': '3',
      'x-total': '45',
      'x-total-pages': '3',
      link:
        `<${url('page=1&per_page=20')}>; rel="prev", <${url('page=3&per_page=20')}>; rel="next", ` +
        `<${url('page=1&per_page=20')}>; rel="first", <${url('page=3&per_page=20')}>; rel="last"`,
    });
  });

  const relations = (headers: Record<string, string>): string[] =>
    [...(headers.link ?? '').matchAll(/rel="(\w+)"/g)].map((match) => match[1] ?? '');

  test.each([
    ['first', { page: 1 }, ['next', 'first', 'last'], { 'x-prev-page': '', 'x-next-page': '2' }],
    ['last', { page: 3, hasNext: false }, ['prev', 'first', 'last'], { 'x-next-page': '', 'x-total': '45' }],
    ['beyond the last', { page: 9, hasNext: false }, ['first', 'last'], { 'x-prev-page': '' }],
    ['of an empty list', { page: 1, total: 0, hasNext: false }, ['first', 'last'], { 'x-total-pages': '1' }],
    ['full and last', { total: 40, hasNext: false }, ['prev', 'first', 'last'], { 'x-total-pages': '2' }],
  ])('the page %s', (_, changes, expected, headers) => {
    const actual = offsetHeaders({ ...middle, ...changes });
    expect(relations(actual)).toEqual(expected);
    expect(actual).toMatchObject(headers);
  });

  test('past the count limit there are no totals and no last page', () => {
    const headers = offsetHeaders({ ...middle, total: undefined });
    expect(Object.keys(headers)).toEqual(['x-page', 'x-per-page', 'x-prev-page', 'x-next-page', 'link']);
    expect(relations(headers)).toEqual(['prev', 'next', 'first']);
  });

  test('the hosted offering omits the total headers', () => {
    const headers = offsetHeaders({ ...middle, omitTotals: true });
    expect(headers).not.toHaveProperty('x-total');
    expect(headers).not.toHaveProperty('x-total-pages');
    expect(relations(headers)).toEqual(['prev', 'next', 'first', 'last']);
  });

  test.each([
    ['page=1&search=x', 'page=2&search=x&per_page=20'],
    ['search=a%20b+c&per_page=500', 'search=a%20b+c&per_page=20&page=2'],
    ['ids[]=1&ids[]=2&a=&b', 'ids[]=1&ids[]=2&a=&b&page=2&per_page=20'],
    ['p%61ge=1&page=7&PAGE=3', 'page=2&PAGE=3&per_page=20'],
    ['&&x=1&', 'x=1&page=2&per_page=20'],
    ['a="<>\\&b=\u00e9', 'a=%22%3C%3E%5C&b=%E9&page=2&per_page=20'],
  ])('the request %s keeps its parameters: %s', (query, expected) => {
    const headers = offsetHeaders({ ...middle, address: { ...address, query }, page: 1 });
    expect(headers.link).toContain(`<${url(expected)}>; rel="next"`);
  });
});

describe('keyset link', () => {
  const page = { kind: 'keyset', orderBy: 'id', sort: 'desc', perPage: 20, after: undefined } as const;
  const requested = { ...address, query: 'search=x&pagination=keyset' };

  test.each([
    ['asc', 'id_after'],
    ['desc', 'id_before'],
  ] as const)('by id, %s, goes on at %s', (sort, parameter) => {
    const expected = `search=x&pagination=keyset&per_page=20&order_by=id&sort=${sort}&${parameter}=42`;
    expect(keysetLink(requested, projects, { ...page, sort }, { id: 42 })).toBe(
      `<${url(expected)}>; rel="next"`,
    );
  });

  test('by cursor leads back to the row the page ended with', () => {
    const byName = { ...page, orderBy: 'name', sort: 'asc' } as const;
    const start = { ...requested, query: 'cursor=old&order_by=name&sort=asc&pagination=keyset' };
    const header = keysetLink(start, users, byName, { name: 'Zo\u00eb & co', id: 7, email: 'hush' });
    const query = new URL(/<(.*)>/.exec(header ?? '')?.[1] ?? '').searchParams;
    expect(choosePagination(users, Object.fromEntries(query), true, 50_000)).toMatchObject({
      kind: 'keyset',
      orderBy: 'name',
      sort: 'asc',
      after: { name: 'Zo\u00eb & co', id: 7 },
    });
    expect(query.getAll('cursor')).toHaveLength(1);
  });

  test('an empty page has none', () => {
    expect(keysetLink(requested, projects, page, undefined)).toBeUndefined();
  });
});

describe('cursors', () => {
  const columns = { value: 'text', id: 'integer' } as const;

  test('are base64url JSON with _kd', () => {
    const text = encodeCursor({ name: 'x', id: 1 });
    expect(JSON.parse(Buffer.from(text, 'base64url').toString())).toEqual({ name: 'x', id: 1, _kd: 'n' });
  });

  test('come back as they went, for any values', () => {
    const text = fc.string({ unit: 'grapheme' }).filter((each) => !each.includes('\0'));
    const values = fc.record({ value: fc.option(text), id: fc.maxSafeInteger() });
    fc.assert(
      fc.property(values, (each) => {
        expect(decodeCursor(encodeCursor(each), columns)).toEqual(each);
      }),
    );
  });

  test('of any other text are 400, never another failure', () => {
    const json = fc.json().map((each) => Buffer.from(each).toString('base64url'));
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String(), json), (text) => {
        expect(failureOf(() => decodeCursor(text, columns)).status).toBe(400);
      }),
    );
  });

  const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

  test.each<[string, string, ColumnKind]>([
    ['empty', '', 'text'],
    ['not base64url', `${encoded({ _kd: 'n', value: 'x', id: 1 })}!`, 'text'],
    ['not JSON', Buffer.from('{').toString('base64url'), 'text'],
    ['not UTF-8', Buffer.from('7b22fe227d', 'hex').toString('base64url'), 'text'],
    ['an array', encoded(['x', 1]), 'text'],
    ['without direction', encoded({ value: 'x', id: 1 }), 'text'],
    ['backwards', encoded({ _kd: 'p', value: 'x', id: 1 }), 'text'],
    ['without id', encoded({ _kd: 'n', value: 'x' }), 'text'],
    ['with a null id', encoded({ _kd: 'n', value: 'x', id: null }), 'text'],
    ['with a fraction', encoded({ _kd: 'n', value: 'x', id: 1.5 }), 'text'],
    ['with an id past 2^53', encoded({ _kd: 'n', value: 'x', id: 2 ** 53 }), 'text'],
    ['with one column more', encoded({ _kd: 'n', value: 'x', id: 1, more: 1 }), 'text'],
    ['with an object', encoded({ _kd: 'n', value: {}, id: 1 }), 'text'],
    ['with a NUL byte', encoded({ _kd: 'n', value: 'a\0', id: 1 }), 'text'],
    ['with a number for a text', encoded({ _kd: 'n', value: 1, id: 1 }), 'text'],
    ['with a text for a time', encoded({ _kd: 'n', value: 'yesterday', id: 1 }), 'time'],
    ['with a time that is none', encoded({ _kd: 'n', value: '2026-13-01T00:00:00Z', id: 1 }), 'time'],
    ['of another order', encoded({ _kd: 'n', name: 'x', id: 1 }), 'text'],
  ])('%s: 400', (_, text, kind) => {
    const failure = failureOf(() => decodeCursor(text, { value: kind, id: 'integer' }));
    expect(failure).toMatchObject({ status: 400, publicMessage: { cursor: ['is invalid'] } });
  });

  test('hold times as precise as the column', () => {
    const values = { value: '2026-01-02T03:04:05.123456Z', id: 1 };
    expect(decodeCursor(encodeCursor(values), { value: 'time', id: 'integer' })).toEqual(values);
  });
});
