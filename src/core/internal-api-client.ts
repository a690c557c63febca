/**
 * Reads the API from inside the program, with the rights of whoever looks at a page: the same finding, deciding and
 * presenting as for a client, so that a page never shows more than the API. Limits are those of pages.
 */
import { Readable } from 'node:stream';
import type { Page } from '../platform/db/page.ts';
import { compileDecoder } from '../platform/http/decode.ts';
import type { HttpRequest, HttpResponse } from '../platform/http/messages.ts';
import { emptyObject, type RawObject, type RawValue } from '../platform/http/raw-parameters.ts';
import { type Endpoint, Reply } from './endpoint.ts';
import { pageRequestOf, refuseHidden, refuseTier, runHandler } from './endpoint-rules.ts';
import type { Caller } from './identity/actor.ts';
import type { Services } from './services.ts';
import type { ApplicationSettings } from './settings/definitions.ts';

/** Who reads, and for which request. */
export type InternalRequest = {
  services: Services;
  settings: ApplicationSettings;
  caller: Caller;
  request: HttpRequest;
};

export type Parameters = Record<string, RawValue | undefined>;

/** What can be read by the path of its endpoint; each fails as the API would, Moved included. */
export type InternalApiClient = {
  /** The record, of the type that the caller of this says: the endpoint's reply schema describes it. */
  one<T>(request: InternalRequest, path: string, parameters: Parameters): Promise<T>;
  /** A page of a list; its items as above. */
  list<T>(request: InternalRequest, path: string, parameters: Parameters): Promise<Page<T>>;
  /** A file, as its endpoint would answer. */
  file(request: InternalRequest, path: string, parameters: Parameters): Promise<HttpResponse>;
};

type Prepared = { spec: Endpoint; decode: (raw: RawObject) => unknown };

/** `endpoints` is asked at the first read, when all are mounted. */
export function createInternalApiClient(endpoints: () => readonly Endpoint[]): InternalApiClient {
  let byPath: Map<string, Endpoint> | undefined;
  const prepared = new Map<string, Prepared>();

  function prepare(path: string): Prepared {
    const known = prepared.get(path);
    if (known) return known;
    byPath ??= new Map(
      endpoints().flatMap((spec): [string, Endpoint][] => (spec.method === 'GET' ? [[spec.path, spec]] : [])),
    );
    const spec = byPath.get(path);
    if (!spec) throw new Error(`no endpoint at GET ${path}`);
    // The decoder gives what the endpoint's input says, which is no longer known here.
    const fresh = { spec, decode: compileDecoder(spec.input) as (raw: RawObject) => unknown };
    prepared.set(path, fresh);
    return fresh;
  }

  async function read(reading: InternalRequest, path: string, parameters: Parameters): Promise<unknown> {
    const { services, settings, caller, request } = reading;
    const { config, database } = services;
    const { spec, decode } = prepare(path);
    await refuseHidden(spec, config, services.features.isOn);
    const raw = emptyObject();
    const params: Record<string, string> = {};
    for (const [name, value] of Object.entries(parameters)) {
      if (value === undefined) continue;
      raw[name] = value;
      params[name] = String(value);
    }
    const { subject, actor } = await spec.access.find({ sql: database.points, caller, params });
    refuseTier(spec, config);
    const input = decode(raw);
    return runHandler(spec, {
      db: database.db,
      services,
      settings,
      actor,
      subject,
      input,
      page: pageRequestOf(spec, input, caller, config),
      request,
      unmodified: () => {},
    });
  }

  return {
    one: async <T>(reading: InternalRequest, path: string, parameters: Parameters) => {
      const value = await read(reading, path, parameters);
      // As the type says above: the schema was checked against the handler where the endpoint was made.
      return (value instanceof Reply ? value.value : value) as T;
    },
    list: async <T>(reading: InternalRequest, path: string, parameters: Parameters) => {
      const value = await read(reading, path, parameters);
      // As above. Lists that git makes are arrays with the headers of their pages.
      if (Array.isArray(value)) return { items: value as T[], total: undefined, more: false };
      if (!(value instanceof Reply)) return value as Page<T>;
      const more = (value.headers['x-next-page'] ?? '') !== '';
      return { items: value.value as T[], total: undefined, more };
    },
    async file(reading, path, parameters) {
      const value = await read(reading, path, parameters);
      if (!(value instanceof Reply)) throw new Error(`GET ${path} is no file`);
      const content: unknown = value.value;
      const body = Buffer.isBuffer(content) || content instanceof Readable ? content : '';
      return { status: value.status, headers: value.headers, body };
    },
  };
}
