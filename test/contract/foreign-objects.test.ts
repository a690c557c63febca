/**
 * Other users' objects, named inside a request about one's own: in the path behind the subject, or in the
 * body. Each gets the response of an object that does not exist, so that its existence is not disclosed, and
 * nothing changes (spec: Status codes, 404).
 */
import { beforeAll, expect, test } from 'vitest';
import type { Endpoint } from '../../src/kernel/api/endpoint.ts';
import { useApp } from '../support/app.ts';
import { addressOf, type SampleIds, titleOf } from '../support/inventory.ts';
import { sendRaw } from '../support/raw-http.ts';
import { type MadeUser, makeGroup, makeProject, makeUser } from '../support/rows.ts';
import { everything } from '../support/snapshot.ts';
import { makeWorld } from '../support/world.ts';

const ashlar = useApp();
let attacker: MadeUser;
let own: SampleIds;
/** By the name of a parameter: the other users' objects, all of them private. */
let foreign: Record<string, readonly (string | number)[]>;
let before: Record<string, string>;

const MISSING = 987_654_321;

beforeAll(async () => {
  const others = await makeWorld(ashlar, 2);
  const { sql } = ashlar.app.services.database;
  await sql`update namespaces set visibility = 0 where kind = 'group'`;
  await sql`update projects set visibility = 0`;
  await sql`update snippets set visibility = 0`;
  attacker = await makeUser(ashlar);
  const group = await makeGroup(ashlar, { owner: attacker });
  const project = await makeProject(ashlar, { of: group });
  own = { user: attacker.id, group: group.id, project: project.id };
  const ids = async (text: string): Promise<number[]> =>
    (await sql.unsafe<{ id: number }[]>(text)).map(({ id }) => id);
  const tokens = await ids(`select id from access_tokens where user_id <> ${attacker.id}`);
  foreign = {
    token_id: [...tokens, ...(await ids('select id from deploy_tokens'))],
    audit_event_id: await ids('select id from audit_events'),
    key_id: await ids(
      'select id from ssh_keys union select id from gpg_keys union select id from deploy_keys',
    ),
    email_id: await ids(`select id from emails where user_id <> ${attacker.id}`),
    id: tokens,
    snippet_id: await ids('select id from snippets'),
    milestone_id: await ids('select id from milestones'),
    badge_id: await ids('select id from badges'),
    label_id: await ids('select id from labels'),
    subscribable_id: await ids('select id from labels'),
    child_epic_id: await ids('select id from epics'),
    issue_id: await ids('select id from issues union select id from epic_issues'),
    related_epic_link_id: await ids('select id from related_epic_links'),
    target_group_id: [String(others.group)],
    feature_flag_name: ['person-1', 'person-2'],
    email: ['person-1@example.net'],
    group_id: [others.group],
    parent_id: [others.group],
    namespace_id: [others.group],
    namespace: [String(others.group), 'world'],
    namespace_path: ['world'],
    project_id: [others.project],
    forked_from_id: [String(others.project), 'world/world'],
  };
  await sql`insert into epics (iid, namespace_id, author_id, title, relative_position, created_at, updated_at)
    values (1, ${group.id}, ${attacker.id}, 'own', 0, now(), now())`;
  // The first use of a token writes its row.
  await ashlar.as(attacker.token)('GET /user');
  before = await everything(ashlar);
});

type Schema = { type?: string | string[]; enum?: unknown[]; items?: Schema };

/** A value that the declaration admits. */
function plausible({ type, enum: words, items }: Schema): unknown {
  if (words) return words[0];
  const [name] = [type ?? 'string'].flat();
  if (name === 'array') return [plausible(items ?? {})];
  if (name === 'integer') return 10;
  return name === 'boolean' ? true : 'plausible';
}

/** Names of parameters, behind the one that access is decided by, that could name another user's object. */
function namesOf(spec: Endpoint): string[] {
  const [first, ...rest] = [...spec.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  const startsWithSubject = /^\/(projects|groups|users|namespaces)\/:/.test(spec.path);
  const inPath = startsWithSubject ? rest : [...(first === undefined ? [] : [first]), ...rest];
  const inBody = Object.keys(spec.input.properties).filter(
    (name) => name !== first && !inPath.includes(name),
  );
  // In a body, a mail address is a value and no object.
  return [...inPath, ...inBody.filter((name) => name !== 'email')].filter((name) => name in foreign);
}

async function send(
  spec: Endpoint,
  name: string,
  value: string | number,
): Promise<{ status: number; text: string }> {
  const inPath = spec.path.includes(`:${name}`);
  const required = (spec.input.required ?? []).filter((each) => !spec.path.includes(`:${each}`));
  const fields = Object.entries<Schema>(spec.input.properties).filter(([each]) =>
    required.some((one) => one === each),
  );
  const body = {
    ...Object.fromEntries(fields.map(([each, schema]) => [each, plausible(schema)])),
    ...(!inPath && { [name]: value }),
  };
  const line = `${spec.method} /api/v4${addressOf(spec.path, own, { [name]: value })}`;
  const headers = { 'private-token': attacker.token, 'content-type': 'application/json' };
  const { status, text } = await sendRaw(ashlar.url, line, { headers, body: JSON.stringify(body) });
  return { status, text };
}

/** A value of the same kind that names nothing. */
function absent(value: string | number): string | number {
  if (typeof value === 'number' || /^\d+$/.test(value)) return MISSING;
  return value.includes('@') ? 'nobody@example.net' : 'no-such/thing';
}

/** Objects without an owner. */
const everybodys = new Set(['GET /topics/:id']);

test('what is somebody else’s is answered as what is not there', async () => {
  let tried = 0;
  const told: object[] = [];
  for (const spec of ashlar.app.endpoints) {
    const { on, ability } = spec.access.sentence;
    if (on === 'instance' || ability.startsWith('administer') || everybodys.has(titleOf(spec))) continue;
    for (const name of namesOf(spec)) {
      for (const value of foreign[name] ?? []) {
        const missing = absent(value);
        const [found, expected] = [await send(spec, name, value), await send(spec, name, missing)];
        const same = found.status === expected.status && found.text === expected.text;
        const refused = found.status >= 400 && found.status < 500;
        if (!same || !refused) told.push({ endpoint: titleOf(spec), name, value, found, expected });
        tried += 1;
      }
    }
  }
  expect(told).toEqual([]);
  expect(tried).toBeGreaterThan(50);
});

test('and nothing came of it', async () => {
  expect(await everything(ashlar)).toEqual(before);
});
