/** Operations → an OpenAPI 3.1 document, in an order that depends on the operations alone. */
import type { TObject, TSchema } from 'typebox';
import { createSchemaShelf, pascal, plain, type SchemaObject, type SchemaShelf } from './openapi-schemas.ts';
import type { Method } from './server.ts';

export type Operation = {
  method: Method;
  /** Below the server's address, with `:name` parameters. */
  path: string;
  summary: string;
  tag: string;
  deprecated: boolean;
  /** Path, query and body parameters together. */
  input: TObject;
  reply: { status: number; schema: TSchema; content: 'json' | 'file' | 'none'; headers: readonly string[] };
  /** Statuses of `DocumentParts.refusals`. */
  refusals: readonly number[];
  /** Names of `DocumentParts.securitySchemes`, each one enough; undefined for none needed. */
  security: readonly (string | undefined)[];
  extensions: Record<`x-${string}`, unknown>;
};

export type DocumentParts = {
  info: { title: string; version: string; description: string };
  server: string;
  tags: readonly { name: string; description?: string }[];
  securitySchemes: Record<string, SchemaObject>;
  /** Descriptions of response headers, by name. */
  headers: Record<string, string>;
  /** What a refusal means, by status; all have one shape of body. */
  refusals: Record<number, string>;
  operations: readonly Operation[];
};

const methodsWithBody = new Set<Method>(['POST', 'PUT', 'PATCH']);

/** `GET /projects/:id/members` → `getProjectsIdMembers`: unique, because method and path are; `/-/` counts as a word. */
export const operationId = (method: Method, path: string): string =>
  `${method.toLowerCase()}${pascal(path.replaceAll('/-/', '/dash/'))}`;

/** The document. Throws when two operations would get one id. */
export function openApiDocument(parts: DocumentParts): SchemaObject {
  const operations = [...parts.operations].sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
  const ids = new Set(operations.map(({ method, path }) => operationId(method, path)));
  if (ids.size !== operations.length) throw new Error('two operations have one id');

  const shelf = createSchemaShelf();
  // The place with the shortest path names a record best.
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
  const paths: Record<string, SchemaObject> = {};
  for (const operation of operations) {
    const path = operation.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] ??= {};
    paths[path][operation.method.toLowerCase()] = describeOperation(operation, shelf, shared.place);
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
      anyOf: [{ type: 'string' }, { type: 'object', additionalProperties: true }],
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
): SchemaObject {
  const { method, path } = operation;
  const parameters = describeParameters(operation, shelf);
  const fields = methodsWithBody.has(method) ? outsidePath(operation) : [];
  return {
    operationId: operationId(method, path),
    summary: operation.summary,
    tags: [operation.tag],
    ...(operation.deprecated && { deprecated: true }),
    security: operation.security.map((name) => (name === undefined ? {} : { [name]: [] })),
    ...(parameters.length > 0 && { parameters: parameters.map(place) }),
    ...(fields.length > 0 && { requestBody: describeBody(operation, fields, shelf) }),
    responses: describeResponses(operation, shelf),
    ...operation.extensions,
  };
}

/** Those of the path, and of the query where the method has no body. */
function describeParameters(operation: Operation, shelf: SchemaShelf): SchemaObject[] {
  const { method, path, input } = operation;
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => {
    const { description, ...schema } = plain(input.properties[name] ?? { type: 'string' });
    return { name, in: 'path', required: true, ...(description !== undefined && { description }), schema };
  });
  if (methodsWithBody.has(method)) return inPath;
  const required = new Set<string>(input.required ?? []);
  const inQuery = outsidePath(operation).map(([name, schema]) =>
    queryParameter(name, schema, required.has(name), shelf),
  );
  return [...inPath, ...inQuery];
}

const outsidePath = ({ input, path }: Operation): [string, TSchema][] =>
  Object.entries(input.properties).filter(([name]) => !isInPath(path, name));

/** A parameter that several operations have in the same words is written once. */
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
  const node = shelf.place(schema);
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

function describeBody(operation: Operation, fields: [string, TSchema][], shelf: SchemaShelf): SchemaObject {
  const required = new Set<string>(operation.input.required ?? []);
  const names = fields.map(([name]) => name).filter((name) => required.has(name));
  const body = {
    type: 'object',
    properties: Object.fromEntries(fields.map(([name, field]) => [name, shelf.place(field)])),
    ...(names.length > 0 && { required: names }),
  };
  const hasFile = fields.some(([, field]) => (field as { format?: string }).format === 'binary');
  const types = ['application/json', 'application/x-www-form-urlencoded'];
  // A file has no form in the other two; the rest of the fields does.
  const schema = shelf.keep(pascal(`${operationId(operation.method, operation.path)} body`), body);
  const all = hasFile ? ['multipart/form-data', ...types] : types;
  return {
    ...(names.length > 0 && { required: true }),
    content: Object.fromEntries(all.map((type) => [type, { schema }])),
  };
}

function describeResponses({ reply, refusals }: Operation, shelf: SchemaShelf): SchemaObject {
  const headers = Object.fromEntries(
    reply.headers.map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
  const content = {
    json: () => ({ 'application/json': { schema: shelf.place(reply.schema) } }),
    file: () => ({ 'application/octet-stream': {} }),
    none: () => undefined,
  }[reply.content]();
  return {
    [reply.status]: {
      description: content === undefined ? 'Done; no body.' : 'Done.',
      ...(reply.headers.length > 0 && { headers }),
      ...(content && { content }),
    },
    ...Object.fromEntries(
      refusals.map((status) => [String(status), { $ref: `#/components/responses/Refusal${status}` }]),
    ),
  };
}

/** `/projects/:id/feature_flags/:name` → `FeatureFlag`: what the last fixed part of the path lists. */
const recordName = (path: string): string => {
  const word = path.split('/').findLast((part) => part !== '' && !part.startsWith(':')) ?? 'Record';
  return pascal(word.replace(/ies$/, 'y').replace(/([^su])s$/, '$1'));
};
