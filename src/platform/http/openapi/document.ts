/** Operations → an OpenAPI 3.1 document, whose order depends on the operations alone. */
import type { TObject, TSchema } from 'typebox';
import { describeParameterRules, parameterRuleKeywords } from '../parameters/rules.ts';
import { parameterRulesOf } from '../parameters/schema.ts';
import type { Method } from '../server/server.ts';
import { createLinks } from './links.ts';
import type { Operation } from './operation.ts';
import {
  accepted,
  createSchemaShelf,
  pascal,
  plain,
  type SchemaObject,
  type SchemaShelf,
} from './schemas.ts';

export type DocumentSource = {
  info: { title: string; version: string; description: string };
  server: string;
  tags: readonly { name: string; description?: string }[];
  securitySchemes: Record<string, SchemaObject>;
  /** Descriptions of response headers, by name. */
  headers: Record<string, string>;
  /** Descriptions of refusals by status; all have the same body. */
  refusals: Record<number, string>;
  operations: readonly Operation[];
};

const methodsWithBody = new Set<Method>(['POST', 'PUT', 'PATCH']);

/** `GET /projects/:id/members` → `getProjectsIdMembers`: unique, because method and path are; `/-/` counts as a word. */
export const operationId = (method: Method, path: string): string =>
  `${method.toLowerCase()}${pascal(path.replaceAll('/-/', '/dash/'))}`;

/** The document. Throws when two operations have the same id. */
export function openApiDocument(parts: DocumentSource): SchemaObject {
  const operations = [...parts.operations]
    .sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1))
    // From here on the input is used as JSON Schema alone.
    .map((operation) => ({ ...operation, input: accepted(operation.input) as TObject }));
  const ids = new Set(operations.map(({ method, path }) => operationId(method, path)));
  if (ids.size !== operations.length) throw new Error('two operations have one id');

  const shelf = createSchemaShelf();
  // The operation with the shortest path names a record best.
  const shortestFirst = [...operations].sort((a, b) => a.path.split('/').length - b.path.split('/').length);
  for (const { reply, path } of shortestFirst) {
    if (reply.content === 'json') shelf.announce(reply.schema, recordName(path));
  }
  for (const { input, method, path } of shortestFirst) {
    for (const [name, schema] of Object.entries(input.properties)) {
      if (!isInPath(path, name)) shelf.announce(schema, pascal(`${operationId(method, path)} ${name}`));
    }
  }

  const shared = shareParameters(operations, shelf);
  const linksOf = createLinks(operations, ({ method, path }) => operationId(method, path));
  const paths: Record<string, SchemaObject> = {};
  for (const operation of operations) {
    const path = operation.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] ??= {};
    paths[path][operation.method.toLowerCase()] = describeOperation(operation, shelf, shared.place, linksOf);
  }
  return {
    openapi: '3.1.0',
    info: parts.info,
    servers: [{ url: parts.server }],
    tags: parts.tags,
    paths,
    components: {
      schemas: { ...shelf.components(), Refusal: refusal },
      parameters: shared.components(),
      responses: Object.fromEntries(
        Object.entries(parts.refusals).map(([status, description]) => [
          `Refusal${status}`,
          {
            description,
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Refusal' } } },
          },
        ]),
      ),
      headers: Object.fromEntries(
        Object.entries(parts.headers).map(([name, description]) => [
          name,
          { description, schema: { type: 'string' } },
        ]),
      ),
      securitySchemes: parts.securitySchemes,
    },
  };
}

const sortKey = ({ path, method }: Operation): string => `${path} ${method}`;

const refusal = {
  type: 'object',
  properties: {
    message: {
      description: 'Text, or messages by property.',
      anyOf: [
        { type: 'string' },
        { type: 'array', items: { type: 'string' } },
        { type: 'object', additionalProperties: true },
      ],
    },
    error: { type: 'string' },
    error_description: { type: 'string' },
    scope: { type: 'string' },
  },
  required: ['message'],
};

function describeOperation(
  operation: Operation,
  shelf: SchemaShelf,
  place: (parameter: SchemaObject) => SchemaObject,
  linksOf: (operation: Operation) => Record<string, SchemaObject>,
): SchemaObject {
  const { method, path } = operation;
  const parameters = describeParameters(operation, shelf);
  const fields = methodsWithBody.has(method) ? outsidePath(operation) : [];
  return {
    operationId: operationId(method, path),
    summary: operation.summary,
    ...(!methodsWithBody.has(method) && inWords(operation)),
    tags: [operation.tag],
    ...(operation.deprecated && { deprecated: true }),
    security: operation.security.map((name) => (name === undefined ? {} : { [name]: [] })),
    ...(parameters.length > 0 && { parameters: parameters.map(place) }),
    ...(fields.length > 0 && { requestBody: describeBody(operation, fields, shelf) }),
    responses: describeResponses(operation, shelf, linksOf(operation)),
    ...operation.extensions,
  };
}

/** Describes rules of query parameters, since a query has no schema as a whole. */
function inWords({ input }: Operation): { description?: string } {
  const { together } = parameterRulesOf(input);
  return together === undefined ? {} : { description: describeParameterRules(together).join(' ') };
}

/** Parameters of the path, and of the query where the method has no body. */
function describeParameters(operation: Operation, shelf: SchemaShelf): SchemaObject[] {
  const { method, path, input } = operation;
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => {
    const { description, ...schema } = segment(plain(input.properties[name] ?? { type: 'string' }));
    return { name, in: 'path', required: true, ...(description !== undefined && { description }), schema };
  });
  if (methodsWithBody.has(method)) return inPath;
  const required = new Set<string>(input.required ?? []);
  const inQuery = outsidePath(operation).map(([name, schema]) =>
    queryParameter(name, schema, required.has(name), shelf),
  );
  return [...inPath, ...inQuery];
}

/** A path segment is never empty. */
const segment = (schema: SchemaObject): SchemaObject =>
  [schema.type].flat().includes('string') && schema.enum === undefined ? { minLength: 1, ...schema } : schema;

const outsidePath = ({ input, path }: Operation): [string, TSchema][] =>
  Object.entries(input.properties).filter(([name]) => !isInPath(path, name));

/** Writes a parameter that is equal in several operations once. */
function shareParameters(operations: readonly Operation[], shelf: SchemaShelf) {
  const uses = new Map<string, number>();
  for (const operation of operations) {
    for (const parameter of describeParameters(operation, shelf)) {
      const text = JSON.stringify(parameter);
      uses.set(text, (uses.get(text) ?? 0) + 1);
    }
  }
  const names = new Map<string, string>();
  const components: Record<string, SchemaObject> = {};
  return {
    place(parameter: SchemaObject): SchemaObject {
      const text = JSON.stringify(parameter);
      if ((uses.get(text) ?? 0) < 2) return parameter;
      const known = names.get(text) ?? freeName(components, pascal(`${parameter.in} ${parameter.name}`));
      names.set(text, known);
      components[known] = parameter;
      return { $ref: `#/components/parameters/${known}` };
    },
    components: () => components,
  };
}

const freeName = (taken: Record<string, unknown>, wanted: string): string => {
  for (let number = 1; ; number++) {
    const name = number === 1 ? wanted : `${wanted}${number}`;
    if (!(name in taken)) return name;
  }
};

const isInPath = (path: string, name: string): boolean => path.split('/').includes(`:${name}`);

/** `name[]=1&name[]=2`, `name=1,2` where commas are read, and `name[key]=value` (spec: General request rules, 3). */
function queryParameter(name: string, schema: TSchema, required: boolean, shelf: SchemaShelf): SchemaObject {
  const { type, commaSeparated } = schema as { type?: unknown; commaSeparated?: boolean }; // JSON Schema objects
  const types = [type].flat();
  const node = withoutNull(shelf.place(schema));
  // An empty list has no form in a query.
  if (required && types.includes('array')) node.minItems ??= 1;
  const { description, ...rest } = node;
  const about = {
    ...(description !== undefined && { description }),
    ...(required && { required: true }),
    schema: rest,
  };
  if (types.includes('object')) return { name, in: 'query', style: 'deepObject', explode: true, ...about };
  if (!types.includes('array')) return { name, in: 'query', ...about };
  if (commaSeparated) return { name, in: 'query', style: 'form', explode: false, ...about };
  return { name: `${name}[]`, in: 'query', style: 'form', explode: true, ...about };
}

/** Null exists only in JSON: a query omits the parameter. */
function withoutNull(schema: SchemaObject): SchemaObject {
  if (!Array.isArray(schema.type)) return schema;
  const types = schema.type.filter((type) => type !== 'null');
  const words = Array.isArray(schema.enum) && { enum: schema.enum.filter((word) => word !== null) };
  return { ...schema, type: types.length === 1 ? types[0] : types, ...words };
}

/** JSON unless a file is required; a form where it can carry every field; multipart where there is a file. */
function describeBody(operation: Operation, fields: [string, TSchema][], shelf: SchemaShelf): SchemaObject {
  const required = new Set<string>(operation.input.required ?? []);
  const name = pascal(`${operationId(operation.method, operation.path)} body`);
  const files = fields.filter(([, field]) => isFile(field));
  const others = fields.filter(([, field]) => !isFile(field));
  const flat = others.filter(([, field]) => isFlat(field));
  const describe = (some: [string, TSchema][], title: string, change = (schema: SchemaObject) => schema) =>
    shelf.keep(title, {
      type: 'object',
      properties: Object.fromEntries(some.map(([key, field]) => [key, change(shelf.place(field))])),
      ...requiredOf(some, required),
      ...parameterRuleKeywords(parameterRulesOf(operation.input).together ?? []),
    });
  const content: Record<string, SchemaObject> = {};
  if (files.length > 0)
    content['multipart/form-data'] = {
      schema: describe([...files, ...flat], `${name}Parts`, withoutNull),
      ...encodingOf(files),
    };
  if (!files.some(([key]) => required.has(key))) {
    const schema = describe(others, name);
    content['application/json'] = { schema };
    if (others.every(([, field]) => isFlat(field) && !isNullable(field)))
      content['application/x-www-form-urlencoded'] = { schema };
  }
  return { ...(fields.some(([key]) => required.has(key)) && { required: true }), content };
}

/** Accepted types of files, where they are restricted. */
const encodingOf = (files: [string, TSchema][]): { encoding?: SchemaObject } => {
  const typed = files.flatMap(([name, field]) => {
    const { contentTypes } = field as { contentTypes?: readonly string[] }; // as file() was told
    return contentTypes ? [[name, { contentType: contentTypes.join(', ') }]] : [];
  });
  return typed.length > 0 ? { encoding: Object.fromEntries(typed) } : {};
};

const requiredOf = (fields: [string, TSchema][], required: Set<string>): { required?: string[] } => {
  const names = fields.map(([name]) => name).filter((name) => required.has(name));
  return names.length > 0 ? { required: names } : {};
};

const isFile = (field: TSchema): boolean => (field as { format?: string }).format === 'binary';

const typesOf = (field: TSchema): unknown[] => [(field as { type?: unknown }).type].flat();

const isNullable = (field: TSchema): boolean => typesOf(field).includes('null');

/** Whether the value is one text. */
const isFlat = (field: TSchema): boolean =>
  typesOf(field).every((type) => type !== undefined && type !== 'array' && type !== 'object');

function describeResponses(
  { reply, refusals }: Operation,
  shelf: SchemaShelf,
  links: Record<string, SchemaObject>,
): SchemaObject {
  const { statuses, content: kind } = reply;
  const headers = Object.fromEntries(
    reply.headers.map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
  const content = contentOf(kind, () => shelf.place(reply.schema));
  const success = (status: number): SchemaObject => {
    const isEmpty = content === undefined || bodiless.has(status);
    return {
      description: bodiless.get(status) ?? (isEmpty ? 'Done; no body.' : 'Done.'),
      ...(reply.headers.length > 0 && { headers }),
      ...(!isEmpty && { content }),
      ...(status === 201 && Object.keys(links).length > 0 && { links }),
    };
  };
  return {
    ...Object.fromEntries(statuses.map((status) => [String(status), success(status)])),
    ...Object.fromEntries(
      refusals.map((status) => [String(status), { $ref: `#/components/responses/Refusal${status}` }]),
    ),
  };
}

const bodiless = new Map([
  [204, 'Done; no body.'],
  [304, 'As it was; no body.'],
]);

function contentOf(kind: Operation['reply']['content'], schema: () => SchemaObject) {
  if (kind === 'none') return undefined;
  if (kind === 'json') return { 'application/json': { schema: schema() } };
  return Object.fromEntries(kind.map((type) => [type, {}]));
}

/** `/projects/:id/feature_flags/:name` → `FeatureFlag`: the singular of the last fixed segment. */
const recordName = (path: string): string => {
  const word = path.split('/').findLast((part) => part !== '' && !part.startsWith(':')) ?? 'Record';
  return pascal(word.replace(/ies$/, 'y').replace(/([^su])s$/, '$1'));
};
