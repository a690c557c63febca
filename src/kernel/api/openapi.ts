/** The OpenAPI description of the API, generated from the endpoints. */
import Type, { type TObject } from 'typebox';
import { openApiDocument } from '../../platform/http/openapi/document.ts';
import type { Operation } from '../../platform/http/openapi/operation.ts';
import type { SchemaObject } from '../../platform/http/openapi/schemas.ts';
import { parameterRulesOf } from '../../platform/http/parameters/schema.ts';
import type { Capability } from '../capability.ts';
import { contentTypesOf, type Endpoint, noContent } from './endpoint.ts';

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
  Link: 'The pages around this one: `prev`, `next`, `first`, `last`. Keyset pages have `next` only. A deprecated endpoint has `deprecation`, the place where that is written.',
};

const deprecation = {
  Deprecation: 'Since when it is deprecated, as seconds since 1970 behind an `@` (RFC 9745).',
};

const refusals = {
  400: 'A parameter is missing or invalid.',
  401: 'No valid credential.',
  403: 'Not allowed, or a scope that does not reach.',
  404: 'Not there, or not visible to the caller.',
  405: 'Not with these parameters, or not on this object.',
  406: 'Not in the state that the object has.',
  408: 'The database took too long.',
  409: 'There is one already, or something else is in the way.',
  410: 'Not any more: the settings of the instance forbid it.',
  416: 'What was sent does not begin where the last part ended.',
  412: 'Changed since `If-Unmodified-Since`.',
  413: 'The body is too large.',
  414: 'The address with its query is too long: parameters go into a body of JSON on every method.',
  415: 'No endpoint reads bodies of this type.',
  422: 'Understood, and not possible.',
  423: 'Somebody else holds the lock.',
  429: 'Too many requests; `Retry-After` says for how many seconds.',
  501: 'Nothing stands behind it.',
  503: 'Not now: too much at once, maintenance, or the disk is full.',
};
/** Refusals that an endpoint declares itself. */
const ownRefusals = new Set([405, 406, 408, 409, 410, 412, 416, 422, 423, 501]);

const description =
  'Parameters are sent in the query, as JSON or as a form. Administrators with the scope `sudo` run any request as ' +
  'another user by the parameter or header `sudo`. Dates are ISO 8601 in UTC. A form and a query hold lists as `name[]=` ' +
  'and objects as `name[key]=`. Parameters that an endpoint does not know are not looked at, but nowhere is there a NUL ' +
  'byte in a text, a number past 2^53, or JSON nested deeper than 100 levels.';

/** The document; `version` is the API's. */
export const describeApi = (capabilities: readonly Capability[], version: string): SchemaObject =>
  openApiDocument({
    info: { title: 'Ashlar API', version, description },
    server: '/api/v4',
    tags: capabilities.filter(({ endpoints }) => endpoints.length > 0).map(({ name }) => ({ name })),
    securitySchemes,
    headers: { ...pageHeaders, ...deprecation },
    refusals,
    operations: capabilities.flatMap(({ name, endpoints }) =>
      endpoints.map((each) => toOperation(name, each)),
    ),
  });

/** The statuses of an endpoint, successes first. */
export const statusesOf = (spec: Endpoint): readonly number[] => [...successesOf(spec), ...refusalsOf(spec)];

const successesOf = ({ status, also }: Endpoint): readonly number[] => [
  ...new Set([status, ...also.filter((other) => other < 400)]),
];

function refusalsOf({ method, also, access }: Endpoint): readonly number[] {
  const own = new Set<number>(also);
  if (method === 'DELETE') own.add(412);
  // A moved project is read at its new address, and only written there.
  if (method !== 'GET' && access.sentence.on === 'project') own.add(405);
  return Object.keys(refusals)
    .map(Number)
    .filter((status) => !ownRefusals.has(status) || own.has(status));
}

function toOperation(tag: string, spec: Endpoint): Operation {
  const { method, path, access } = spec;
  return {
    method,
    path,
    tag,
    summary: spec.summary,
    deprecated: spec.deprecated !== undefined,
    input: withReference(spec),
    reply: {
      statuses: successesOf(spec),
      schema: spec.reply,
      content: contentTypesOf(spec.reply) ?? (spec.reply === noContent ? 'none' : 'json'),
      headers: [
        ...new Set([
          ...(spec.page === undefined ? [] : Object.keys(pageHeaders)),
          ...(spec.deprecated ? ['Link', ...Object.keys(deprecation)] : []),
        ]),
      ],
    },
    refusals: refusalsOf(spec),
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

/** The access rule's subject is resolved before the input is read, so no input declares its reference. */
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
  return Type.Object({ ...input.properties, [name]: reference }, parameterRulesOf(input));
}
