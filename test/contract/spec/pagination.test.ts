/** Every statement of the spec's "Pagination", over HTTP, on the lists that exist. */
import { beforeAll, describe, expect, it } from 'vitest';
import { type Call, type Called, useApp } from '../../support/app.ts';
import { bodyOf, type MadeUser, makeGroup, makeProject, makeUser } from '../../support/factories.ts';

const ashlar = useApp();
let user: MadeUser;
let group: { id: number };
let project: { id: number };

/** Seven public groups and projects, more users, and an audit event for each. */
beforeAll(async () => {
  user = await makeUser(ashlar, { admin: true });
  const names = ['delta', 'alpha', 'echo', 'bravo', 'golf', 'charlie', 'foxtrot'];
  for (const name of names) {
    group = await makeGroup(ashlar, { name, path: name, visibility: 'public' });
    project = await makeProject(ashlar, { name, path: name, visibility: 'public' });
    await makeUser(ashlar, { name: `${name} person` });
  }
  for (const word of names) {
    bodyOf(await ashlar.root(`PUT /projects/${project.id}`, { body: { description: word } }), 200);
    bodyOf(await ashlar.root(`PUT /groups/${group.id}`, { body: { description: word } }), 200);
  }
});

/** The addresses of the Link header by relation. */
const links = ({ headers }: Called): Record<string, string> =>
  Object.fromEntries(
    [...(headers.get('link') ?? '').matchAll(/<([^>]*)>; rel="(\w+)"/g)].map(([, url = '', name = '']) => [
      name,
      url,
    ]),
  );
const pageHeader = ({ headers }: Called, name: string) => headers.get(`x-${name}`);
const offsetNames = ['next-page', 'page', 'per-page', 'prev-page', 'total', 'total-pages'];
const idsOf = (called: Called): number[] => bodyOf(called, 200).map((item: { id: number }) => item.id);

const as = (who: 'signed in' | 'anonymous'): Call =>
  who === 'signed in' ? ashlar.as(user.token) : ashlar.call;

/** Walks a keyset list by its links as given: every response, the empty one at the end included. */
async function walk(call: Call, path: string, query: string): Promise<Called[]> {
  const responses = [await call(`GET ${path}`, { query })];
  for (let page = 0; page < 50; page++) {
    const last = responses.at(-1);
    const next = last && links(last).next;
    if (next === undefined) return responses;
    expect(next.startsWith(`${ashlar.url}/api/v4${path}?`)).toBe(true);
    responses.push(await call(`GET ${next.slice(ashlar.url.length)}`, { raw: true }));
  }
  throw new Error('the list does not end');
}

describe('Pagination', () => {
  describe('Offset', () => {
    it('is the default: a list without parameters is an offset page', async () => {
      for (const path of [
        '/users',
        '/groups',
        '/projects',
        '/audit_events',
        `/projects/${project.id}/members`,
      ]) {
        const response = await ashlar.root(`GET ${path}`);
        expect([path, pageHeader(response, 'page'), pageHeader(response, 'per-page')]).toEqual([
          path,
          '1',
          '20',
        ]);
      }
    });

    it('is for users up to 50,000 records only: beyond, they are listed by keyset', async () => {
      const beyond = await ashlar.root('GET /users', { query: 'page=2501' });
      expect([beyond.status, beyond.body.message]).toEqual([
        405,
        expect.stringContaining('keyset pagination'),
      ]);
    });

    it('every response carries a link header with the relations prev, next, first, last', async () => {
      const query = 'search=person&order_by=id&per_page=2';
      const relations = async (page: number) =>
        Object.keys(links(await ashlar.root('GET /users', { query: `${query}&page=${page}` })));
      expect(await relations(1)).toEqual(['next', 'first', 'last']);
      expect(await relations(2)).toEqual(['prev', 'next', 'first', 'last']);
      expect(await relations(4)).toEqual(['prev', 'first', 'last']);
    });

    it('clients use these links: each leads where it says, with the parameters of the request', async () => {
      const query = 'search=person&order_by=id&sort=asc&per_page=2&page=2';
      const found = links(await ashlar.root('GET /users', { query }));
      const at = async (url = '') => {
        const response = await ashlar.root(`GET ${url.slice(ashlar.url.length)}`, { raw: true });
        return [Number(pageHeader(response, 'page')), idsOf(response).length];
      };
      expect([await at(found.prev), await at(found.next)]).toEqual([
        [1, 2],
        [3, 2],
      ]);
      expect([await at(found.first), await at(found.last)]).toEqual([
        [1, 2],
        [4, 1],
      ]);
    });

    describe('other headers', () => {
      it.each([
        ['x-next-page: index of the next page', 'next-page', ['2', '3', '']],
        ['x-page: index of the current page, starting at 1', 'page', ['1', '2', '4']],
        ['x-per-page: items per page', 'per-page', ['2', '2', '2']],
        ['x-prev-page: index of the previous page', 'prev-page', ['', '1', '3']],
        ['x-total: total items', 'total', ['7', '7', '7']],
        ['x-total-pages: total pages', 'total-pages', ['4', '4', '4']],
      ])('%s', async (_statement, name, expected) => {
        const values: (string | null)[] = [];
        for (const page of [1, 2, 4]) {
          const response = await ashlar.root('GET /users', {
            query: `search=person&per_page=2&page=${page}`,
          });
          values.push(pageHeader(response, name));
        }
        expect(values).toEqual(expected);
      });
    });
  });

  describe('Keyset parameters', () => {
    it('pagination: keyset, required', async () => {
      const without = await ashlar.root('GET /projects', { query: 'order_by=id&sort=asc' });
      expect(pageHeader(without, 'page')).toBe('1');
      const response = await ashlar.root('GET /projects', {
        query: 'pagination=keyset&order_by=id&sort=asc',
      });
      expect(pageHeader(response, 'page')).toBeNull();
    });

    it('per_page: default 20, max 100 (counted in limits.test.ts)', async () => {
      const query = 'pagination=keyset&order_by=id&sort=asc&per_page=1000';
      expect(links(await ashlar.root('GET /projects', { query })).next).toContain('per_page=100&');
      const unsaid = await ashlar.root('GET /projects', { query: 'pagination=keyset&order_by=id&sort=asc' });
      expect(links(unsaid).next).toContain('per_page=20');
    });

    it('order_by: the column to order by; where it is missing the first of the list is taken', async () => {
      const named = await ashlar.root('GET /users', {
        query: 'pagination=keyset&order_by=username&sort=asc',
      });
      const usernames = bodyOf(named, 200).map((each: MadeUser) => each.username);
      expect(usernames).toEqual(usernames.toSorted());
      const missing = await ashlar.root('GET /projects', { query: 'pagination=keyset&sort=asc' });
      expect(idsOf(missing)).toEqual(idsOf(missing).toSorted((left, right) => left - right));
      const anonymous = await ashlar.call('GET /groups', { query: 'pagination=keyset&sort=asc' });
      expect(bodyOf(anonymous, 200)[0].name).toBe('alpha');
    });

    it('sort: asc or desc; where it is missing desc is taken, or the one there is', async () => {
      const ids = async (sort: string) =>
        idsOf(await ashlar.root('GET /projects', { query: `pagination=keyset&order_by=id${sort}` }));
      expect(await ids('&sort=desc')).toEqual((await ids('&sort=asc')).toReversed());
      expect(await ids('')).toEqual(await ids('&sort=desc'));
      const groups = await ashlar.call('GET /groups', { query: 'pagination=keyset&order_by=name' });
      expect(bodyOf(groups, 200)[0].name).toBe('alpha');
      const wrong = await ashlar.root('GET /projects', { query: 'pagination=keyset&order_by=id&sort=up' });
      expect([wrong.status, wrong.body.message]).toEqual([400, { sort: ['does not have a valid value'] }]);
    });
  });

  describe('The Link header (singular)', () => {
    it.each([
      ['/projects', 'order_by=id&sort=asc', /[?&]id_after=\d+(&|$)/],
      ['/projects', 'order_by=id&sort=desc', /[?&]id_before=\d+(&|$)/],
      ['/users', 'order_by=name&sort=asc', /[?&]cursor=[\w-]+(&|$)/],
    ])('holds the next-page link of %s by %s, carrying an added filter', async (path, order, filter) => {
      const response = await ashlar.root(`GET ${path}`, { query: `pagination=keyset&${order}&per_page=2` });
      expect(Object.keys(links(response))).toEqual(['next']);
      expect(links(response).next).toMatch(filter);
    });

    it('when the end is reached the header is absent and the result array is empty', async () => {
      const pages = await walk(ashlar.root, '/projects', 'pagination=keyset&order_by=id&sort=asc&per_page=7');
      expect(pages.map((page) => [idsOf(page).length, page.headers.has('link')])).toEqual([
        [7, true],
        [0, false],
      ]);
    });

    it('no other pagination headers are exposed', async () => {
      const response = await ashlar.root('GET /projects', {
        query: 'pagination=keyset&order_by=id&sort=asc',
      });
      expect(offsetNames.map((name) => pageHeader(response, name))).toEqual(offsetNames.map(() => null));
    });
  });

  describe('Supported keyset resources', () => {
    const everybody = ['signed in', 'anonymous'] as const;
    const signedIn = ['signed in'] as const;
    const bothWays = (columns: string[]) => columns.flatMap((by) => [`${by} asc`, `${by} desc`]);
    const all = bothWays(['id', 'name', 'path', 'username', 'created_at', 'updated_at']);
    const audit = { orders: ['id desc'], refused: ['id asc', 'created_at desc'], who: signedIn };

    const rows: {
      resource: string;
      path: () => string;
      orders: string[];
      refused: string[];
      who: readonly (typeof everybody)[number][];
    }[] = [
      {
        resource: 'Group audit events: order_by=id, sort=desc only',
        path: () => `/groups/${group.id}/audit_events`,
        ...audit,
      },
      {
        resource: 'Groups: order_by=name, sort=asc only',
        path: () => '/groups',
        orders: ['name asc'],
        refused: ['name desc', 'id asc', 'path asc'],
        who: ['anonymous'],
      },
      {
        resource: 'Instance audit events: order_by=id, sort=desc only',
        path: () => '/audit_events',
        ...audit,
      },
      {
        resource: 'Project audit events: order_by=id, sort=desc only',
        path: () => `/projects/${project.id}/audit_events`,
        ...audit,
      },
      {
        resource: 'Projects: order_by=id only',
        path: () => '/projects',
        orders: bothWays(['id']),
        refused: ['name asc', 'created_at desc'],
        who: everybody,
      },
      {
        resource: 'Users: order_by one of id, name, username, created_at, updated_at',
        path: () => '/users',
        orders: all.filter((order) => !order.startsWith('path')),
        refused: [],
        who: everybody,
      },
    ];
    const queryOf = (order: string): string => {
      const [by, sort] = order.split(' ');
      return `pagination=keyset&order_by=${by}&sort=${sort}`;
    };

    const titled = rows.map((row) => [row.resource, row] as const);
    it.each(titled)('%s', async (_resource, { path, orders, refused, who }) => {
      for (const order of orders) {
        for (const caller of who) {
          const whole = await as(caller)(`GET ${path()}`, { query: `${queryOf(order)}&per_page=100` });
          const pages = await walk(as(caller), path(), `${queryOf(order)}&per_page=3`);
          const walked = pages.flatMap(idsOf);
          expect(walked.length).toBeGreaterThan(3);
          expect([order, walked]).toEqual([order, idsOf(whole)]);
          expect(new Set(walked).size).toBe(walked.length);
          const [by = '', sort] = order.split(' ');
          if (by !== 'id') continue;
          const up = walked.toSorted((left, right) => left - right);
          expect(walked).toEqual(sort === 'asc' ? up : up.toReversed());
        }
      }
      for (const order of refused) {
        const response = await as(who[0] ?? 'signed in')(`GET ${path()}`, { query: queryOf(order) });
        expect([order, response.status]).toEqual([order, 405]);
      }
    });

    it('Group, instance and project audit events: authenticated', async () => {
      for (const path of [
        '/audit_events',
        `/groups/${group.id}/audit_events`,
        `/projects/${project.id}/audit_events`,
      ]) {
        const response = await ashlar.call(`GET ${path}`, { query: queryOf('id desc') });
        expect([path, response.status]).toEqual([path, 401]);
      }
    });

    it('Groups: unauthenticated only', async () => {
      const response = await as('signed in')('GET /groups', { query: queryOf('name asc') });
      const message = 'Keyset pagination is not yet available for this type of request';
      expect([response.status, response.body]).toEqual([405, { message, error: message }]);
    });

    it('any other list: pages by offset', async () => {
      for (const path of [
        `/projects/${project.id}/members`,
        `/groups/${group.id}/subgroups`,
        `/users/${user.id}/projects`,
      ]) {
        const response = await ashlar.root(`GET ${path}`, { query: queryOf('id asc') });
        expect([path, response.status, pageHeader(response, 'page')]).toEqual([path, 200, '1']);
      }
    });
  });
});

// Without a test, because the resources are not there yet: package pipelines, project jobs, registry repository tags and
// the repository tree.
