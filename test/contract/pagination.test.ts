/** Every list, paged by offset as the spec's "Pagination" says, with all its headers. */
import { beforeAll, describe, expect, test } from 'vitest';
import type { Endpoint } from '../../src/kernel/api/endpoint.ts';
import { useApp } from '../support/app.ts';
import { addressOf, type SampleIds, titleOf } from '../support/inventory.ts';
import { filledLists, linksOf, lists, walk } from '../support/pages.ts';
import { makeWorld, queryInWorld } from '../support/world.ts';

const COUNT = 21;

describe('offset pages', () => {
  const ashlar = useApp();
  let places: SampleIds;
  beforeAll(async () => {
    places = await makeWorld(ashlar, COUNT);
  });
  const pathOf = (spec: Endpoint): string => addressOf(spec.path, places);

  test.each([
    ['per_page=0', { per_page: ['does not have a valid value'] }],
    ['per_page=-1', { per_page: ['does not have a valid value'] }],
    ['per_page=many', { per_page: ['is invalid'] }],
    ['page=0', { page: ['does not have a valid value'] }],
    ['page=1.5', { page: ['is invalid'] }],
  ])('%s is refused by every list', async (query, message) => {
    for (const spec of lists(ashlar)) {
      const requested = `${queryInWorld(titleOf(spec))}${query}`;
      const { status, body } = await ashlar.root(`GET ${pathOf(spec)}`, { query: requested });
      expect([titleOf(spec), status, body.message]).toEqual([titleOf(spec), 400, message]);
    }
  });

  test('per_page is 20 when it is not sent, and 100 at most', async () => {
    for (const spec of lists(ashlar)) {
      const path = pathOf(spec);
      const query = queryInWorld(titleOf(spec));
      const plain = await ashlar.root(`GET ${path}`, { query });
      const most = await ashlar.root(`GET ${path}`, { query: `${query}per_page=1000` });
      const shown = [plain, most].map(({ headers }) => headers.get('x-per-page'));
      expect([titleOf(spec), ...shown]).toEqual([titleOf(spec), '20', '100']);
    }
  });

  test('the headers name the page, those around it and the totals; links keep the parameters', async () => {
    for (const spec of filledLists(ashlar)) {
      const path = pathOf(spec);
      const kept = `${queryInWorld(titleOf(spec))}kept=a%20b&`;
      const total = (await ashlar.root(`GET ${path}`, { query: `${kept}per_page=100` })).body.length;
      const response = await ashlar.root(`GET ${path}`, { query: `${kept}page=2&per_page=1` });
      const headers = [...response.headers].filter(([name]) => /^x-(page|per|prev|next|total)/.test(name));
      expect([titleOf(spec), Object.fromEntries(headers)]).toEqual([
        titleOf(spec),
        {
          'x-page': '2',
          'x-per-page': '1',
          'x-prev-page': '1',
          'x-next-page': '3',
          'x-total': `${total}`,
          'x-total-pages': `${total}`,
        },
      ]);
      const to = (page: number): string => `${ashlar.url}/api/v4${path}?${kept}page=${page}&per_page=1`;
      const links = { prev: to(1), next: to(3), first: to(1), last: to(total) };
      expect([titleOf(spec), linksOf(response)]).toEqual([titleOf(spec), links]);
    }
  });

  test('walked by its links, every list shows each item once, in its order', async () => {
    for (const spec of lists(ashlar)) {
      const path = pathOf(spec);
      const query = queryInWorld(titleOf(spec));
      const whole = await walk(ashlar, ashlar.root, path, `${query}per_page=100`);
      const pages = await walk(ashlar, ashlar.root, path, `${query}per_page=7`);
      expect([titleOf(spec), pages.items]).toEqual([titleOf(spec), whole.items]);
      expect(new Set(pages.items).size, titleOf(spec)).toBe(pages.items.length);
    }
  });

  test('behind the end there is an empty page with the totals', async () => {
    for (const spec of lists(ashlar)) {
      const { status, body, headers } = await ashlar.root(`GET ${pathOf(spec)}`, {
        query: `${queryInWorld(titleOf(spec))}page=99&per_page=100`,
      });
      expect([titleOf(spec), status, body, headers.get('x-next-page')]).toEqual([titleOf(spec), 200, [], '']);
    }
  });

  test('lists without keyset pagination pass it over', async () => {
    let paged = 0;
    for (const spec of lists(ashlar).filter(({ page }) => page === 'offset')) {
      const query = queryInWorld(titleOf(spec));
      const plain = await ashlar.root(`GET ${pathOf(spec)}`, { query: `${query}per_page=1` });
      const requested = await ashlar.root(`GET ${pathOf(spec)}`, {
        query: `${query}pagination=keyset&order_by=id&per_page=1`,
      });
      // Some lists have an `order_by` of their own that does not take `id`.
      if (requested.status === 400 && requested.body.message.order_by) continue;
      expect([
        titleOf(spec),
        requested.status,
        requested.headers.get('x-page'),
        Object.keys(linksOf(requested)),
      ]).toEqual([titleOf(spec), 200, '1', Object.keys(linksOf(plain))]);
      paged++;
    }
    expect(paged).toBeGreaterThan(50);
  });
});

describe('more records than are counted', () => {
  const ashlar = useApp({ env: { ASHLAR_PAGINATION_COUNT_LIMIT: '3' } });
  let places: SampleIds;
  beforeAll(async () => {
    places = await makeWorld(ashlar, 5);
  });

  test('no totals and no last page; the rest as ever', async () => {
    for (const spec of filledLists(ashlar)) {
      const query = `${queryInWorld(titleOf(spec))}per_page=2`;
      const response = await ashlar.root(`GET ${addressOf(spec.path, places)}`, { query });
      const { headers } = response;
      const shown = [headers.get('x-total'), headers.get('x-total-pages'), headers.get('x-next-page')];
      expect([titleOf(spec), ...shown]).toEqual([titleOf(spec), null, null, '2']);
      expect([titleOf(spec), Object.keys(linksOf(response))]).toEqual([titleOf(spec), ['next', 'first']]);
    }
  });

  test('as many as are counted still have them', async () => {
    const response = await ashlar.root('GET /users', { query: 'per_page=2&username=root' });
    expect([response.headers.get('x-total'), Object.keys(linksOf(response))]).toEqual([
      '1',
      ['first', 'last'],
    ]);
  });
});

describe('the hosted offering', () => {
  const ashlar = useApp({ env: { ASHLAR_OFFERING: 'hosted' } });

  test('omits the total headers, and still links the last page', async () => {
    for (const spec of lists(ashlar).filter(
      ({ path, offering }) => !path.includes(':') && offering === undefined,
    )) {
      const query = `${queryInWorld(titleOf(spec))}per_page=1`;
      const { status, headers } = await ashlar.root(`GET ${spec.path}`, { query });
      expect([titleOf(spec), status, headers.get('x-total'), headers.get('x-total-pages')]).toEqual([
        titleOf(spec),
        200,
        null,
        null,
      ]);
      expect(headers.get('link'), titleOf(spec)).toContain('rel="last"');
      expect(headers.get('x-page'), titleOf(spec)).toBe('1');
    }
  });
});
