/**
 * A request for every endpoint that would succeed for the right caller, on objects in the world of the tests:
 * where it is refused, it is because of its caller.
 */
import type { Endpoint } from '../../src/kernel/api/endpoint.ts';
import type { TestApp } from './app.ts';
import { addressOf, type SampleIds, titleOf } from './inventory.ts';
import { sampleKeys } from './sample-keys.ts';
import { type Fields, findObjects, type Given, type SampleWorld, samples } from './samples.ts';

export type GoodRequest = { line: string; headers: Record<string, string>; body?: string | Buffer };

const BOUNDARY = 'a-boundary-of-the-tests';
/** The smallest picture. */
const PICTURE = 'GIF89a\u0001\u0000\u0001\u0000\u0000\u0000\u0000;';

const fieldPart = ([name, value]: [string, unknown]): string =>
  `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const filePart = ([name, filename = 'stone.gif', content = Buffer.from(PICTURE)]: readonly [
  field: string,
  name?: string,
  content?: Buffer,
]): Buffer =>
  Buffer.concat([
    Buffer.from(
      `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"; filename="${filename}"\r\ncontent-type: image/gif\r\n\r\n`,
    ),
    content,
    Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
  ]);

/** Values by the names of required parameters. */
const usual: Fields = {
  name: 'new',
  title: 'new',
  username: 'new-one',
  email: 'new@example.org',
  path: 'new',
  key: sampleKeys.ed25519.key,
  value: 'new',
  body: 'Hello',
  note: 'Hello',
  text: 'Hello',
  content: 'Hello',
  branch: 'main',
  commit_message: 'Change',
  color: '#00ff00',
  duration: '1h',
  state: 'success',
  status: 'resolved',
  visibility: 'private',
  access_level: 10,
  group_access: 10,
  active: true,
  integrated: true,
  resolved: true,
  type: 'http',
  payload: { title: 'Down' },
  payload_example: { title: 'Down' },
  scopes: ['read_api'],
  redirect_uri: 'https://client.example/',
  link_url: 'https://client.example/',
  image_url: 'https://client.example/stone.svg',
  source_storage_name: 'default',
  search: 'person',
  scope: 'projects',
};

export type NamedRequest = { spec: Endpoint; title: string; request: GoodRequest };

/** The ids of the places and people in the world of the access matrix. */
async function readWorld(app: TestApp, places: SampleIds): Promise<SampleWorld> {
  const { sql } = app.app.services.database;
  const idsOf = async (text: string): Promise<(name: string) => number> => {
    const rows = await sql.unsafe<{ id: number; name: string }[]>(text);
    const ids = new Map(rows.map(({ id, name }) => [name, id]));
    return (name) => {
      const id = ids.get(name);
      if (id === undefined) throw new Error(`there is no ${name} in: ${text}`);
      return id;
    };
  };
  return {
    ...places,
    secretKey: app.app.services.secretKey,
    userId: await idsOf('select id, username as name from users'),
    groupId: await idsOf(`select id, full_path as name from namespaces where kind = 'group'`),
    projectId: await idsOf(`select p.id, n.full_path || '/' || p.path as name
      from projects p join namespaces n on n.id = p.namespace_id`),
    async id(text) {
      const [row] = await sql.unsafe<{ id: number | null }[]>(text);
      if (row?.id == null) throw new Error(`nothing is found by ${text}`);
      return row.id;
    },
    async text(statement) {
      const [row = {}] = await sql.unsafe<Record<string, string>[]>(statement);
      const [value] = Object.values(row);
      if (value === undefined) throw new Error(`nothing is found by ${statement}`);
      return value;
    },
  };
}

/** The differences that the samples give, by title. */
async function givenBy(world: SampleWorld): Promise<ReadonlyMap<string, Given>> {
  const tables = await Promise.all([...samples.values()].map((each) => each.requests?.(world) ?? {}));
  return new Map(tables.flatMap((table) => Object.entries(table)));
}

/** The requests to each endpoint; the first needs no change of the world. */
export async function makeRequests(
  app: TestApp,
  places: SampleIds,
  endpoints: readonly Endpoint[],
): Promise<NamedRequest[]> {
  const given = await givenBy(await readWorld(app, places));
  // More may be there by now than when the world was made.
  const world = { ...places, objects: await findObjects(app, places) };
  const titles = new Set(endpoints.map(titleOf));
  const unknown = [...given.keys()].filter((title) => !titles.has(endpointOf(title)));
  if (unknown.length > 0) throw new Error(`requests to endpoints that are not there: ${unknown.join(', ')}`);
  const variants = Map.groupBy(given, ([title]) => endpointOf(title));
  return endpoints.flatMap((spec) => {
    const title = titleOf(spec);
    const others = (variants.get(title) ?? []).filter(([each]) => each !== title);
    return [[title, given.get(title) ?? {}] as const, ...others].map(([each, difference]) => ({
      spec,
      title: each,
      request: requestTo(spec, world, difference),
    }));
  });
}

const endpointOf = (title: string): string => title.split(', ')[0] ?? '';

/** The request to an endpoint with the usual values, and the differences. */
export function requestTo(
  spec: Endpoint,
  places: SampleIds,
  { at = {}, with: fields = {}, body, file }: Given,
): GoodRequest {
  const path = addressOf(spec.path, { ...places, ...at }, at);
  const required = (spec.input.required ?? []).filter((name) => !spec.path.includes(`:${name}`));
  const wanted = Object.fromEntries(
    required.flatMap((name) => (usual[name] === undefined ? [] : [[name, usual[name]]])),
  );
  const sent = { ...wanted, ...fields };
  const line = `${spec.method} /api/v4${path}`;
  if (file !== undefined) {
    const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };
    return {
      line,
      headers,
      body: Buffer.concat([
        Buffer.from(Object.entries(fields).map(fieldPart).join('')),
        filePart(typeof file === 'string' ? [file] : file),
      ]),
    };
  }
  if (spec.method === 'GET') {
    const query = Object.entries(sent).flatMap(([name, value]) =>
      Array.isArray(value) ? value.map((each) => pair(`${name}[]`, each)) : [pair(name, value)],
    );
    return { line: query.length === 0 ? line : `${line}?${query.join('&')}`, headers: {} };
  }
  return { line, headers: { 'content-type': 'application/json' }, body: body ?? JSON.stringify(sent) };
}

const pair = (name: string, value: unknown): string => `${name}=${encodeURIComponent(String(value))}`;
