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
  findObjects,
  objectOf,
  parametersOf,
  type SampleObject,
  samples,
  uncovered,
} from '../support/samples.ts';
import { everything } from '../support/snapshot.ts';
import { insertRows, makeWorld } from '../support/world.ts';

const ashlar = useApp();
let attacker: MadeUser;
let own: SampleIds;
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
  // No object of the attacker's has the id of another's of whatever kind.
  await sql.unsafe(`do $$ declare name text; begin
    for name in select table_name from information_schema.columns
      where table_schema = 'public' and column_name = 'id' and is_identity = 'YES'
    loop execute format('alter table %I alter id restart with 1000000', name); end loop; end $$`);
  attacker = await makeUser(ashlar);
  const group = await makeGroup(ashlar, { owner: attacker });
  const project = await makeProject(ashlar, { of: group });
  const places = { user: attacker.id, group: group.id, project: project.id };
  for (const [folder, { ownRows }] of samples) if (ownRows) await insertRows(ashlar, folder, ownRows(places));
  for (const { fill } of samples.values()) await fill?.(ashlar, 1, places);
  own = { ...places, objects: await findObjects(ashlar, places) };
  // The first use of a token writes its row, and the first look at an alert its first note.
  await ashlar.as(attacker.token)(`GET /projects/${project.id}/alert_management_alerts/1/notes`);
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

/** Objects without an owner. */
const everybodys = new Set(['GET /topics/:id', 'GET /broadcast_messages/:id']);

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
    objects.map((object) => ({ name, text: textOf(object, spec.path) })),
  );
}

/** Selects all that a parameter can name; a condition is a field's own, and no noteable's. */
function textOf(object: Exclude<SampleObject | FieldObject, null>, path: string): string {
  if (typeof object === 'string') return `select distinct id::text as value from ${object}`;
  if ('value' in object) throw new Error(`${object.value} is no row`);
  const { table, column, where } = object;
  return `select distinct ${typeof column === 'string' ? column : 'id'}::text as value from ${typeof table === 'function' ? table(path) : table}${typeof where === 'string' ? ` where ${where}` : ''}`;
}

type Answer = { status: number; text: string };

async function send(spec: Endpoint, name: string, given: string | number): Promise<Answer> {
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
  const line = `${spec.method} /api/v4${addressOf(spec.path, own, { [name]: given })}`;
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

/** A response may repeat what the request named. */
const isSame = (found: string, value: string, expected: string, missing: string): boolean =>
  found === expected || found === expected.replaceAll(missing, () => value);

test('the samples say of every parameter and id field which objects it can name', () => {
  expect(uncovered(ashlar.app.endpoints)).toEqual([]);
  expect([...foreign].filter(([, values]) => values.length === 0).map(([text]) => text)).toEqual([]);
  const outside = ashlar.app.endpoints.flatMap((spec) =>
    attacks(spec).flatMap(({ name }) => {
      const parameters = parametersOf(spec.path);
      const at = parameters.findIndex((each) => each.name === name);
      return (at === -1 ? parameters : parameters.slice(0, at))
        .filter((parent) => own.objects?.get(spec.path)?.[parent.name]?.length === 0)
        .map(({ key }) => `${titleOf(spec)}: ownRows for ${key} in its samples.ts`);
    }),
  );
  expect(outside).toEqual([]);
});

test('what is somebody else’s is answered as what is not there', async () => {
  let tried = 0;
  const told: object[] = [];
  for (const spec of ashlar.app.endpoints) {
    for (const { name, text } of attacks(spec)) {
      const answers = new Map<string, Answer>();
      for (const value of foreign.get(text) ?? []) {
        const missing = absent(value);
        const found = await send(spec, name, value);
        const expected = answers.get(missing) ?? (await send(spec, name, missing));
        answers.set(missing, expected);
        const same = found.status === expected.status && isSame(found.text, value, expected.text, missing);
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
