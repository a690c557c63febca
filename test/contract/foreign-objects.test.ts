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
import {
  type FieldObject,
  fieldObjectsOf,
  objectOf,
  parametersOf,
  type SampleObject,
  uncovered,
} from '../support/samples.ts';
import { everything } from '../support/snapshot.ts';
import { makeWorld } from '../support/world.ts';

const ashlar = useApp();
let attacker: MadeUser;
let own: SampleIds;
/** The attacker's own objects that the foreign ones are named inside, by the path's parameters. */
let ownParents: (path: string) => Record<string, string | number>;
/** The other users' objects, all of them private, by the statement that finds them. */
const foreign = new Map<string, readonly string[]>();
let before: Record<string, string>;

const MISSING = 987_654_321;

beforeAll(async () => {
  await makeWorld(ashlar, 2);
  const { sql } = ashlar.app.services.database;
  await sql`update namespaces set visibility = 0 where kind = 'group'`;
  await sql`update projects set visibility = 0`;
  await sql`update snippets set visibility = 0`;
  for (const text of new Set(
    ashlar.app.endpoints.flatMap((spec) => attacks(spec).map((each) => each.text)),
  )) {
    const rows = await sql.unsafe<{ value: string }[]>(text);
    foreign.set(
      text,
      rows.map(({ value }) => value),
    );
  }
  attacker = await makeUser(ashlar);
  const group = await makeGroup(ashlar, { owner: attacker });
  const project = await makeProject(ashlar, { of: group });
  own = { user: attacker.id, group: group.id, project: project.id };
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

/** Objects without an owner. */
const everybodys = new Set(['GET /topics/:id']);

/** Parameters, behind the one that access is decided by, that could name another user's object, and how those are found. */
function attacks(spec: Endpoint): { name: string; text: string }[] {
  const { on, ability } = spec.access.sentence;
  if (on === 'instance' || ability.startsWith('administer') || everybodys.has(titleOf(spec))) return [];
  const ofField = (name: string) => fieldObjectsOf(name).flatMap((object) => object ?? []);
  const inPath = parametersOf(spec.path).flatMap(({ name, key }) => {
    const object = objectOf(key);
    const isNamed = typeof object === 'object' && ('value' in object || (object.column && !object.foreign));
    return object === undefined || isNamed ? [] : [{ name, objects: [object, ...ofField(name)] }];
  });
  const inBody = Object.keys(spec.input.properties)
    .filter((name) => !spec.path.includes(`:${name}`))
    .map((name) => ({ name, objects: ofField(name) }));
  return [...inPath, ...inBody].flatMap(({ name, objects }) =>
    objects.map((object) => ({ name, text: textOf(object) })),
  );
}

/** Selects all that a parameter can name; a condition is a field's own, and no noteable's. */
function textOf(object: SampleObject | Exclude<FieldObject, null>): string {
  if (typeof object === 'string') return `select distinct id::text as value from ${object}`;
  if ('value' in object) throw new Error(`${object.value} is no row`);
  const { table, column = 'id', where } = object;
  return `select distinct ${column}::text as value from ${table}${typeof where === 'string' ? ` where ${where}` : ''}`;
}

async function send(
  spec: Endpoint,
  name: string,
  given: string | number,
): Promise<{ status: number; text: string }> {
  const inPath = spec.path.includes(`:${name}`);
  const required = (spec.input.required ?? []).filter((each) => !spec.path.includes(`:${each}`));
  const fields = Object.entries<Schema>(spec.input.properties).filter(([each]) =>
    required.some((one) => one === each),
  );
  const types = [spec.input.properties[name] as Schema | undefined].flatMap((schema) => schema?.type ?? []);
  const value = types.includes('integer') ? Number(given) : types.includes('array') ? [given] : given;
  const body = {
    ...Object.fromEntries(fields.map(([each, schema]) => [each, plausible(schema)])),
    ...(!inPath && { [name]: value }),
  };
  const line = `${spec.method} /api/v4${addressOf(spec.path, own, { ...ownParents(spec.path), [name]: given })}`;
  const headers = { 'private-token': attacker.token, 'content-type': 'application/json' };
  const { status, text } = await sendRaw(ashlar.url, line, { headers, body: JSON.stringify(body) });
  return { status, text };
}

/** A value of the same kind that names nothing. */
function absent(value: string): string {
  if (/^[0-9a-f]{32,40}$/.test(value)) return 'e'.repeat(value.length);
  if (/^[0-9a-f-]{36}$/.test(value)) return value.replaceAll(/[0-9a-f]/g, 'e');
  if (/^\d+$/.test(value)) return String(MISSING);
  return value.includes('@') ? 'nobody@example.net' : 'no-such/thing';
}

test('the samples say of every parameter and id field which objects it can name', () => {
  expect(uncovered(ashlar.app.endpoints)).toEqual([]);
  expect([...foreign].filter(([, values]) => values.length === 0).map(([text]) => text)).toEqual([]);
});

test('what is somebody else’s is answered as what is not there', async () => {
  let tried = 0;
  const told: object[] = [];
  for (const spec of ashlar.app.endpoints) {
    for (const { name, text } of attacks(spec)) {
      for (const value of foreign.get(text) ?? []) {
        const missing = absent(value);
        const [found, expected] = [await send(spec, name, value), await send(spec, name, missing)];
        const same = found.status === expected.status && found.text === expected.text;
        // A filter of a list that finds nothing is none.
        const refused = found.status >= 400 && found.status < 500;
        if (!same || !(refused || spec.method === 'GET'))
          told.push({ endpoint: titleOf(spec), name, value, found, expected });
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
