/** Keyset pages: which lists have them, in which orders and for whom, and how they end (spec: Pagination). */
import { beforeAll, describe, expect, test } from 'vitest';
import type { Endpoint } from '../../src/kernel/api/endpoint.ts';
import type { KeysetRule } from '../../src/platform/pagination/pagination.ts';
import { useApp } from '../support/app.ts';
import { addressOf, type SampleIds, titleOf } from '../support/inventory.ts';
import { linksOf, lists, noKeyset, walk } from '../support/pages.ts';
import { makeWorld } from '../support/world.ts';

const COUNT = 21;

/** Spec: Pagination, "Supported keyset resources"; the defaults of a missing `order_by` and `sort` are ours, and stay. */
const keysetLists: Record<
  string,
  { orders: string[]; sorts: string[]; anonymous: boolean; signedIn: boolean; otherwise: string }
> = {
  'GET /users': {
    ...{ orders: ['id', 'name', 'username', 'created_at', 'updated_at'], sorts: ['asc', 'desc'] },
    ...{ anonymous: true, signedIn: true, otherwise: 'order_by=id&sort=desc' },
  },
  'GET /projects/:id/jobs': {
    ...{ orders: ['id'], sorts: ['desc'], anonymous: false, signedIn: true },
    otherwise: 'order_by=id&sort=desc',
  },
  'GET /projects/:id/packages/:package_id/pipelines': {
    ...{ orders: ['id'], sorts: ['desc'], anonymous: false, signedIn: true },
    otherwise: 'order_by=id&sort=desc',
  },
  'GET /projects/:id/registry/repositories/:repository_id/tags': {
    orders: ['name'],
    sorts: ['asc', 'desc'],
    anonymous: false,
    signedIn: true,
    otherwise: 'order_by=name&sort=asc',
  },
  'GET /projects': {
    orders: ['id'],
    sorts: ['asc', 'desc'],
    anonymous: true,
    signedIn: true,
    otherwise: 'order_by=id&sort=desc',
  },
  'GET /groups': {
    orders: ['name'],
    sorts: ['asc'],
    anonymous: true,
    signedIn: false,
    otherwise: 'order_by=name&sort=asc',
  },
  'GET /audit_events': {
    orders: ['id'],
    sorts: ['desc'],
    anonymous: false,
    signedIn: true,
    otherwise: 'order_by=id&sort=desc',
  },
  'GET /groups/:id/audit_events': {
    orders: ['id'],
    sorts: ['desc'],
    anonymous: false,
    signedIn: true,
    otherwise: 'order_by=id&sort=desc',
  },
  'GET /projects/:id/audit_events': {
    orders: ['id'],
    sorts: ['desc'],
    anonymous: false,
    signedIn: true,
    otherwise: 'order_by=id&sort=desc',
  },
  'GET /projects/:id/issues': {
    orders: ['created_at', 'updated_at', 'title', 'id', 'weight', 'due_date', 'relative_position'],
    sorts: ['asc', 'desc'],
    anonymous: true,
    signedIn: true,
    otherwise: 'order_by=created_at&sort=desc',
  },
  // Beyond the spec.
  'GET /projects/:id/alert_management_alerts': {
    orders: ['id', 'iid'],
    sorts: ['asc', 'desc'],
    anonymous: false,
    signedIn: true,
    otherwise: 'order_by=id&sort=desc',
  },
  'GET /projects/:id/error_tracking/errors': {
    orders: ['last_seen', 'first_seen', 'frequency'],
    sorts: ['asc', 'desc'],
    anonymous: false,
    signedIn: true,
    otherwise: 'order_by=last_seen&sort=desc',
  },
  'GET /projects/:id/error_tracking/errors/:error_id/events': {
    orders: ['id'],
    sorts: ['asc', 'desc'],
    anonymous: false,
    signedIn: true,
    otherwise: 'order_by=id&sort=desc',
  },
};

describe('keyset pages', () => {
  const ashlar = useApp();
  let places: SampleIds;
  beforeAll(async () => {
    places = await makeWorld(ashlar, COUNT);
  });

  type List = { spec: Endpoint; rule: KeysetRule; path: string };
  const withKeyset = (): List[] =>
    lists(ashlar).flatMap((spec) =>
      typeof spec.page === 'object' ? [{ spec, rule: spec.page, path: addressOf(spec.path, places) }] : [],
    );

  test('are offered by the lists of the spec, with its options', () => {
    const offered = withKeyset().map(({ spec, rule }) => [
      titleOf(spec),
      {
        orders: Object.keys(rule.orderBy),
        sorts: [...rule.sort].sort(),
        anonymous: rule.anonymous,
        signedIn: rule.signedIn,
        otherwise: `order_by=${rule.default.orderBy}&sort=${rule.default.sort}`,
      },
    ]);
    expect(Object.fromEntries(offered)).toEqual(keysetLists);
  });

  test('show each item once; the page behind the last is empty, without a link', async () => {
    for (const { spec, rule, path } of withKeyset()) {
      const callers = [...(rule.anonymous ? [ashlar.call] : []), ...(rule.signedIn ? [ashlar.root] : [])];
      for (const call of callers) {
        const total = Number((await call(`GET ${path}`)).headers.get('x-total'));
        for (const [orderBy, sort] of Object.keys(rule.orderBy).flatMap((by) =>
          rule.sort.map((sort) => [by, sort]),
        )) {
          const query = `pagination=keyset&order_by=${orderBy}&sort=${sort}&per_page=7`;
          const { items, last } = await walk(ashlar, call, path, query);
          const where = `${titleOf(spec)} ${query}`;
          expect([where, items.length, new Set(items).size]).toEqual([where, total, total]);
          expect([where, last.body, last.headers.get('link')]).toEqual([where, [], null]);
        }
      }
    }
  });

  test('have no other pagination headers, and a link even when the last page is just full', async () => {
    for (const { spec, rule, path } of withKeyset()) {
      const call = rule.signedIn ? ashlar.root : ashlar.call;
      const total = Number((await call(`GET ${path}`)).headers.get('x-total'));
      expect(total, titleOf(spec)).toBeLessThan(101);
      const query = `pagination=keyset&${keysetLists[titleOf(spec)]?.otherwise}&per_page=${total}`;
      const response = await call(`GET ${path}`, { query });
      expect([titleOf(spec), response.body.length, Object.keys(linksOf(response))]).toEqual([
        titleOf(spec),
        total,
        ['next'],
      ]);
      expect(
        [...response.headers.keys()].filter((name) => /^x-(page|per|prev|next|total)/.test(name)),
      ).toEqual([]);
    }
  });

  test('without order_by and sort are those of the list’s own order', async () => {
    for (const { spec, rule, path } of withKeyset()) {
      const call = rule.signedIn ? ashlar.root : ashlar.call;
      const missing = await call(`GET ${path}`, { query: 'pagination=keyset&per_page=50' });
      const query = `pagination=keyset&per_page=50&${keysetLists[titleOf(spec)]?.otherwise}`;
      const named = await call(`GET ${path}`, { query });
      expect([titleOf(spec), missing.status, missing.text]).toEqual([titleOf(spec), 200, named.text]);
    }
  });

  test('in another order, or for callers who are not offered them, are 405', async () => {
    for (const { spec, rule, path } of withKeyset()) {
      const { orderBy, sort } = rule.default;
      const call = rule.signedIn ? ashlar.root : ashlar.call;
      const refused = { message: noKeyset, error: noKeyset };
      for (const other of ['id', 'name', 'path', 'username', 'created_at', 'updated_at']) {
        if (other in rule.orderBy) continue;
        const response = await call(`GET ${path}`, {
          query: `pagination=keyset&order_by=${other}&sort=${sort}`,
        });
        // An order that the list has in neither way is no value of the parameter.
        expect([titleOf(spec), other, [400, 405].includes(response.status)]).toEqual([
          titleOf(spec),
          other,
          true,
        ]);
        if (response.status === 405) expect(response.body).toEqual(refused);
      }
      for (const other of (['asc', 'desc'] as const).filter((each) => !rule.sort.includes(each))) {
        const response = await call(`GET ${path}`, {
          query: `pagination=keyset&order_by=${orderBy}&sort=${other}`,
        });
        expect([titleOf(spec), response.status, response.body]).toEqual([titleOf(spec), 405, refused]);
      }
      const query = `pagination=keyset&order_by=${orderBy}&sort=${sort}`;
      for (const [offered, caller] of [
        [rule.anonymous, ashlar.call],
        [rule.signedIn, ashlar.root],
      ] as const) {
        if (offered || (caller === ashlar.call && !spec.access.anonymous)) continue;
        const response = await caller(`GET ${path}`, { query });
        expect([titleOf(spec), response.status, response.body]).toEqual([titleOf(spec), 405, refused]);
      }
    }
  });

  test('are the only way beyond 50,000 records (facts: Pagination limits)', async () => {
    for (const { spec, rule, path } of withKeyset()) {
      const within = await ashlar.root(`GET ${path}`, { query: 'page=500&per_page=100' });
      const beyond = await ashlar.root(`GET ${path}`, { query: 'page=501&per_page=100' });
      const text =
        `Offset pagination has a maximum allowed offset of 50000 for requests that return objects of type ${rule.type}. ` +
        'Remaining records can be retrieved using keyset pagination.';
      expect([titleOf(spec), within.status, beyond.status, beyond.body]).toEqual([
        titleOf(spec),
        200,
        405,
        { message: text, error: text },
      ]);
    }
  });
});
