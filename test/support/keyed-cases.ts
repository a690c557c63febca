/** Routes with a key or a form: receivers of alerts and of errors, the token endpoints, and the forms of pages. */
import { digest } from '../../src/platform/secret.ts';
import type { AccessWorld } from './access-world.ts';
import { makeIntegration } from './alerts.ts';
import type { TestApp } from './app.ts';
import type { CallerName } from './callers.ts';
import type { GoodRequest } from './good-requests.ts';
import type { RawResponse } from './raw-http.ts';
import type { AccessCase } from './route-cases.ts';

/** Routes whose access the key alone decides. */
const byKey = { credential: 'token', situations: ['private'], callers: ['anonymous'] } as const;

async function alertCases(app: TestApp, { places }: AccessWorld): Promise<AccessCase[]> {
  const { sql } = app.app.services.database;
  const [other] = await sql<{ id: number }[]>`select id from projects where path = 'in-reach'`;
  const own = await makeIntegration(sql, places.project);
  /** The world's first integration, to which the addresses without a name belong. */
  const first = 'person-1';
  const inactive = await makeIntegration(sql, places.project, { active: false });
  const elsewhere = await makeIntegration(sql, other?.id ?? 0);
  const keys = {
    'its key': own.key,
    'an inactive key': inactive.key,
    'the key of another project': elsewhere.key,
  };
  const headers = { 'content-type': 'application/json' };
  const request = (path: string, key?: string): GoodRequest => ({
    line: `POST /world/world/alerts/${path}`,
    headers: { ...headers, ...(key !== undefined && { authorization: `Bearer ${key}` }) },
    body: '{"title": "Down"}',
  });
  const named = `notify/any/${own.identifier}.json`;
  return ['notify.json', 'notify', named].flatMap((path) => [
    ...Object.entries({ ...keys, ...(path !== named && { 'its key': first }) }).map(
      ([name, key]): AccessCase => ({
        ...byKey,
        shut: name !== 'its key',
        title: `POST alerts/${path === named ? 'notify/:name/:identifier' : path}, with ${name}`,
        request: request(path, key),
      }),
    ),
    {
      ...byKey,
      shut: true,
      callers: ['anonymous', 'guest', 'owner', 'admin'] as readonly CallerName[],
      title: `POST alerts/${path === named ? 'notify/:name/:identifier' : path}, without a key`,
      request: request(path),
    },
  ]);
}

const keyOf = (name: string): string => `glet_${digest(name).toString('hex').slice(0, 32)}`;

async function errorCases(app: TestApp, { places }: AccessWorld): Promise<AccessCase[]> {
  const { sql } = app.app.services.database;
  const [other] = await sql<{ id: number }[]>`select id from projects where path = 'in-reach'`;
  await sql`insert into error_tracking_client_keys (project_id, public_key, active, created_at, updated_at) values
    (${places.project}, ${keyOf('own')}, true, now(), now()), (${places.project}, ${keyOf('inactive')}, false, now(), now()),
    (${other?.id ?? 0}, ${keyOf('elsewhere')}, true, now(), now())`;
  const event = { event_id: 'fc6d8c0c43fc4630ad850ee518f1b9d1', message: 'Broken', platform: 'node' };
  const bodies = {
    envelope: `${JSON.stringify({ event_id: event.event_id })}\n{"type":"event"}\n${JSON.stringify(event)}\n`,
    store: JSON.stringify(event),
  };
  const keys = {
    'its key': keyOf('own'),
    'an inactive key': keyOf('inactive'),
    'the key of another project': keyOf('elsewhere'),
    'no key': undefined,
  };
  return Object.entries(bodies).flatMap(([name, body]) =>
    Object.entries(keys).map(
      ([which, key]): AccessCase => ({
        ...byKey,
        shut: which !== 'its key',
        title: `POST error_tracking/collector/api/:id/${name}, with ${which}`,
        request: {
          line: `POST /api/v4/error_tracking/collector/api/${places.project}/${name}`,
          headers: {
            'content-type': 'application/json',
            ...(key !== undefined && { 'x-sentry-auth': `Sentry sentry_version=7, sentry_key=${key}` }),
          },
          body,
        },
      }),
    ),
  );
}

/** A token of a client, and the clients that introspect it. */
async function clientCases(app: TestApp): Promise<AccessCase[]> {
  const { sql } = app.app.services.database;
  const times = sql`now(), now()`;
  for (const uid of ['the-client', 'another-client'])
    await sql`insert into oauth_applications (uid, secret_digest, name, redirect_uris, scopes, confidential, created_at, updated_at)
      values (${uid}, ${digest(`secret of ${uid}`)}, ${uid}, array['https://client.example/'], array['api', 'openid'], true, ${times})`;
  await sql`with granted as (
      insert into oauth_grants (application_id, user_id, kind, scopes, created_at)
      select a.id, u.id, 'authorization_code', array['api', 'openid'], now() from oauth_applications a, users u
      where a.uid = 'the-client' and u.username = 'the-developer' returning id, user_id)
    insert into access_tokens (kind, digest, user_id, name, scopes, grant_id, expires_at, created_at, updated_at)
    select 'oauth', ${digest('a-token-of-the-client')}, user_id, 'oauth', array['api', 'openid'], id, now() + interval '2 hours', ${times}
    from granted`;
  const form = (path: string, fields: Record<string, string>): GoodRequest => ({
    line: `POST ${path}`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(fields).toString(),
  });
  const token = 'a-token-of-the-client';
  const client = (uid: string, secret = `secret of ${uid}`) => ({ client_id: uid, client_secret: secret });
  const askers = {
    'by its client': client('the-client'),
    'by another client': client('another-client'),
    'by a client with a wrong secret': client('the-client', 'wrong'),
    'by nobody': {},
  };
  return [
    ...Object.entries(askers).map(
      ([who, proof]): AccessCase => ({
        ...byKey,
        shut: who !== 'by its client',
        title: `POST /oauth/introspect, ${who}`,
        request: form('/oauth/introspect', { token, ...proof }),
        opened: ({ text }) => text.includes('"active":true'),
      }),
    ),
    ...Object.entries(askers).map(
      ([who, proof]): AccessCase => ({
        ...byKey,
        shut: !who.endsWith(' client'),
        title: `POST /oauth/token of a client's own, ${who}`,
        request: form('/oauth/token', { grant_type: 'client_credentials', scope: 'api', ...proof }),
      }),
    ),
    {
      ...byKey,
      title: 'GET /oauth/userinfo, with a token for it',
      request: { line: 'GET /oauth/userinfo', headers: { authorization: `Bearer ${token}` } },
    },
    {
      ...byKey,
      shut: true,
      callers: ['anonymous', 'blocked', 'developer', 'admin'],
      title: 'GET /oauth/userinfo, with a token of the API',
      request: { line: 'GET /oauth/userinfo', headers: {} },
    },
  ];
}

/** Whether a form was taken: the response shows its page, or redirects, but not to the sign-in. */
const isTaken = ({ status, headers }: RawResponse): boolean =>
  status < 300 ||
  ((status === 302 || status === 303) && !String(headers.location).includes('/users/sign_in'));

async function formCases(app: TestApp, { places }: AccessWorld): Promise<AccessCase[]> {
  const { sql } = app.app.services.database;
  const [ids] = await sql<{ mine: number; group: number; instance: number }[]>`
    select min(id) filter (where user_id is not null) as mine, min(id) filter (where namespace_id is not null) as group,
      min(id) filter (where uid = 'person-1') as instance from oauth_applications`;
  const fields = { name: 'new', redirect_uri: 'https://client.example/', scope_api: '1', confidential: '1' };
  const groupPages = `/groups/${places.group}/-/settings/applications`;
  const request = new URLSearchParams({
    client_id: 'the-client',
    redirect_uri: 'https://client.example/',
    response_type: 'code',
    scope: 'api',
  });
  const authorization = { request: request.toString(), shown: 'api', decision: 'approve' };
  const forms: Record<string, Record<string, string>> = {
    '/-/profile/applications': fields,
    [`/-/profile/applications/${ids?.mine}`]: fields,
    [`/-/profile/applications/${ids?.mine}/renew`]: {},
    [`/-/profile/applications/${ids?.mine}/delete`]: {},
    [groupPages]: fields,
    [`${groupPages}/${ids?.group}`]: fields,
    [`${groupPages}/${ids?.group}/renew`]: {},
    [`${groupPages}/${ids?.group}/delete`]: {},
    '/admin/applications': fields,
    [`/admin/applications/${ids?.instance}`]: fields,
    [`/admin/applications/${ids?.instance}/renew`]: {},
    [`/admin/applications/${ids?.instance}/delete`]: {},
    [`/-/profile/notifications/groups/${places.group}`]: { level: 'watch' },
    [`/-/profile/notifications/projects/${places.project}`]: { level: 'watch' },
    '/oauth/authorize': authorization,
  };
  return Object.entries(forms).map(([path, given]) => ({
    title: `POST ${path.replace(/\/\d+/g, '/:id')}`,
    request: {
      line: `POST ${path}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
      body: `authenticity_token={csrf}&${new URLSearchParams(given)}`,
    },
    credential: 'session',
    situations: ['private'],
    callers: [
      'anonymous',
      'blocked',
      'outsider',
      'external',
      'auditor',
      'guest',
      'author',
      'maintainer',
      'owner',
      'admin',
    ],
    opened: isTaken,
  }));
}

export async function makeKeyedCases(app: TestApp, world: AccessWorld): Promise<AccessCase[]> {
  const keyed = [
    ...(await alertCases(app, world)),
    ...(await errorCases(app, world)),
    ...(await clientCases(app)),
  ];
  return [...keyed, ...(await formCases(app, world))];
}
