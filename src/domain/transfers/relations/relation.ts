/**
 * What of a project or group is moved in archives and from instance to instance: a relation is a file of lines there and a
 * table here. Whatever writes or reads one goes by this description alone.
 */

/** What a value is in a line. What names somebody or something else is resolved when it is read. */
export type Kind =
  | { of: 'text'; maximum: number; pattern?: RegExp }
  | { of: 'integer'; minimum: number; maximum: number }
  | { of: 'boolean' }
  | { of: 'time' }
  | { of: 'date' }
  | { of: 'choice'; values: readonly string[]; otherwise?: string }
  | { of: 'names'; maximum: number }
  /** A branch or tag: others go to git as they stand. */
  | { of: 'ref' }
  | { of: 'position' }
  /** Somebody, or the importer in their stead. */
  | { of: 'author' }
  /** Somebody who is known here; a required one takes the record with it, and says nothing. */
  | { of: 'user' }
  /** The user of a membership: an object with the id. */
  | { of: 'member' }
  | { of: 'label' }
  | { of: 'milestone' }
  /** An issue of the same project, by its number there. */
  | { of: 'issue' }
  | { of: 'merge_request' }
  | { of: 'epic' }
  /** Written alone: export-queries.ts knows how. */
  | { of: 'computed'; as: string };

export type Attribute = {
  /** In a line. */
  name: string;
  /** In the table; of what is computed there is none. */
  column: string;
  kind: Kind;
  /** A record without it is refused. */
  required?: true;
  /** Where a line has none. */
  otherwise?: string | number | boolean;
};

export type JsonObject = { [name: string]: unknown };
/** The columns of a row to be inserted. */
export type NewRow = Record<string, unknown>;

export type Relation = {
  name: string;
  table: string;
  /** The column that names the record around it; at the top that of the project or group. */
  parent?: string;
  /** The table names the project or group, too. */
  owned?: true;
  /** At the top, and its table names neither: it is between records that do. */
  between?: true;
  attributes: readonly Attribute[];
  /** Columns that are the same in all rows of the relation. */
  constants?: Readonly<Record<string, string | boolean>>;
  /** Rows that are not written; export-queries.ts knows how they are told. */
  without?: string;
  children?: readonly Relation[];
  /** One object, not a list: the newest. */
  single?: true;
  /** Others name its records by `iid`. */
  numbered?: 'issue' | 'merge_request' | 'epic' | 'milestone';
  /** The table has no column `id`, and its rows this order. */
  order?: string;
  /** It is read, and written as a part of another one. */
  readOnly?: true;
  /** What is there already stays: of two of the same key one is enough. */
  once?: true;
  /** Gives a line that others wrote the form of ours. */
  from?(line: JsonObject): JsonObject;
  /** What a row has besides, or instead; `owner` is the project or group. */
  complete?(row: NewRow, line: JsonObject, owner: number): void;
};

/** Characters of a description or a comment. */
const MAX_TEXT_LENGTH = 1_048_576;

export const text = (maximum = 255, pattern?: RegExp): Kind => ({
  of: 'text',
  maximum,
  ...(pattern && { pattern }),
});
export const longText: Kind = text(MAX_TEXT_LENGTH);
export const integer = (minimum = 0, maximum = 2_147_483_647): Kind => ({ of: 'integer', minimum, maximum });
export const ref: Kind = { of: 'ref' };
/** A number within a project or group: others follow it there, and find room. */
export const number: Kind = integer(1, 1_000_000_000);
export const boolean: Kind = { of: 'boolean' };
export const time: Kind = { of: 'time' };
export const date: Kind = { of: 'date' };
export const sha: Kind = text(64, /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/);
export const choice = (values: readonly string[], otherwise?: string): Kind => ({
  of: 'choice',
  values,
  ...(otherwise !== undefined && { otherwise }),
});

type More = Partial<Pick<Attribute, 'column' | 'required' | 'otherwise'>>;

/** An attribute whose column has its name, unless told. */
export const attribute = (name: string, kind: Kind, more: More = {}): Attribute => ({
  name,
  column: name,
  kind,
  ...more,
});
export const required = (name: string, kind: Kind, more: More = {}): Attribute =>
  attribute(name, kind, { ...more, required: true });

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The objects of a child relation in a line; undefined where there is something else. */
export function childrenIn(line: JsonObject, { name, single }: Relation): JsonObject[] | undefined {
  const value = line[name];
  if (value === undefined || value === null) return [];
  if (single && isObject(value)) return [value];
  return Array.isArray(value) && value.every(isObject) ? value : undefined;
}
