/** The OpenAPI description of the API, from the endpoint inventory: nothing is written twice. */
import Type, { type TObject } from 'typebox';
import { type Operation, openApiDocument } from '../platform/http/openapi.ts';
import type { SchemaObject } from '../platform/http/openapi-schemas.ts';
import type { Capability } from './capability.ts';
import { bytes, type Endpoint, noContent } from './endpoint.ts';

const securitySchemes: Record<string, SchemaObject> = {
  privateToken: {
    type: 'apiKey',
    in: 'header',
    name: 'PRIVATE-TOKEN',
    description: 'A personal, project, group or impersonation access token.',
  },
  privateTokenQuery: { type: 'apiKey', in: 'query', name: 'private_token' },
  bearer: { type: 'http', scheme: 'bearer', description: 'An OAuth 2.0 access token, or one of the above.' },
  accessTokenQuery: { type: 'apiKey', in: 'query', name: 'access_token' },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: '_service_session',
    description: 'The session of the web pages; writes need the header `X-CSRF-Token` too.',
  },
  jobToken: { type: 'apiKey', in: 'header', name: 'JOB-TOKEN', description: 'The token of a CI job.' },
};
const everywhere = Object.keys(securitySchemes).filter((name) => name !== 'jobToken');

const pageHeaders = {
  'X-Page': 'Index of the page, starting at 1.',
  'X-Per-Page': 'Items per page.',
  'X-Prev-Page': 'Index of the page before; empty on the first.',
  'X-Next-Page': 'Index of the page after; empty on the last.',
  'X-Total': 'Items in all; absent when there are more than are counted.',
  'X-Total-Pages': 'Pages in all; absent with `X-Total`.',
  Link: 'The pages around this one: `prev`, `next`, `first`, `last`. Keyset pages have `next` only.',
};

const refusals = {
  400: 'A parameter is missing or invalid.',
  401: 'No valid credential.',
  403: 'Not allowed, or a scope that does not reach.',
  404: 'Not there, or not visible to the caller.',
  412: 'Changed since `If-Unmodified-Since`.',
  429: 'Too many requests; `Retry-After` says for how many seconds.',
};

const description =
  'Parameters are sent in the query, as JSON or as a form. Administrators with the scope `sudo` run any request as ' +
  'another user by the parameter or header `sudo`. Dates are ISO 8601 in UTC.';

/** The whole document; `version` is the API's. */
export const describeApi = (capabilities: readonly Capability[], version: string): SchemaObject =>
  openApiDocument({
    info: { title: 'Ashlar API', version, description },
    server: '/api/v4',
    tags: capabilities.filter(({ endpoints }) => endpoints.length > 0).map(({ name }) => ({ name })),
    securitySchemes,
    headers: pageHeaders,
    refusals,
    operations: capabilities.flatMap(({ name, endpoints }) =>
      endpoints.map((each) => toOperation(name, each)),
    ),
  });

function toOperation(tag: string, spec: Endpoint): Operation {
  const { method, path, access } = spec;
  const content = spec.reply === bytes ? 'file' : spec.reply === noContent ? 'none' : 'json';
  const has = (status: number): boolean => {
    if (status === 404) return path.includes(':');
    return status !== 412 || method === 'DELETE';
  };
  return {
    method,
    path,
    tag,
    summary: spec.summary,
    deprecated: spec.deprecated !== undefined,
    input: withReference(spec),
    reply: {
      status: spec.status,
      schema: spec.reply,
      content,
      headers: spec.page === undefined ? [] : Object.keys(pageHeaders),
    },
    refusals: Object.keys(refusals).map(Number).filter(has),
    security: [
      ...(access.anonymous ? [undefined] : []),
      ...everywhere,
      ...(spec.jobToken ? ['jobToken'] : []),
    ],
    extensions: {
      'x-required-ability': access.sentence,
      'x-scopes': spec.scopes,
      ...(spec.tier && { 'x-tier': spec.tier }),
      ...(spec.offering && { 'x-offering': spec.offering }),
      ...(spec.flag && { 'x-flag': spec.flag }),
      ...(spec.limit && { 'x-rate-limit': spec.limit }),
      ...(spec.deprecated && { 'x-use-instead': spec.deprecated.use }),
    },
  };
}

/** What names the subject of the access rule is looked up before the input is read, so no input declares it. */
function withReference({ access, path, input }: Endpoint): TObject {
  const { on } = access.sentence;
  const [, name = ''] = /:(\w+)/.exec(path) ?? [];
  if (name === '' || name in input.properties) return input;
  const text = {
    project: 'The number of the project, or its URL-encoded full path.',
    group: 'The number of the group, or its URL-encoded full path.',
    user: 'The number or the name of the user.',
  }[on as string];
  if (text === undefined) return input;
  const reference = Type.Unsafe({ type: ['integer', 'string'], description: text });
  return Type.Object({ ...input.properties, [name]: reference });
}
