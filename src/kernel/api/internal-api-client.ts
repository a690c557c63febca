/**
 * Calls the API for pages, with the rights of the page's user: it finds, decides, changes and presents as for a
 * client, so that a page never shows or does more than the API. Pages have limits of their own.
 */
import { Readable } from 'node:stream';
import type { Static, TArray, TObject, TSchema, TUnsafe } from 'typebox';
import { arrived, hasArriving } from '../../platform/arriving.ts';
import { translateDatabaseError, type UniqueIndexes } from '../../platform/db/errors.ts';
import type { HttpRequest, HttpResponse } from '../../platform/http/messages.ts';
import { compileDecoder } from '../../platform/http/parameters/decode.ts';
import { emptyObject, type RawObject } from '../../platform/http/parameters/raw-parameters.ts';
import type { Page } from '../../platform/pagination/page.ts';
import type { Caller } from '../actor.ts';
import type { Services } from '../services.ts';
import type { ApplicationSettings } from '../settings/definitions.ts';
import { type Endpoint, Reply } from './endpoint.ts';
import { endsMaintenance, pageRequestOf, refuseHidden, refuseTier, runHandler } from './endpoint-rules.ts';
import { admit } from './gate.ts';

/** The caller, and the request of the page. */
type InternalRequest = {
  services: Services;
  settings: ApplicationSettings;
  caller: Caller;
  request: HttpRequest;
  /** For changes: the unique indexes that two of the same moment collide at. */
  unique?: UniqueIndexes;
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

/** Calls endpoints; each call fails as the API would, Moved included. */
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
  /** Changes something; the endpoint's record. */
  change<E extends Endpoint>(endpoint: E, parameters: ParametersOf<E>): Promise<Static<E['reply']>>;
};

const decoders = new Map<Endpoint, (raw: RawObject) => unknown>();

function decoderOf(endpoint: Endpoint): (raw: RawObject) => unknown {
  const known = decoders.get(endpoint);
  if (known) return known;
  const fresh = compileDecoder(endpoint.input);
  decoders.set(endpoint, fresh);
  return fresh;
}

function read(calling: InternalRequest, endpoint: Endpoint, parameters: object): Promise<unknown> {
  if (endpoint.method !== 'GET') throw new Error(`${endpoint.method} ${endpoint.path} is not for reading`);
  return call(calling, endpoint, parameters);
}

/** A write is refused in maintenance, as the API's own; the page's route has counted the request. */
async function change(calling: InternalRequest, endpoint: Endpoint, parameters: object): Promise<unknown> {
  const { services, settings, caller, request, unique } = calling;
  if (endpoint.method === 'GET') throw new Error(`GET ${endpoint.path} changes nothing`);
  await admit(services, request, settings, {
    kind: 'api',
    counted: false,
    writes: true,
    endsMaintenance: endsMaintenance(endpoint, caller),
  });
  return call(calling, endpoint, parameters).catch((error: unknown) => {
    throw translateDatabaseError(error, unique);
  });
}

async function call(calling: InternalRequest, endpoint: Endpoint, parameters: object): Promise<unknown> {
  const { services, settings, caller, request } = calling;
  const { config, database } = services;
  const decode = decoderOf(endpoint);
  await refuseHidden(endpoint, config, services.features.isOn);
  const raw: RawObject = Object.assign(emptyObject(), parameters);
  const params: Record<string, string> = {};
  for (const [name, value] of Object.entries(raw))
    if (typeof value !== 'object') params[name] = String(value);
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

/** The value of a reply, whole. */
async function recordOf<E extends Endpoint>(value: unknown): Promise<Static<E['reply']>> {
  const record = value instanceof Reply ? value.value : value;
  // The schema was checked against the handler where the endpoint was made.
  return (hasArriving(record) ? await arrived(record) : record) as Static<E['reply']>;
}

export const internalApiClient = (reading: InternalRequest): InternalApiClient => ({
  one: async <E extends Endpoint>(endpoint: E, parameters: ParametersOf<E>) =>
    recordOf<E>(await read(reading, endpoint, parameters)),
  change: async <E extends Endpoint>(endpoint: E, parameters: ParametersOf<E>) =>
    recordOf<E>(await change(reading, endpoint, parameters)),
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
