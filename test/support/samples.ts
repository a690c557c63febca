/**
 * The samples of every resource, by which the contract tests walk the inventory of endpoints: a file `samples.ts` beside its
 * code, with one value `samples`. They are found by their name, and nothing of the program imports them.
 */
import { globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Endpoint } from '../../src/kernel/api/endpoint.ts';
import type { Call, TestApp } from './app.ts';
import { type SampleIds, titleOf } from './inventory.ts';

type Value = string | number | boolean | null | readonly Value[] | { readonly [name: string]: Value };
export type Fields = Readonly<Record<string, Value>>;

/** The rows that a parameter in a path names. A text is the table: then their ids, of the path's project, group or user. */
export type SampleObject =
  | string
  | {
      table: string | ((path: string) => string);
      /** The column that stands in the address, instead of the id. */
      column?: string | ((path: string) => string);
      /** The condition on the rows, instead of the path's project, group or user. */
      where?(places: SampleIds, path: string): string;
      /** The last row is the sample, instead of the first. */
      newest?: true;
      /** Another user's is attacked, though it is not an id. */
      foreign?: true;
    }
  /** What is no row, and nobody's. */
  | { value: string | number };

/** The rows that a field names, all of them; null for what everybody may know, and for what is no object. */
export type FieldObject = string | { table: string; column?: string; where?: string } | null;

/** The differences of a request from the values by the declaration, the samples and the parameters' names. */
export type Given = {
  /** Path parameters, and `user`, `group` or `project` for the path's subject. */
  at?: Readonly<Record<string, string | number>>;
  /** In the body, or in the query of a GET. */
  with?: Fields;
  /** A body that is no object. */
  body?: string;
  /** The field that is a file, and its name and content where it has to have some. */
  file?: string | readonly [field: string, name: string, content?: Buffer];
};

/** The world of the access matrix, for requests that name something in it. */
export type SampleWorld = SampleIds & {
  /** The instance's. */
  secretKey: string;
  userId(username: string): number;
  groupId(fullPath: string): number;
  projectId(fullPath: string): number;
  /** The id that a statement selects. */
  id(text: string): Promise<number>;
  /** The text that a statement selects. */
  text(statement: string): Promise<string>;
};

export type Samples = {
  /** Folders below src/domain whose rows these need. */
  after?: readonly string[];
  /**
   * SQL for the rows of the world: one for each `person`, a table of ids and usernames, of the project and of the group by
   * turns.
   */
  rows?(places: SampleIds, app: TestApp): string;
  /** Fills what SQL cannot, such as repositories; called when all rows are there. */
  fill?(app: TestApp, count: number, places: SampleIds): Promise<void>;
  /**
   * Rows that only the access matrix needs, since its callers differ in them: hidden, locked or of others; and free ones,
   * for requests that take some.
   */
  guardedRows?(places: SampleIds): string;
  /** The same where requests of an administrator make them. */
  guardedFill?(places: SampleIds, by: GuardedFill): Promise<void>;
  /** A row of a user's own that others' objects are named inside, by an attack. */
  ownRows?(places: SampleIds): string;
  /** By the parameter and the part of the path before it: `badges/:badge_id`. */
  objects?: Readonly<Record<string, SampleObject>>;
  /** The objects that fields with an id name: other users' are attacked. */
  fields?: Readonly<Record<string, FieldObject>>;
  /** Good requests where the usual values do not do; further ones behind a comma: `POST /topics, twice`. */
  requests?(world: SampleWorld): Readonly<Record<string, Given>> | Promise<Readonly<Record<string, Given>>>;
  /**
   * The query with which a list is as long as the others, or that nothing makes its records yet; `fixed`: it has what the
   * program has, and no statement reads it.
   */
  lists?: Readonly<Record<string, { query: string } | 'empty' | 'fixed'>>;
  /** What a DELETE removes, where it is not a row that its path names: parameters as SQL, and fields. */
  objectForDelete?(places: SampleIds): Readonly<Record<string, ForDelete>>;
};

/** The requests are an administrator's, and must succeed. */
export type GuardedFill = {
  app: TestApp;
  sql: TestApp['app']['services']['database']['sql'];
  call(...request: Parameters<Call>): Promise<void>;
  upload(method: 'POST' | 'PUT', path: string, field: string): Promise<void>;
};

type ForDelete = { at?: Readonly<Record<string, string>>; with?: Fields };

const domain = join(import.meta.dirname, '../../src/domain');

/** By folder below src/domain, each after those that it needs. */
export const samples: ReadonlyMap<string, Samples> = inOrder(
  new Map(
    await Promise.all(
      globSync('**/samples.ts', { cwd: domain })
        .sort()
        .map(async (file): Promise<[string, Samples]> => {
          const { samples } = (await import(join(domain, file))) as { samples: Samples };
          return [dirname(file), samples];
        }),
    ),
  ),
);

function inOrder(all: ReadonlyMap<string, Samples>): ReadonlyMap<string, Samples> {
  const ordered = new Map<string, Samples>();
  const add = (folder: string, needed: readonly string[]): void => {
    const found = all.get(folder);
    if (!found) throw new Error(`${needed.at(-1)}/samples.ts is after ${folder}, which has no samples.ts`);
    if (needed.includes(folder)) throw new Error(`samples after each other: ${needed.join(', ')}`);
    for (const each of found.after ?? []) if (!ordered.has(each)) add(each, [...needed, folder]);
    ordered.set(folder, found);
  };
  for (const folder of all.keys()) add(folder, []);
  return ordered;
}

const all = [...samples.values()];
const objects = new Map(all.flatMap((each) => Object.entries(each.objects ?? {})));
const fields = all.flatMap((each) => Object.entries(each.fields ?? {}));
const lists = new Map(all.flatMap((each) => Object.entries(each.lists ?? {})));

/** The rows that a parameter of a path names, by its key. */
export const objectOf = (key: string): SampleObject | undefined => objects.get(key);

/** What a field of this name names: of several kinds, where resources share the name. */
export const fieldObjectsOf = (field: string): readonly FieldObject[] =>
  fields.filter(([name]) => name === field).map(([, object]) => object);

/** The query of a list in the world, beside the page; empty, or it ends with `&`. */
export function queryInWorld(title: string): string {
  const list = lists.get(title);
  return typeof list === 'object' ? `${list.query}&` : '';
}

export const isEmptyList = (title: string): boolean => lists.get(title) === 'empty';
export const isFixedList = (title: string): boolean => lists.get(title) === 'fixed';

/** The parameters of a path behind its subject, with their keys in the samples. */
export function parametersOf(path: string): { name: string; key: string }[] {
  const parts = path.split('/').slice(1);
  const ofSubject = /^\/(users|groups|projects|namespaces)\/:\w+/.test(path);
  return parts.flatMap((part, at) => {
    const name = /:(\w+)/.exec(part)?.[1];
    if (name === undefined || (at === 1 && ofSubject)) return [];
    return [{ name, key: `${parts[at - 1]}/:${name}` }];
  });
}

/** Parameters and id fields of the endpoints that no sample covers, and the line that is missing. */
export function uncovered(endpoints: readonly Endpoint[]): string[] {
  const unknown = endpoints.flatMap((spec) => [
    ...parametersOf(spec.path)
      .filter(({ key }) => !objects.has(key))
      .map(({ key }) => `${titleOf(spec)}: objects: { '${key}': '<table>' } in its samples.ts`),
    ...Object.keys(spec.input.properties)
      .filter(
        (name) => /_ids?$/.test(name) && !spec.path.includes(`:${name}`) && fieldObjectsOf(name).length === 0,
      )
      .map((name) => `${titleOf(spec)}: fields: { ${name}: '<table>' } in its samples.ts`),
  ]);
  const keys = all.flatMap((each) => Object.keys(each.objects ?? {}));
  const twice = keys.filter((key, at) => keys.indexOf(key) !== at);
  return [...unknown, ...twice.map((key) => `${key}: in the samples of two resources`)];
}

/** What DELETEs remove that is no row of their path, by path. */
export const objectsForDelete = (places: SampleIds): ReadonlyMap<string, ForDelete> =>
  new Map([...samples.values()].flatMap((each) => Object.entries(each.objectForDelete?.(places) ?? {})));

/** The condition on rows of the path's subject. */
function ofSubject(path: string, { user, group, project }: SampleIds): string {
  if (path.startsWith('/projects/:')) return `project_id = ${project}`;
  if (path.startsWith('/groups/:')) return `namespace_id = ${group}`;
  return /^\/users?\//.test(path) ? `user_id = ${user}` : 'true';
}

/** A row, by its table and id, and the value in an address that names it. */
export type Named = { row: string; value: string };

/** What each path's parameters can name, the sample first. */
export type ObjectsByPath = ReadonlyMap<string, Readonly<Record<string, readonly Named[]>>>;

/** Looks up the objects that the endpoints' paths name, as they are in the database now. */
export async function findObjects(app: TestApp, places: SampleIds): Promise<ObjectsByPath> {
  const paths = [...new Set(app.app.endpoints.map(({ path }) => path))];
  const parameters = paths.flatMap((path) =>
    parametersOf(path).map(({ name, key }) => ({ path, name, text: statementOf(key, places, path) })),
  );
  const texts = [...new Set(parameters.map(({ text }) => text))];
  const columns = texts.map((text, at) => `array(${text}) as c${at}`);
  const [found = {}] = await app.app.services.database.sql.unsafe<Record<string, string[]>[]>(
    `select ${columns.join(',\n')}`,
  );
  const byText = new Map(texts.map((text, at) => [text, (found[`c${at}`] ?? []).map(namedBy)]));
  const byPath = Map.groupBy(parameters, ({ path }) => path);
  return new Map(
    paths.map((path) => [
      path,
      Object.fromEntries((byPath.get(path) ?? []).map(({ name, text }) => [name, byText.get(text) ?? []])),
    ]),
  );
}

/** Selects `table id value` for each row that the parameter can name. */
function statementOf(key: string, places: SampleIds, path: string): string {
  const object = objectOf(key);
  if (object === undefined) return `select '' where false`;
  if (typeof object === 'object' && 'value' in object) return `select '${key} - ${object.value}'`;
  const { table: named, column, where, newest } = typeof object === 'string' ? rowsOf(object) : object;
  const table = typeof named === 'function' ? named(path) : named;
  const condition = where?.(places, path) ?? ofSubject(path, places);
  const value = typeof column === 'function' ? column(path) : (column ?? 'id');
  return `select '${table} ' || id || ' ' || ${value} from ${table} where ${condition} order by id ${newest ? 'desc' : ''}`;
}

function namedBy(text: string): Named {
  const [table, id, ...value] = text.split(' ');
  return { row: `${table} ${id}`, value: value.join(' ') };
}

const rowsOf = (table: string): Exclude<SampleObject, string | { value: unknown }> => ({ table });
