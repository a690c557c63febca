/** Schemas of an OpenAPI document: plain JSON Schema, where large shared ones are written once. */
import type { TSchema } from 'typebox';

export type SchemaObject = { [keyword: string]: unknown };

export type SchemaShelf = {
  /** Announces a schema; one that is announced twice is shared. Call it for all before the first `place`. */
  announce(schema: TSchema, name: string): void;
  /** The schema for its place in the document, with references to shared parts. */
  place(schema: TSchema): SchemaObject;
  /** Writes a schema under this name; returns a reference. */
  keep(name: string, schema: SchemaObject): SchemaObject;
  /** Shared schemas by name. */
  components(): Record<string, SchemaObject>;
};

/** Characters of JSON; smaller schemas are easier to read where they are used. */
const SMALLEST_SHARED = 160;

/** The schemas of one document. A schema's `title` names it, else the first announcement. */
export function createSchemaShelf(): SchemaShelf {
  const seen = new Map<string, { name: string; uses: number }>();
  const taken = new Set<string>();
  const shared = new Map<string, SchemaObject>();

  const nameFor = (wanted: string): string => {
    for (let number = 1; ; number++) {
      const name = number === 1 ? wanted : `${wanted}${number}`;
      if (!taken.has(name)) return name;
    }
  };

  function count(node: SchemaObject, name: string): void {
    const text = shareable(node);
    const known = text === undefined ? undefined : seen.get(text);
    if (known) {
      known.uses += 1;
      if (known.uses === 2) {
        known.name = nameFor(known.name);
        taken.add(known.name);
      }
      return;
    }
    if (text !== undefined)
      seen.set(text, { name: typeof node.title === 'string' ? node.title : name, uses: 1 });
    mapParts(node, (part, key) => {
      count(part, key === undefined ? name : `${name}${pascal(key)}`);
      return part;
    });
  }

  function refer(node: SchemaObject): SchemaObject {
    const text = shareable(node);
    const known = text === undefined ? undefined : seen.get(text);
    if (!known || known.uses < 2) return mapParts(node, refer);
    if (!shared.has(known.name)) {
      // Reserves the name before its parts are visited, so that recursion ends.
      shared.set(known.name, {});
      shared.set(known.name, mapParts(node, refer));
    }
    return { $ref: `#/components/schemas/${known.name}` };
  }

  return {
    announce: (schema, name) => count(plain(schema), name),
    place: (schema) => refer(plain(schema)),
    keep(name, schema) {
      const own = nameFor(name);
      taken.add(own);
      shared.set(own, schema);
      return { $ref: `#/components/schemas/${own}` };
    },
    components: () => Object.fromEntries([...shared].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/** JSON Schema without keywords of our own. */
export const plain = (schema: TSchema): SchemaObject =>
  JSON.parse(JSON.stringify(schema), (key, value) => (ownWords.has(key) ? undefined : value));

const ownWords = new Set(['commaSeparated', 'ruled', 'together', 'contentTypes']);

/** The schema of accepted values: with the bounds that the decoder and its rules add. */
export const accepted = (schema: TSchema): TSchema =>
  JSON.parse(JSON.stringify(schema), (_, value) => (isRecord(value) ? bounded(value) : value));

function bounded({ ruled, ...node }: SchemaObject): SchemaObject {
  const isNumber = [node.type].flat().some((type) => type === 'integer' || type === 'number');
  const bounds = { minimum: -Number.MAX_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };
  const bound = {
    ...(isNumber && node.enum === undefined && bounds),
    ...node,
    ...(isRecord(ruled) && ruled),
  };
  const { items } = node;
  // Blank entries are dropped, which matters where one is required.
  const isTexts = isRecord(items) && items.type === 'string' && items.enum === undefined;
  if (!node.commaSeparated || !node.minItems || !isTexts) return bound;
  return { ...bound, items: { pattern: ENTRY, ...items } };
}

/** An entry of a list that may be sent as one text: not blank, and without a comma. */
const ENTRY = '^[^,]*[^,\\s][^,]*$';

const shareable = (node: SchemaObject): string | undefined => {
  if (node.properties === undefined) return undefined;
  const text = JSON.stringify(node);
  return text.length < SMALLEST_SHARED ? undefined : text;
};

type Change = (part: SchemaObject, key?: string) => SchemaObject;

/** The schema with its direct parts changed; `key` is the property's name. */
function mapParts(node: SchemaObject, change: Change): SchemaObject {
  const copy = { ...node };
  const { properties, items, additionalProperties, anyOf, oneOf } = node;
  if (isRecord(properties)) {
    copy.properties = Object.fromEntries(
      Object.entries(properties).map(([key, part]) => [key, isRecord(part) ? change(part, key) : part]),
    );
  }
  if (isRecord(items)) copy.items = change(items);
  if (isRecord(additionalProperties)) copy.additionalProperties = change(additionalProperties);
  if (Array.isArray(anyOf)) copy.anyOf = anyOf.map((part) => (isRecord(part) ? change(part) : part));
  if (Array.isArray(oneOf)) copy.oneOf = oneOf.map((part) => (isRecord(part) ? change(part) : part));
  return copy;
}

const isRecord = (value: unknown): value is SchemaObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** `feature_flags` → `FeatureFlags`. */
export const pascal = (text: string): string =>
  text.replaceAll(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, mail: string) => mail.toUpperCase());

type Described = {
  type?: string | string[];
  enum?: unknown[];
  format?: string;
  items?: TSchema;
  description?: string;
};

/**
 * For readers: the type as `integer`, `asc or desc`, `list of string`, `string or null`, and the description.
 */
export function inWords(schema: TSchema): { type: string; description: string | undefined } {
  const { type = 'any', enum: words, format, items, description } = schema as Described; // JSON Schema objects
  const named = (name: string): string => {
    if (name === 'string' && format !== undefined) return format === 'binary' ? 'file' : format;
    return name === 'array' && items ? `list of ${inWords(items).type}` : name;
  };
  return { type: (words?.map(String) ?? [type].flat().map(named)).join(' or '), description };
}
