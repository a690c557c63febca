/**
 * The document describes the accepted requests, behind the decoder too: of the requests that an operation's
 * schemas allow, sent by an administrator to existing objects, some pass the rules about values. A refusal
 * changes nothing.
 */
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import type { Endpoint } from '../../src/kernel/api/endpoint.ts';
import { accessOptions, makeAccessWorld } from '../support/access-world.ts';
import { useApp } from '../support/app.ts';
import {
  type Document,
  follow,
  inQuery,
  inside,
  type Media,
  type Operation,
  objectInside,
  recordOf,
} from '../support/document-values.ts';
import { makeRequests, type NamedRequest } from '../support/good-requests.ts';
import { titleOf } from '../support/inventory.ts';
import { type RawResponse, sendRaw } from '../support/raw-http.ts';
import { watchChanges } from '../support/undo.ts';

const ashlar = useApp(accessOptions());

type Sent = { line: string; headers: Record<string, string>; body?: string | Buffer };

let root: Document;
let requests: NamedRequest[];
let administrator: Record<string, string>;
let undo: () => Promise<readonly string[]>;
let allRequests: () => Promise<NamedRequest[]>;

beforeAll(async () => {
  const world = await makeAccessWorld(ashlar);
  const { places } = world;
  administrator = world.credentials('admin', 'token').headers;
  root = (await ashlar.call('GET /openapi.json')).body;
  allRequests = () => makeRequests(ashlar, places, ashlar.app.endpoints);
  // Of each endpoint the first request, which needs no change of the world.
  requests = (await allRequests()).filter(({ spec, title }) => title === titleOf(spec));
  ({ undo } = await watchChanges(ashlar));
});

const operationOf = ({ path, method }: Endpoint): Operation =>
  root.paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()] ?? {};

/** Requests to the objects of the good one, by the kind of body. */
function requestsOf({ spec, request }: NamedRequest): [kind: string, sent: fc.Arbitrary<Promise<Sent>>][] {
  const operation = operationOf(spec);
  const line = request.line.replace(/\?.*$/s, '');
  const inBody = Object.entries(operation.requestBody?.content ?? {});
  if (inBody.length > 0)
    return inBody.map(([type, media]) => [
      type,
      objectInside(root, follow(root, media.schema)).map((body) =>
        withBody(line, type, media, body as object),
      ),
    ]);
  const parameters = (operation.parameters ?? [])
    .map((each) => follow(root, each))
    .filter((each) => each.in === 'query');
  if (parameters.length === 0) return [];
  const fields = Object.fromEntries(parameters.map(({ name, schema }) => [name, inside(root, schema)]));
  const required = parameters.filter((each) => each.required).map(({ name }) => name);
  return [
    [
      'query',
      recordOf(fields, required).map(async (query) => {
        const text = parameters.flatMap((each) =>
          each.name in query ? inQuery(each, query[each.name]) : [],
        );
        return { line: `${line}?${text.join('&')}`, headers: {} };
      }),
    ],
  ];
}

async function withBody(line: string, type: string, media: Media, body: object): Promise<Sent> {
  if (type === 'application/json')
    return { line, headers: { 'content-type': type }, body: JSON.stringify(body) };
  const fields = Object.entries(body);
  if (type === 'application/x-www-form-urlencoded')
    return { line, headers: { 'content-type': type }, body: `${new URLSearchParams(fields)}` };
  const form = new FormData();
  for (const [name, value] of fields) form.append(name, isFile(name) ? fileFor(media, name) : String(value));
  const encoded = new Response(form);
  return {
    line,
    headers: { 'content-type': encoded.headers.get('content-type') ?? '' },
    body: Buffer.from(await encoded.arrayBuffer()),
  };
}

const isFile = (name: string): boolean => ['file', 'avatar', 'content', 'chart'].includes(name);
const PICTURE = 'GIF89a\u0001\u0000\u0001\u0000\u0000\u0000\u0000;';
const fileFor = ({ encoding }: Media, name: string): File =>
  /image/.test(encoding?.[name]?.contentType ?? '')
    ? new File([PICTURE], 'stone.gif', { type: 'image/gif' })
    : new File(['Hello'], 'stone.txt', { type: 'text/plain' });

/** So many of an operation's requests are tried at most, and so many of them must not be refused for a value. */
const TRIED = 12;
const TAKEN = 2;

/** Requests that are refused whatever the values are, since that depends on the world. */
const dependsOnWhatIsThere = new Set([
  // The commit is on every branch.
  'POST /projects/:id/repository/commits/:sha/cherry_pick',
  // Commits, branches and files are those that are there.
  'POST /projects/:id/repository/changelog',
  // Few texts are tokens of the group.
  'POST /groups/:id/tokens/revoke',
  // Nothing is fetched from an address that nobody has.
  'POST /projects/remote-import',
  // One branch has the submodule.
  'PUT /projects/:id/repository/submodules/:submodule',
  // Branches and commits are those that are there.
  'POST /projects/:id/merge_requests',
  'POST /projects/:id/merge_requests/:merge_request_iid/context_commits',
  'DELETE /projects/:id/merge_requests/:merge_request_iid/context_commits',
  // Commits and branches are those that are there.
  'POST /projects/:id/deployments',
  // Times are asked for with one order alone.
  'GET /projects/:id/deployments',
  // No schema says what cron is, nor which zones there are.
  'POST /projects/:id/freeze_periods',
  // Whom an entry names has access already.
  'POST /projects/:id/protected_environments',
  // Few texts are versions of Python packages, and digests are those of the content.
  'POST /projects/:id/packages/pypi',
  // A chart is an archive, and so are a gem and a package of NuGet; a package of Composer is at a branch.
  'POST /projects/:id/packages/composer',
  'POST /projects/:id/packages/rubygems/api/v1/gems',
  'POST /projects/:id/packages/helm/api/:channel/charts',
  'PUT /projects/:id/packages/nuget',
  'PUT /projects/:id/packages/nuget/v2',
  'PUT /projects/:id/packages/nuget/symbolpackage',
  // A state has a serial number.
  'POST /projects/:id/terraform/state/:name',
  // A part of a trace says in a header where it begins.
  'PATCH /jobs/:id/trace',
  // Branches and milestones are those that are there.
  'POST /projects/:id/releases',
  // Few texts are patterns of cron.
  'POST /projects/:id/pipeline_schedules',
  // Each kind asks for fields of its own.
  'PUT /projects/:id/integrations/:slug',
  'PUT /projects/:id/services/:slug',
  'PUT /groups/:id/integrations/:slug',
]);

/** Sends it as the administrator; a write is recognised by its method. */
async function ask(sent: Sent): Promise<RawResponse> {
  return sendRaw(ashlar.url, sent.line, { ...sent, headers: { ...sent.headers, ...administrator } });
}

const isWrite = ({ method }: Endpoint): boolean => method !== 'GET';
const isRefused = ({ status }: RawResponse): boolean => status === 400 || status === 422;

/** The number of changes of rows that wait to be undone. */
async function changesSoFar(): Promise<number> {
  const [row] = await ashlar.app.services.database.sql<{ count: number }[]>`
    select count(*)::integer as count from journal.changes`;
  return row?.count ?? 0;
}

test('of what the document allows, more than next to nothing is taken; what is refused leaves nothing', {
  timeout: 900_000,
}, async () => {
  const refused: string[] = [];
  const left: string[] = [];
  let all = 0;
  for (const request of requests) {
    const { spec } = request;
    const title = titleOf(spec);
    for (const [kind, arbitrary] of requestsOf(request)) {
      let taken = 0;
      let said = '';
      for (const sending of fc.sample(arbitrary, { numRuns: TRIED, seed: 7 })) {
        const response = await ask(await sending);
        const changed = isWrite(spec) ? await undo() : [];
        all += 1;
        if (response.status >= 400 && changed.length > 0)
          left.push(`${title}: ${response.status} ${response.text.slice(0, 200)} left ${changed.join()}`);
        if (!isRefused(response)) taken += 1;
        else said = response.text.slice(0, 300);
        if (taken === TAKEN) break;
      }
      if (taken < TAKEN && !dependsOnWhatIsThere.has(title)) refused.push(`${title} (${kind}): ${said}`);
    }
  }
  expect(refused).toEqual([]);
  expect(left).toEqual([]);
  expect(all).toBeGreaterThan(900);
});

test('a request that has been done already and is refused for that leaves nothing', {
  timeout: 900_000,
}, async () => {
  const left: string[] = [];
  let repeated = 0;
  for (const { spec, title, request } of await allRequests()) {
    if (!isWrite(spec)) continue;
    const first = await ask(request);
    if (first.status < 300) {
      const before = await changesSoFar();
      const second = await ask(request);
      // 401: it ended its own token, or presented one of a family that ends with that.
      if (second.status >= 400 && second.status !== 401) {
        repeated += 1;
        if ((await changesSoFar()) > before)
          left.push(`${title}: ${second.status} ${second.text.slice(0, 200)}`);
      }
    }
    await undo();
  }
  expect(left).toEqual([]);
  expect(repeated).toBeGreaterThan(100);
});
