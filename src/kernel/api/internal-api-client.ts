/**
 * Reads the API for pages, with the rights of the page's user: it finds, decides and presents as for a
 * client, so that a page never shows more than the API. Pages have limits of their own.
 */
import { Readable } from 'node:stream';
import type { Static, TArray, TObject, TSchema, TUnsafe } from 'typebox';
import { arrived, hasArriving } from '../../platform/arriving.ts';
import type { HttpRequest, HttpResponse } from '../../platform/http/messages.ts';
import { compileDecoder } from '../../platform/http/parameters/decode.ts';
import { emptyObject, type RawObject } from '../../platform/http/parameters/raw-parameters.ts';
import type { Page } from '../../platform/pagination/page.ts';
import type { Caller } from '../actor.ts';
import type { Services } from '../services.ts';
import type { ApplicationSettings } from '../settings/definitions.ts';
import { type Endpoint, Reply } from './endpoint.ts';
import { pageRequestOf, refuseHidden, refuseTier, runHandler } from './endpoint-rules.ts';

/** The caller, and the request of the page. */
type InternalRequest = {
  services: Services;
  settings: ApplicationSettings;
  caller: Caller;
  request: HttpRequest;
};

/** The names in a path: `id` and `iid` of `/projects/:id/issues/:iid`. */
type NamesIn<Path extends string> = Path extends `${string}/:${infer Name}/${infer Rest}`
  ? Name | NamesIn<`/${Rest}`>
  : Path extends `${string}/:${infer Name}`
    ? Name
    : never;

/** The input, and the names in the path that it leaves to the access rule. */
type ParametersOf<E extends Endpoint> = Static<E['input']> & {
  [Name in Exclude<NamesIn<E['path']>, keyof Static<E['input']>>]: string | number;
};

type EndpointWith<R extends TSchema> = Endpoint<string, TObject, R>;

/** Reads endpoints; each read fails as the API would, Moved included. */
export type InternalApiClient = {
  /** The record. */
  one<E extends Endpoint>(endpoint: E, parameters: ParametersOf<E>): Promise<Static<E['reply']>>;
  /** A page of a list. */
  list<E extends EndpointWith<TArray>>(
    endpoint: E,
    parameters: ParametersOf<E>,
  ): Promise<Page<Static<E['reply']['items']>>>;
  /** The response of a file endpoint. */
  file<E extends EndpointWith<TUnsafe<Buffer | Readable>>>(
    endpoint: E,
    parameters: ParametersOf<E>,
  ): Promise<HttpResponse>;
};

const decoders = new Map<Endpoint, (raw: RawObject) => unknown>();

function decoderOf(endpoint: Endpoint): (raw: RawObject) => unknown {
  const known = decoders.get(endpoint);
  if (known) return known;
  if (endpoint.method !== 'GET') throw new Error(`${endpoint.method} ${endpoint.path} is not for reading`);
  const fresh = compileDecoder(endpoint.input);
  decoders.set(endpoint, fresh);
  return fresh;
}

async function read(reading: InternalRequest, endpoint: Endpoint, parameters: object): Promise<unknown> {
  const { services, settings, caller, request } = reading;
  const { config, database } = services;
  const decode = decoderOf(endpoint);
  await refuseHidden(endpoint, config, services.features.isOn);
  const raw: RawObject = Object.assign(emptyObject(), parameters);
  const params: Record<string, string> = {};
  for (const [name, value] of Object.entries(raw)) params[name] = String(value);
  const { subject, actor } = await endpoint.access.find({
    sql: database.points,
    services,
    settings,
    caller,
    params,
  });
  refuseTier(endpoint, config);
  const input = decode(raw);
  return runHandler(endpoint, {
    db: database.db,
    services,
    settings,
    actor,
    deployToken: undefined,
    subject,
    input,
    page: pageRequestOf(endpoint, input, caller, config),
    request,
    unmodified: () => {},
  });
}

export const internalApiClient = (reading: InternalRequest): InternalApiClient => ({
  one: async <E extends Endpoint>(endpoint: E, parameters: ParametersOf<E>) => {
    const value = await read(reading, endpoint, parameters);
    // The schema was checked against the handler where the endpoint was made.
    const record = value instanceof Reply ? value.value : value;
    return (hasArriving(record) ? await arrived(record) : record) as Static<E['reply']>;
  },
  list: async <E extends EndpointWith<TArray>>(endpoint: E, parameters: ParametersOf<E>) => {
    type Item = Static<E['reply']['items']>;
    const value = await read(reading, endpoint, parameters);
    // As above. Lists from git are arrays with the headers of their pages.
    if (Array.isArray(value)) return { items: value as Item[], total: undefined, more: false };
    if (!(value instanceof Reply)) return value as Page<Item>;
    const more = (value.headers['x-next-page'] ?? '') !== '';
    return { items: value.value as Item[], total: undefined, more };
  },
  async file(endpoint, parameters) {
    const value = await read(reading, endpoint, parameters);
    if (!(value instanceof Reply)) throw new Error(`GET ${endpoint.path} is no file`);
    const content: unknown = value.value;
    const body = Buffer.isBuffer(content) || content instanceof Readable ? content : '';
    return { status: value.status, headers: value.headers, body };
  },
});
