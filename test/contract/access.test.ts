/**
 * Every endpoint attacked by default: as nobody, an outsider, with a wrong scope and with each role, on a private group and
 * its project (spec: Status codes, 401, 403 and 404). Bodies are malformed, so that what is allowed ends at the 400 behind
 * the access rule and changes nothing; this also holds the order of answers: 401, then 404 or 403, then 400.
 */
import { beforeAll, expect, test } from 'vitest';
import { groupPolicy, projectPolicy, type Rule } from '../../src/core/access/policy.ts';
import type { Endpoint } from '../../src/core/endpoint.ts';
import { featureDefinitions } from '../../src/core/settings/features.ts';
import { digest } from '../../src/platform/secret.ts';
import { ROOT_TOKEN, useApp } from '../support/app.ts';
import { addressOf, expectGolden, forEachOf, type Places, titleOf } from '../support/inventory.ts';
import { sendRaw } from '../support/raw-http.ts';
import { makeGroup, makeMember, makeProject, makeUser } from '../support/rows.ts';
import { everything } from '../support/snapshot.ts';

const ashlar = useApp();

const roles = { guest: 10, reporter: 20, developer: 30, maintainer: 40, owner: 50 };
const personas = [
  'anonymous',
  'outsider',
  'guest',
  'reporter',
  'developer',
  'maintainer',
  'owner',
  'admin',
] as const;
type Persona = (typeof personas)[number];
/** `yes`: the access rule let the request through. */
type Result = 'yes' | '401' | '403' | '404' | `${number}`;
type Row = Record<Persona, Result>;

const tokens = new Map<Persona, string>([['admin', ROOT_TOKEN]]);
let places: Places;
const WRONG_SCOPE = 'glpat-of-root-for-repositories-only';

beforeAll(async () => {
  const { db } = ashlar.app.services.database;
  const owner = await makeUser(ashlar);
  tokens.set('owner', owner.token);
  const group = await makeGroup(ashlar, { owner });
  const project = await makeProject(ashlar, { of: group });
  for (const persona of personas) {
    if (tokens.has(persona) || persona === 'anonymous') continue;
    const user = await makeUser(ashlar);
    tokens.set(persona, user.token);
    const level = Object.entries(roles).find(([name]) => name === persona)?.[1];
    if (level !== undefined) await makeMember(ashlar, { namespace_id: group.id }, user, level);
  }
  const target = await makeUser(ashlar);
  places = { user: target.id, group: group.id, project: project.id };
  const time = { created_at: new Date(), updated_at: new Date() };
  const row = { kind: 'personal', user_id: 1, name: 'wrong', scopes: ['read_repository'] };
  await db
    .insertInto('access_tokens')
    .values({ ...row, digest: digest(WRONG_SCOPE), ...time })
    .execute();
  const snippet = { author_id: owner.id, title: 'first', visibility: 0, repository_storage: 'default' };
  await db
    .insertInto('snippets')
    .values({ ...snippet, ready: true, ...time })
    .execute();
  for (const name of Object.keys(featureDefinitions)) {
    await db.insertInto('feature_gates').values({ name, value: 'true', updated_at: new Date() }).execute();
  }
  ashlar.app.services.features.forget();
});

/** The answer's status, and whether the access rule was passed. */
async function call(
  spec: Endpoint,
  token: string | undefined,
  body: string,
): Promise<{ status: number; text: string }> {
  const headers = {
    'content-type': 'application/json',
    ...(token !== undefined && { 'private-token': token }),
  };
  return sendRaw(ashlar.url, `${spec.method} /api/v4${addressOf(spec.path, places)}`, { headers, body });
}

const MALFORMED = '{"';

async function attack(spec: Endpoint, token: string | undefined): Promise<Result> {
  const { status, text } = await call(spec, token, MALFORMED);
  if (status === 400 && text.includes('malformed JSON')) return 'yes';
  // A body that is taken as it comes is no JSON at all.
  if (status === 400 && spec.stream && text.includes('file is missing')) return 'yes';
  // Refused whatever is wrong with the body: what is right with it must not matter either.
  if (spec.method !== 'GET')
    expect([titleOf(spec), (await call(spec, token, '{}')).status]).toEqual([titleOf(spec), status]);
  return `${status}`;
}

const row = (results: (persona: Persona) => Result): Row =>
  Object.fromEntries(personas.map((persona) => [persona, results(persona)])) as Row;

const signedIn = row((persona) => (persona === 'anonymous' ? '401' : 'yes'));
const administrators = row((persona) =>
  persona === 'anonymous' ? '401' : persona === 'admin' ? 'yes' : '403',
);

/** Abilities that are in no table of policy.ts, and what each persona is told; the user is somebody else. */
const exceptions: Record<string, Row> = {
  read_snippet: row((persona) => (persona === 'owner' || persona === 'admin' ? 'yes' : '404')),
  manage_snippet: row((persona) =>
    persona === 'anonymous' ? '401' : persona === 'owner' || persona === 'admin' ? 'yes' : '404',
  ),
  read_user: row(() => 'yes'),
  follow_user: signedIn,
  manage_own_user: administrators,
  administer_user: administrators,
  administer_custom_attributes: administrators,
};

/** What the access sentence promises, on private objects. */
function promised({ access }: Endpoint): Row {
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
    if (persona === 'anonymous') return access.anonymous ? '404' : '401';
    if (persona === 'outsider') return '404';
    if (persona === 'admin' || rule.visible !== undefined) return 'yes';
    return roles[persona] >= rule.least ? 'yes' : '403';
  });
}

test('every endpoint keeps its promise to everybody, and a refused request changes nothing', async () => {
  const before = await everything(ashlar);
  const matrix = new Map<Endpoint, Row>();
  await forEachOf(ashlar.app.endpoints, 6, async (spec) => {
    const results: [Persona, Result][] = [];
    for (const persona of personas) results.push([persona, await attack(spec, tokens.get(persona))]);
    matrix.set(spec, Object.fromEntries(results) as Row);
  });
  expect(await everything(ashlar)).toEqual(before);
  const ordered = [...matrix].sort(([a], [b]) => (order(a) < order(b) ? -1 : 1));
  const broken = ordered.filter(
    ([spec, results]) => JSON.stringify(promised(spec)) !== JSON.stringify(results),
  );
  expect(
    broken.map(([spec, results]) => ({ endpoint: titleOf(spec), promised: promised(spec), results })),
  ).toEqual([]);
  expectGolden('access-matrix.golden.md', render(ordered));
}, 120_000);

test('a token without the scope is refused on every endpoint, a public one too, and told which scopes would do', async () => {
  await forEachOf(ashlar.app.endpoints, 6, async (spec) => {
    if (spec.scopes.includes('read_repository')) return;
    const { status, text } = await call(spec, WRONG_SCOPE, MALFORMED);
    expect([titleOf(spec), status]).toEqual([titleOf(spec), 403]);
    expect(JSON.parse(text)).toMatchObject({ error: 'insufficient_scope', scope: spec.scopes.join(' ') });
  });
});

test('a credential that is none is refused on every endpoint, a public one too', async () => {
  await forEachOf(ashlar.app.endpoints, 6, async (spec) => {
    const { status, text } = await call(spec, 'glpat-unknown', MALFORMED);
    expect([titleOf(spec), status]).toEqual([titleOf(spec), 401]);
    expect(JSON.parse(text)).toEqual({ message: '401 Unauthorized' });
  });
});

const order = ({ method, path }: Endpoint): string => `${path} ${method}`;

function render(rows: [Endpoint, Row][]): string {
  const cells = [
    ['endpoint', 'access', 'scopes', ...personas],
    ...rows.map(([spec, results]) => {
      const { on, ability } = spec.access.sentence;
      const scopes = spec.scopes.length > 6 ? 'any' : spec.scopes.join(' ');
      return [titleOf(spec), `${on}: ${ability}`, scopes, ...personas.map((persona) => results[persona])];
    }),
  ];
  const widths = personas.length + 3;
  const width = Array.from({ length: widths }, (_, column) =>
    Math.max(...cells.map((line) => line[column]?.length ?? 0)),
  );
  const lines = cells.map(
    (line) => `| ${line.map((text, column) => text.padEnd(width[column] ?? 0)).join(' | ')} |`,
  );
  lines.splice(1, 0, `|${width.map((length) => '-'.repeat(length + 2)).join('|')}|`);
  return `# What each endpoint answers to whom

Written by \`UPDATE_GOLDEN=1\` from requests to the running program; a change of it is a change of who may do what.
Projects and groups are private, roles are in the group, users are somebody else. \`yes\`: the access rule lets the caller
through, and the action may still have rules of its own. 401: sign in first. 403: refused. 404: does not exist for this
caller.

${lines.join('\n')}
`;
}
