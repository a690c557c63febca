/** Errors of an external tracker, read from a server that answers as the Sentry API does, well or badly. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { withSettings } from '../../../../test/support/browser.ts';
import { addError } from '../../../../test/support/error-rows.ts';
import { bodyOf, makeProject } from '../../../../test/support/factories.ts';
import { noKeyset } from '../../../../test/support/pages.ts';
import { type Received, startWebServer, type WebServer } from '../../../../test/support/web-server.ts';
import { seal } from '../../../platform/secret.ts';
import { projectNames } from './external-records.ts';
import { nextCursor } from './external-tracker.ts';

const ashlar = useApp();
const PATH = '/api/0/projects/masons/walls';

type Answer = { status?: number; headers?: Record<string, string>; body: unknown };
let tracker: WebServer;
let answer: (request: Received) => Answer;
let project: number;

const issue = (id: number, changes: object = {}) => ({
  id: String(id),
  title: `RangeError: stone ${id}`,
  metadata: { type: 'RangeError', value: `stone ${id}` },
  culprit: 'layCourse(walls)',
  level: 'error',
  platform: 'javascript',
  status: 'unresolved',
  count: '17',
  userCount: 3,
  firstSeen: '2026-11-01T10:00:00Z',
  lastSeen: '2026-11-20T10:00:00.5Z',
  permalink: `https://tracker.example/issues/${id}/`,
  project: { id: '5', slug: 'walls', name: 'Walls' },
  ...changes,
});

const page = (request: Received): Answer => {
  const query = new URL(request.path, 'http://tracker').searchParams;
  const from = Number(query.get('cursor')?.split(':')[1] ?? 0);
  const limit = Number(query.get('limit'));
  const body = Array.from({ length: Math.max(0, Math.min(limit, 250 - from)) }, (_, index) =>
    issue(from + index + 1),
  );
  const more = from + limit < 250;
  const link = `<http://x/?&cursor=0:0:1>; rel="previous"; results="false"; cursor="0:0:1", <http://x/?&cursor=0:${from + limit}:0>; rel="next"; results="${more}"; cursor="0:${from + limit}:0"`;
  return { headers: { link }, body };
};

beforeAll(async () => {
  tracker = await startWebServer((request, reply) => {
    const { status = 200, headers, body } = answer(request);
    reply.writeHead(status, { 'content-type': 'application/json', ...headers });
    reply.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  ({ id: project } = await makeProject(ashlar));
  await point(`${tracker.url}${PATH}`);
});
beforeEach(() => {
  answer = page;
  tracker.received.length = 0;
});
afterAll(() => tracker.stop());

async function point(url: string, active = true) {
  const { database, secretKey } = ashlar.app.services;
  const token = Buffer.from(seal(secretKey, 'the token'));
  await database.sql`
    insert into error_tracking_settings (project_id, active, integrated, api_url, token_sealed, created_at, updated_at)
    values (${project}, ${active}, false, ${url}, ${token}, now(), now())
    on conflict (project_id) do update set api_url = excluded.api_url, active = excluded.active`;
}

const path = () => `/projects/${project}/error_tracking/errors`;
const allowed = <T>(work: () => Promise<T>) =>
  withSettings(ashlar, { allow_local_requests_from_web_hooks_and_services: true }, work);

test('its errors are listed as ours are', () =>
  allowed(async () => {
    const errors = bodyOf(
      await ashlar.root(`GET ${path()}`, { query: 'per_page=2&search=a b&order_by=frequency' }),
      200,
    );
    expect(errors).toMatchObject([{ id: 1 }, { id: 2 }]);
    expect(errors[0]).toEqual({
      id: 1,
      project_id: project,
      name: 'RangeError',
      description: 'stone 1',
      actor: 'layCourse(walls)',
      platform: 'javascript',
      level: 'error',
      status: 'unresolved',
      first_seen: '2026-11-01T10:00:00.000Z',
      last_seen: '2026-11-20T10:00:00.500Z',
      events_count: 17,
      users_count: 3,
      first_release: null,
      last_release: null,
      resolved_at: null,
      regressed_at: null,
      issue_iid: null,
      web_url: 'https://tracker.example/issues/1/',
    });
    const [requested] = tracker.received;
    const url = new URL(requested?.path ?? '', tracker.url);
    expect(url.pathname).toBe(`${PATH}/issues/`);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      query: 'is:unresolved a b',
      sort: 'freq',
      limit: '3',
    });
    expect(requested?.headers.authorization).toBe('Bearer the token');
  }));

test('pages lead through its list, as far as it goes', () =>
  allowed(async () => {
    const read = async (query: string) => {
      const { body, headers } = await ashlar.root(`GET ${path()}`, { query });
      const ids = body.map(({ id }: { id: number }) => id);
      return [ids[0], ids.at(-1), headers.get('x-next-page'), headers.get('x-total')];
    };
    expect(await read('page=1&per_page=100')).toEqual([1, 100, '2', null]);
    expect(await read('page=3&per_page=60')).toEqual([121, 180, '4', null]);
    expect(await read('page=3&per_page=100')).toEqual([201, 250, '', null]);
    expect(await read('page=9&per_page=100')).toEqual([undefined, undefined, '', null]);
    for (const [query, status] of [
      ['page=11&per_page=100', 400],
      ['sort=asc', 400],
      ['pagination=keyset', 405],
    ] as const)
      expect([query, (await ashlar.root(`GET ${path()}`, { query })).status]).toEqual([query, status]);
    expect((await ashlar.root(`GET ${path()}`, { query: 'pagination=keyset' })).body.error).toBe(noKeyset);
  }));

test('one error comes with its latest event', () =>
  allowed(async () => {
    const hour = Date.parse('2026-11-20T10:00:00Z') / 1000;
    answer = ({ path }) =>
      path === '/api/0/issues/7/events/latest/'
        ? {
            body: {
              eventID: 'a'.repeat(32),
              dateCreated: '2026-11-20T10:00:00Z',
              platform: 'javascript',
              tags: [
                { key: 'environment', value: 'production' },
                { key: 'level', value: 'fatal' },
              ],
              user: { id: '7', username: 'ada', ip_address: '192.0.2.1', data: { secret: 1 } },
              entries: [
                {
                  type: 'exception',
                  data: {
                    values: [
                      {
                        type: 'RangeError',
                        value: 'stone 7',
                        mechanism: { type: 'generic', handled: false },
                        stacktrace: {
                          frames: [
                            {
                              filename: 'walls.js',
                              absPath: '/app/walls.js',
                              function: 'lay',
                              lineNo: 2,
                              colNo: 4,
                              inApp: true,
                              context: [
                                [1, 'before'],
                                [2, 'here'],
                                [3, 'after'],
                              ],
                              vars: { password: 'x' },
                            },
                          ],
                        },
                      },
                    ],
                  },
                },
                {
                  type: 'request',
                  data: { method: 'GET', url: 'https://walls.example/', cookies: [['a', 'b']] },
                },
              ],
            },
          }
        : {
            body: issue(7, {
              stats: {
                '24h': [
                  [hour, 4],
                  [hour + 3600, 0],
                ],
              },
              tags: [{ key: 'browser', topValues: [{ value: 'Firefox', count: 3 }] }],
            }),
          };
    const error = bodyOf(await ashlar.root(`GET ${path()}/7`), 200);
    expect(error).toMatchObject({
      id: 7,
      counts: [{ hour: '2026-11-20T10:00:00.000Z', events: 4 }],
      tags: [{ key: 'browser', values: [{ value: 'Firefox', events: 3 }] }],
      latest_event: {
        level: 'fatal',
        environment: 'production',
        user: { id: '7', username: 'ada' },
        request: { method: 'GET', url: 'https://walls.example/' },
      },
    });
    const [thrown] = error.latest_event.exceptions;
    expect(thrown).toMatchObject({ type: 'RangeError', handled: false });
    expect(thrown.frames).toMatchObject([
      { lineno: 2, pre_context: ['before'], context_line: 'here', post_context: ['after'], vars: null },
    ]);
    expect(JSON.stringify(error)).not.toMatch(/192\.0\.2\.1|secret|cookie|password/);
  }));

test('an error of another project of the tracker is not shown, though the token opens it', () =>
  allowed(async () => {
    answer = () => ({ body: issue(7, { project: { id: '6', slug: 'gates' } }) });
    expect((await ashlar.root(`GET ${path()}/7`)).status).toBe(404);
    answer = () => ({ status: 404, body: {} });
    expect((await ashlar.root(`GET ${path()}/7`)).status).toBe(404);
  }));

test('what it says wrongly is left out, and never an address that is no web page', () =>
  allowed(async () => {
    answer = () => ({
      body: [
        null,
        7,
        {},
        issue(0),
        issue(1, { lastSeen: 'yesterday', firstSeen: null }),
        issue(2, { permalink: 'javascript:alert(1)', metadata: null, culprit: {}, count: 'many', title: 3 }),
      ],
    });
    expect(bodyOf(await ashlar.root(`GET ${path()}`), 200)).toMatchObject([
      { id: 2, web_url: '', name: 'Error', description: '', actor: '', events_count: 0 },
    ]);
  }));

test.each<[string, () => Answer, RegExp]>([
  ['a wrong token', () => ({ status: 401, body: {} }), /answered with status 401/],
  ['a fault', () => ({ status: 500, body: 'x' }), /answered with status 500/],
  ['no list', () => ({ status: 404, body: {} }), /no list of errors there/],
  ['something else', () => ({ body: '<html>' }), /not JSON/],
  ['an object', () => ({ body: { detail: 'x' } }), /no list of errors there/],
  ['too much', () => ({ body: 'x'.repeat(5_000_000) }), /over \d+ bytes/],
])('%s of it is a 503 that says so', (_, answered, reason) =>
  allowed(async () => {
    answer = answered;
    const { status, body } = await ashlar.root(`GET ${path()}`);
    expect(status).toBe(503);
    expect(body.message).toMatch(/^503 Service Unavailable: the external tracker cannot be read: /);
    expect(body.message).toMatch(reason);
  }),
);

test('a tracker that asks for patience is passed on; one that is down, or of this network, is said to be', async () => {
  await allowed(async () => {
    answer = () => ({ status: 429, headers: { 'retry-after': '7' }, body: {} });
    const limited = await ashlar.root(`GET ${path()}`);
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([503, '7']);
    await point('http://127.0.0.1:1/api/0/projects/a/b');
    expect((await ashlar.root(`GET ${path()}`)).body.message).toMatch(/the connection failed/);
    await point(`${tracker.url}/projects${PATH}///?a=/projects/#b`);
    answer = ({ path }) => ({ status: path === '/projects/api/0/issues/7/' ? 200 : 404, body: issue(7) });
    expect(bodyOf(await ashlar.root(`GET ${path()}/7`), 200)).toMatchObject({ id: 7, latest_event: null });
    await point(`${tracker.url}/api/0/`);
    expect((await ashlar.root(`GET ${path()}/7`)).body.message).toMatch(/not that of a project/);
    await point(`${tracker.url}${PATH}`);
  });
  tracker.received.length = 0;
  for (const request of [`GET ${path()}`, `GET ${path()}/7`]) {
    const refused = await ashlar.root(request);
    expect([refused.status, refused.body.message]).toEqual([503, expect.stringMatching(/not allowed/)]);
  }
  expect(tracker.received).toEqual([]);
});

test('its errors are worked on there; when it is switched off, ours are shown', async () => {
  const own = await addError(ashlar, project);
  const body = { status: 'resolved' };
  for (const [request, options] of [
    [`PUT ${path()}/${own}`, { body }],
    [`POST ${path()}/${own}/issue`, {}],
    [`GET ${path()}/${own}/events`, {}],
  ] as const)
    expect([request, (await ashlar.root(request, options)).status]).toEqual([request, 400]);
  await point(`${tracker.url}${PATH}`, false);
  expect(bodyOf(await ashlar.root(`GET ${path()}`), 200)).toMatchObject([{ id: own }]);
  expect(tracker.received).toEqual([]);
});

test.each([
  [undefined, undefined],
  ['', undefined],
  ['<http://x>; rel="next"; results="false"; cursor="0:1:0"', undefined],
  ['<http://x>; rel="next"; results="true"; cursor="0:1:0"', '0:1:0'],
  [
    '<http://x/?a=1,2>; rel="previous"; results="true"; cursor="p", <http://x>; rel="next"; results="true"; cursor="n"',
    'n',
  ],
  ['<http://x>; rel="next"; results="true"', undefined],
])('the next page of %j is %j', (link, cursor) => {
  expect(nextCursor(link)).toBe(cursor);
});

test.each([
  [{ project: { id: '12', slug: 'walls' } }, ['12', 'walls']],
  [{ project: { id: 12 } }, ['12']],
  [{ project: { slug: 'walls' } }, ['walls']],
  // A null project matches no name, even one that is spelled "null".
  [{ project: null }, []],
  [undefined, []],
])('the project of %j is called %j', (issue, names) => {
  expect(projectNames(issue)).toEqual(names);
});
