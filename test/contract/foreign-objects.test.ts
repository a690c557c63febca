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
/** The attacker's own objects that the foreign ones are named inside, by the path's parameters. */
let ownParents: (path: string) => Record<string, string | number>;
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
    note_id: await ids('select id from notes'),
    award_id: await ids('select id from award_emoji'),
    discussion_id: (await sql<{ id: string }[]>`select distinct discussion_id as id from notes`).map(
      ({ id }) => id,
    ),
    issue_link_id: await ids('select id from issue_links'),
    metric_image_id: await ids('select id from metric_images'),
    timeline_event_id: await ids('select id from incident_timeline_events'),
    event_id: [
      ...(await ids('select id from resource_events')),
      ...(await sql<{ id: string }[]>`select event_id as id from error_events`).map(({ id }) => id),
    ],
    error_id: await ids('select id from errors'),
    integration_id: await ids('select id from alert_integrations'),
    upload_id: await ids('select id from uploads'),
    forked_from_id: [String(others.project), 'world/world'],
  };
  ownParents = await makeOwnParents({ group, project });
  // The first use of a token writes its row, and the first look at an alert its first note.
  await ashlar.as(attacker.token)(`GET /projects/${project.id}/alert_management_alerts/1/notes`);
  before = await everything(ashlar);
});

/** An issue, an epic, a snippet, an alert and an error of the attacker's, and a note on each that can have some. */
async function makeOwnParents(at: {
  group: { id: number };
  project: { id: number };
}): Promise<typeof ownParents> {
  const { sql } = ashlar.app.services.database;
  const [group, project, author] = [at.group.id, at.project.id, attacker.id];
  const one = async (text: string): Promise<number> => (await sql.unsafe<{ id: number }[]>(text))[0]?.id ?? 0;
  const times = 'now(), now()';
  const issue =
    await one(`insert into issues (iid, project_id, author_id, title, issue_type, relative_position, created_at, updated_at)
    values (1, ${project}, ${author}, 'own', 'incident', 0, ${times}) returning id`);
  const epic =
    await one(`insert into epics (iid, namespace_id, author_id, title, relative_position, created_at, updated_at)
    values (1, ${group}, ${author}, 'own', 0, ${times}) returning id`);
  const snippet =
    await one(`insert into snippets (project_id, author_id, title, visibility, ready, repository_storage, created_at, updated_at)
    values (${project}, ${author}, 'own', 0, true, 'default', ${times}) returning id`);
  const alert =
    await one(`insert into alerts (iid, project_id, kind, title, severity, started_at, payload, created_at, updated_at)
    values (1, ${project}, 'http', 'own', 'critical', now(), '{}', ${times}) returning id`);
  await sql.unsafe(`insert into error_tracking_settings (project_id, active, integrated, created_at, updated_at)
    values (${project}, true, true, ${times})`);
  const error =
    await one(`insert into errors (project_id, fingerprint, name, first_seen_at, last_seen_at, events_count, created_at, updated_at)
    values (${project}, '\\x01', 'own', now(), now(), 1, ${times}) returning id`);
  const noteOn = (column: string, id: number) =>
    one(`insert into notes (${column}, ${column === 'epic_id' ? 'namespace_id' : 'project_id'}, author_id, body, discussion_id, created_at, updated_at)
      values (${id}, ${column === 'epic_id' ? group : project}, ${author}, 'own', repeat('f', 40), ${times}) returning id`);
  const kinds = {
    issues: { noteable_id: 1, note_id: await noteOn('issue_id', issue) },
    epics: { noteable_id: epic, note_id: await noteOn('epic_id', epic) },
    snippets: { noteable_id: snippet, snippet_id: snippet, note_id: await noteOn('snippet_id', snippet) },
    alert_management_alerts: { noteable_id: 1, note_id: await noteOn('alert_id', alert) },
  };
  return (path) => {
    const kind = Object.entries(kinds).find(([name]) => path.includes(`/${name}/`));
    const award = path.includes('/epics/') && path.includes('/award_emoji') ? { noteable_id: 1 } : {};
    return { error_id: error, discussion_id: 'f'.repeat(40), ...kind?.[1], ...award };
  };
}

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
  // In a body, a mail address is a value and no object; issues are subscribed to by their number in the project.
  const isNumber = (name: string) => name === 'subscribable_id' && /\/(issues|epics)\//.test(spec.path);
  return [...inPath, ...inBody.filter((name) => name !== 'email')].filter(
    (name) => name in foreign && !isNumber(name),
  );
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
  const line = `${spec.method} /api/v4${addressOf(spec.path, own, { ...ownParents(spec.path), [name]: value })}`;
  const headers = { 'private-token': attacker.token, 'content-type': 'application/json' };
  const { status, text } = await sendRaw(ashlar.url, line, { headers, body: JSON.stringify(body) });
  return { status, text };
}

/** A value of the same kind that names nothing. */
function absent(value: string | number): string | number {
  if (typeof value === 'number') return MISSING;
  if (/^[0-9a-f]{32,40}$/.test(value)) return 'e'.repeat(value.length);
  if (/^\d+$/.test(value)) return MISSING;
  return value.includes('@') ? 'nobody@example.net' : 'no-such/thing';
}

/** Parameters that name nobody's object: what all may know, numbers within one's own project, and texts. */
const harmless =
  /^(user_id|iid|\w+_iid|noteable_id|eventable_id|name|key|sha|branch|tag|format|slug|filename|file_path|secret|provider|username|position|version|basehead|ref|tag_name|group|submodule)$/;

test('every parameter of a path behind its subject is attacked, or names nobody’s object', () => {
  const unknown = new Set<string>();
  for (const spec of ashlar.app.endpoints) {
    if (spec.access.sentence.on === 'instance' || spec.access.sentence.ability.startsWith('administer'))
      continue;
    for (const [, name = ''] of [...spec.path.matchAll(/:(\w+)/g)].slice(1))
      if (!(name in foreign) && !harmless.test(name)) unknown.add(`${name} of ${titleOf(spec)}`);
  }
  expect([...unknown]).toEqual([]);
  const empty = Object.entries(foreign).filter(([, values]) => values.length === 0);
  expect(empty.map(([name]) => name)).toEqual([]);
});

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
