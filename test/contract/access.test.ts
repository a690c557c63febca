/**
 * Every route of the program with every caller: the endpoints of the API, git, files and pages (spec: Status
 * codes, 401, 403 and 404). Requests are such as would succeed for the right caller, so that a missing check
 * shows as one that went through; their writes are undone. Malformed bodies test the order of refusals: 401,
 * then 404 or 403, then 400.
 */
import { beforeAll, expect, test } from 'vitest';
import type { Endpoint } from '../../src/kernel/api/endpoint.ts';
import { groupPolicy, projectPolicy, type Rule } from '../../src/kernel/policy/policy.ts';
import { digest } from '../../src/platform/secret.ts';
import { type Cell, onlyReads, openWalk, type Walk } from '../support/access-walk.ts';
import { accessOptions } from '../support/access-world.ts';
import { useApp } from '../support/app.ts';
import { type CallerName, callers } from '../support/callers.ts';
import { addressOf, expectGolden, forEachOf, readGolden, titleOf } from '../support/inventory.ts';
import { sendRaw } from '../support/raw-http.ts';
import type { AccessCase } from '../support/route-cases.ts';
import { type Situation, situationNames, situations } from '../support/situations.ts';

const ashlar = useApp(accessOptions());

const roles = { guest: 10, planner: 15, reporter: 20, developer: 30, maintainer: 40, owner: 50 };
/** Callers whose abilities the policy table decides alone. */
const personas = [
  'anonymous',
  'outsider',
  'guest',
  'planner',
  'reporter',
  'developer',
  'maintainer',
  'owner',
  'admin',
] as const satisfies readonly CallerName[];
type Persona = (typeof personas)[number];
type Result = 'yes' | '401' | '403' | '404';
type Row = Record<Persona, Result>;

/** Requests that every caller is refused, or that find nothing, with the refusal of the right caller. */
const openToNobody = new Set([
  'POST /projects/:id/share, of a locked group',
  'GET /projects/:id/repository/commits/:sha/signature',
  'GET /projects/:id/repository/tags/:tag_name/signature',
  'GET /projects/:id/issues/:eventable_id/resource_iteration_events/:event_id',
  // Leads on to a comparison.
  'GET /:path+/-/merge_requests/:iid/diffs',
  // The file is of another package than the sample's: src/domain/pages/package-pages.test.ts opens one.
  'GET /:path+/-/packages/:id/files/:file',
  // The archive has no folders.
  'GET /:path+/-/jobs/:id/artifacts/browse/*',
  // That project is no fork.
  'POST /projects/:id/merge_requests, elsewhere',
  // It does not say where the part of the trace begins.
  'PATCH /jobs/:id/trace',
  // Another server is called before, and there is none.
  'POST /bulk_imports',
  'POST /projects/remote-import',
  // The token of the job is in a header.
  'POST /jobs/:id/artifacts',
  'GET /jobs/:id/artifacts',
  // There are none of merge requests yet.
  'POST /projects/:id/merge_requests/:merge_request_iid/pipelines',
  // There are no merge trains.
  'GET /projects/:id/merge_trains/merge_requests/:merge_request_iid',
  'POST /projects/:id/merge_trains/merge_requests/:merge_request_iid',
  // It is for jobs.
  'GET /job',
  // Its token is in a header, and there is no router.
  'GET /runners/router/discovery',
  // Its token is in the query.
  'GET /packages/terraform/modules/v1/:module_namespace/:module_name/:module_system/:module_version/file',
  // The symbol server of NuGet is off.
  'GET /projects/:id/packages/nuget/symbolfiles/:file_name/:signature/:same_file_name',
  'GET /groups/:id/-/packages/nuget/symbolfiles/:file_name/:signature/:same_file_name',
  // The site looks as it came.
  'GET /-/manifest.json',
  'GET /uploads/-/system/appearance/:kind/1/:filename',
  // Nobody hears of it.
  'POST /projects/:id/merge_requests/:subscribable_id/unsubscribe',
]);

let walk: Walk;
const WRONG_SCOPE = 'glpat-of-root-for-repositories-only';
const MALFORMED = '{"';

beforeAll(async () => {
  const { db } = ashlar.app.services.database;
  const time = { created_at: new Date(), updated_at: new Date() };
  const row = { kind: 'personal', user_id: 1, name: 'wrong', scopes: ['read_repository'] };
  await db
    .insertInto('access_tokens')
    .values({ ...row, digest: digest(WRONG_SCOPE), ...time })
    .execute();
  walk = await openWalk(ashlar);
});

const row = (results: (persona: Persona) => Result): Row =>
  Object.fromEntries(personas.map((persona) => [persona, results(persona)])) as Row;

const signedIn = row((persona) => (persona === 'anonymous' ? '401' : 'yes'));
const administrators = row((persona) =>
  persona === 'anonymous' ? '401' : persona === 'admin' ? 'yes' : '403',
);

/** Of a private project. */
const runners = row((persona) => {
  if (persona === 'anonymous') return '401';
  return ['maintainer', 'owner', 'admin'].includes(persona) ? 'yes' : '404';
});

/**
 * Abilities that are in no table of policy.ts, with the response to each persona; the user is another one.
 */
const exceptions: Record<string, Row> = {
  read_snippet: row((persona) => (persona === 'admin' ? 'yes' : '404')),
  manage_snippet: row((persona) => (persona === 'anonymous' ? '401' : persona === 'admin' ? 'yes' : '404')),
  read_user: row(() => 'yes'),
  follow_user: signedIn,
  manage_own_user: administrators,
  administer_user: administrators,
  administer_custom_attributes: administrators,
  read_runner: runners,
  manage_runner: runners,
  read_all_runners: administrators,
};

/** The statuses that the access sentence promises, on private objects. */
function promised({ access, packageScope }: Endpoint): Row {
  const { on, ability } = access.sentence;
  if (on === 'anyone') return row(() => 'yes');
  if (on === 'signed_in') return signedIn;
  if (on === 'instance') return administrators;
  const known = exceptions[ability];
  if (known) return known;
  const rule = Object.entries<Rule>(on === 'project' ? projectPolicy : groupPolicy).find(
    ([name]) => name === ability,
  )?.[1];
  if (!rule) throw new Error(`the ability ${ability} is in no table and no exception`);
  return row((persona) => {
    // Package programs send their credentials when they are asked for them.
    if (persona === 'anonymous') return access.anonymous && packageScope === undefined ? '404' : '401';
    if (persona === 'outsider') return '404';
    if (persona === 'admin' || rule.visible !== undefined) return 'yes';
    return roles[persona] >= rule.least ? 'yes' : '403';
  });
}

/** Of the committed table, the route, situation and caller of each refusal: it only says what can go side by side. */
function agreedRefusals(): ReadonlySet<string> {
  const refusals = new Set<string>();
  let columns: string[] = [];
  for (const line of readGolden('access-matrix.golden.md').split('\n')) {
    const [title = '', ...said] = line
      .slice(1, -1)
      .split('|')
      .map((text) => text.trim());
    if (title === 'route') columns = said.map((name) => (name.includes(': ') ? name : `private: ${name}`));
    for (const [at, name] of columns.entries())
      if (/^[34]\d\d$/.test(said[at] ?? '')) refusals.add(`${title} ${name.replace(':', '')}`);
  }
  return refusals;
}

const cellsOf = new Map<AccessCase, Map<string, string>>();
const keyOf = (situation: Situation, caller: CallerName): string => `${situation} ${caller}`;

test('every route opens to those whom it is for, and a refused request changes nothing', async () => {
  const keep = ({ route, situation, caller }: Cell, said: string) => {
    const responses = cellsOf.get(route) ?? new Map<string, string>();
    cellsOf.set(route, responses);
    responses.set(keyOf(situation, caller), said);
  };
  const ask = async (cell: Cell) => keep(cell, await walk.ask(cell));
  const agreed = agreedRefusals();
  const isRefused = ({ route, situation, caller }: Cell) =>
    agreed.has(`${route.title} ${keyOf(situation, caller)}`);
  for (const situation of situationNames) {
    await walk.enter(situation);
    const cells = walk.cells.filter((cell) => cell.situation === situation);
    await forEachOf(
      cells.filter(({ route }) => onlyReads(route)),
      6,
      ask,
    );
    const writes = cells.filter(({ route }) => !onlyReads(route));
    const refused = writes.filter(isRefused);
    while (refused.length > 0) {
      const together = refused.splice(0, 12);
      const said = await walk.askTogether(together);
      for (const [at, cell] of together.entries()) keep(cell, said[at] ?? '');
    }
    // One after the other, since the writes of each are undone.
    for (const cell of writes) if (!isRefused(cell)) await ask(cell);
  }
  const told = [...cellsOf].map(([route, responses]) => ({ route, said: [...responses.values()] }));
  const strange = told.filter(({ said }) => said.some((each) => !/^(yes( \d+)?|no|[34]\d\d)$/.test(each)));
  expect(strange.map(({ route, said }) => [route.title, said])).toEqual([]);
  const closed = told
    .filter(({ said }) => !said.some((each) => each.startsWith('yes')))
    .map(({ route }) => route.title);
  const shut = walk.routes.filter((route) => route.shut).map(({ title }) => title);
  expect(closed.sort()).toEqual([...openToNobody, ...shut].sort());
}, 1_800_000);

test('who may do what is as it was agreed upon', () => {
  expectGolden('access-matrix.golden.md', render(walk.routes));
});

test('every endpoint keeps the promise of its access sentence', () => {
  const broken = walk.routes.flatMap((route) => {
    const { endpoint, title } = route;
    const responses = cellsOf.get(route);
    if (!endpoint || openToNobody.has(title)) return [];
    const row = promised(endpoint);
    return personas
      .map((persona) => ({ persona, promise: row[persona], said: responses?.get(keyOf('private', persona)) }))
      .filter(({ promise, said }) => promise !== 'yes' && promise !== said)
      .map((each) => ({ title, ...each }));
  });
  expect(broken).toEqual([]);
});

test('what is wrong with a request is told only to those who may make it', async () => {
  const tried = walk.cells.filter(
    ({ route, situation, caller }) =>
      route.endpoint &&
      route.title === titleOf(route.endpoint) &&
      situation === 'private' &&
      // Whatever the body is, it is the file of a package, or nobody reads it.
      !(
        route.endpoint.packageScope &&
        route.endpoint.stream &&
        promised(route.endpoint)[caller as Persona] === 'yes'
      ) &&
      ['anonymous', 'guest', 'admin'].includes(caller),
  );
  await walk.enter('private');
  await forEachOf(tried, 6, async (cell: Cell) => {
    const spec = cell.route.endpoint;
    if (!spec) return;
    const { status, text } = await walk.sendMalformed(cell);
    const noticed =
      status === 400 &&
      (text.includes('malformed JSON') ||
        // The body of a stream is not JSON, and other parts of the request are missing.
        (spec.stream && /file is missing|Missing header/.test(text)));
    const { anonymous, sentence } = spec.access;
    const promise = promised(spec)[cell.caller as Persona];
    expect([titleOf(spec), cell.caller, noticed ? 'yes' : `${status}`, anonymous, sentence]).toEqual([
      titleOf(spec),
      cell.caller,
      promise,
      anonymous,
      sentence,
    ]);
  });
});

/** The response to a request with a malformed body. */
const call = (spec: Endpoint, token: string) =>
  sendRaw(ashlar.url, `${spec.method} /api/v4${addressOf(spec.path, walk.world.places)}`, {
    headers: { 'content-type': 'application/json', 'private-token': token },
    body: MALFORMED,
  });

test('a token without the scope is refused on every endpoint, a public one too, and told which scopes would do', async () => {
  await forEachOf(ashlar.app.endpoints, 6, async (spec) => {
    if (spec.scopes.includes('read_repository')) return;
    const { status, text } = await call(spec, WRONG_SCOPE);
    expect([titleOf(spec), status]).toEqual([titleOf(spec), 403]);
    expect(JSON.parse(text)).toMatchObject({ error: 'insufficient_scope', scope: spec.scopes.join(' ') });
  });
});

test('a credential that is none is refused on every endpoint, a public one too', async () => {
  await forEachOf(ashlar.app.endpoints, 6, async (spec) => {
    const { status, text } = await call(spec, 'glpat-unknown');
    expect([titleOf(spec), status]).toEqual([titleOf(spec), 401]);
    expect(JSON.parse(text)).toEqual({ message: '401 Unauthorized' });
  });
});

/** What takes tokens of jobs and is about no project. */
const ofNoProject = new Set([
  'GET /packages/npm/-/ping',
  'GET /projects/:id/packages/nuget/index.json',
  'GET /groups/:id/-/packages/nuget/index.json',
  'GET /packages/npm/-/whoami',
  'POST /packages/npm/-/npm/v1/security/advisories/bulk',
  'POST /packages/npm/-/npm/v1/security/audits/quick',
  'GET /projects/:id/packages/conan/v1/ping',
  'GET /projects/:id/packages/conan/v2/ping',
  'GET /packages/conan/v1/ping',
  'GET /packages/conan/v1/conans/search',
  'GET /packages/conan/v1/users/authenticate',
  'GET /packages/conan/v1/users/check_credentials',
]);

test('the token of a job opens what takes it: as its user in its own project, and nothing in others', async () => {
  const { sql } = ashlar.app.services.database;
  const { project } = walk.world.places;
  const [own, strange] = ['glcbt-of-the-samples', 'glcbt-of-another-project'];
  // Beside the journal, which would undo it.
  await sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await tx`insert into access_tokens (kind, digest, user_id, project_id, name, scopes, created_at, updated_at)
      select 'job', t.digest, u.id, t.project, 'job', '{}', now(), now() from users u, (values
        (${digest(own)}::bytea, ${project}::bigint),
        (${digest(strange)}::bytea, (select id from projects where path = 'elsewhere'))) t (digest, project)
      where u.username = 'the-owner'`;
  });
  await walk.enter('private');
  for (const route of walk.routes) {
    const { endpoint, title } = route;
    if (!endpoint || endpoint.ownCredential) continue;
    const said = await walk.askWith(route, { 'job-token': strange });
    const elsewhere = ofNoProject.has(title)
      ? 'yes'
      : endpoint.path.includes('/symbolfiles/')
        ? '403'
        : '404';
    expect([title, said]).toEqual([title, endpoint.jobToken ? elsewhere : '401']);
    if (!endpoint.jobToken) continue;
    const asOwner = title === 'GET /job' ? 'yes' : cellsOf.get(route)?.get(keyOf('private', 'owner'));
    expect([title, await walk.askWith(route, { 'job-token': own })]).toEqual([title, asOwner]);
  }
}, 600_000);

const order = ({ title, endpoint }: AccessCase): string =>
  endpoint ? `0 ${endpoint.path} ${title}` : title.startsWith('git') ? `1 ${title}` : `2 ${title}`;

function table(head: readonly string[], lines: readonly (readonly string[])[]): string {
  const width = head.map((_, column) =>
    Math.max(...[head, ...lines].map((line) => line[column]?.length ?? 0)),
  );
  const shown = [head, ...lines].map(
    (line) => `| ${line.map((text, column) => text.padEnd(width[column] ?? 0)).join(' | ')} |`,
  );
  shown.splice(1, 0, `|${width.map((length) => '-'.repeat(length + 2)).join('|')}|`);
  return shown.join('\n');
}

function render(routes: readonly AccessCase[]): string {
  const ordered = [...routes].sort((a, b) => (order(a) < order(b) ? -1 : 1));
  const said = (route: AccessCase, situation: Situation, caller: CallerName): string =>
    cellsOf.get(route)?.get(keyOf(situation, caller)) ?? '';
  const endpoints = ordered.flatMap((route) =>
    route.endpoint && route.title === titleOf(route.endpoint) ? [{ spec: route.endpoint }] : [],
  );
  const scopesOf = ({ scopes, jobToken }: Endpoint): string =>
    `${scopes.length > 6 ? 'any' : scopes.join(' ')}${jobToken ? ', jobs' : ''}`;
  const access = table(
    ['endpoint', 'access', 'scopes'],
    endpoints.map(({ spec }) => [
      titleOf(spec),
      `${spec.access.sentence.on}: ${spec.access.sentence.ability}`,
      scopesOf(spec),
    ]),
  );
  const whilePrivate = table(
    ['route', ...callers],
    ordered.map((route) => [route.title, ...callers.map((caller) => said(route, 'private', caller))]),
  );
  const others = situationNames
    .filter((name) => name !== 'private')
    .flatMap((situation) => situations[situation].who.map((caller) => ({ situation, caller })));
  const elsewhere = table(
    ['route', ...others.map(({ situation, caller }) => `${situation}: ${caller}`)],
    ordered
      .filter((route) => route.situations.length > 1)
      .map((route) => [
        route.title,
        ...others.map(({ situation, caller }) => said(route, situation, caller)),
      ]),
  );
  return `# What each route answers to whom

Written by \`UPDATE_GOLDEN=1\` from requests to the running program; a change of it is a change of who may do what. Each
request would succeed for the right caller. \`yes\`: it went through. 401: sign in first (pages lead there, 303). 403: refused.
404: does not exist for this caller. Others: the caller may, and something else is in the way. Empty: not tried, since it
is as elsewhere.

Roles are in the group. The author wrote what the requests are about, and is a Guest. The holder is the user whom paths
name, and a Developer through an invited group. The blocked one is an Owner otherwise. The bots are a Maintainer of the
project and an Owner of the group. Administrators are members of nothing.

## Endpoints

${access}

## On a private group and its project

${whilePrivate}

## Elsewhere

Internal, public and archived; \`members\` is public with its parts for members only; \`off\` is private with its parts turned
off.

${elsewhere}
`;
}
