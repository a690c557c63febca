/**
 * Reads the API for pages, with the rights of the page's user: it finds, decides and presents as for a
 * client, so that a page never shows more than the API. Pages have limits of their own.
 */
import { Readable } from 'node:stream';
import type { Caller } from '../../../kernel/actor.ts';
import { type Endpoint, Reply } from '../../../kernel/api/endpoint.ts';
import { pageRequestOf, refuseHidden, refuseTier, runHandler } from '../../../kernel/api/endpoint-rules.ts';
import type { Services } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import type { HttpRequest, HttpResponse } from '../../../platform/http/messages.ts';
import { compileDecoder } from '../../../platform/http/parameters/decode.ts';
import {
  emptyObject,
  type RawObject,
  type RawValue,
} from '../../../platform/http/parameters/raw-parameters.ts';
import type { Page } from '../../../platform/pagination/page.ts';

/** The caller, and the request of the page. */
export type InternalRequest = {
  services: Services;
  settings: ApplicationSettings;
  caller: Caller;
  request: HttpRequest;
};

export type Parameters = Record<string, RawValue | undefined>;

/** Reads by the path of an endpoint; each fails as the API would, Moved included. */
export type InternalApiClient = {
  /** The record; the caller gives its type, as the endpoint's reply schema describes it. */
  one<T>(request: InternalRequest, path: string, parameters: Parameters): Promise<T>;
  /** A page of a list; types as above. */
  list<T>(request: InternalRequest, path: string, parameters: Parameters): Promise<Page<T>>;
  /** The response of a file endpoint. */
  file(request: InternalRequest, path: string, parameters: Parameters): Promise<HttpResponse>;
};

type Prepared = { spec: Endpoint; decode: (raw: RawObject) => unknown };

/** `endpoints` is called at the first read, when all are mounted. */
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
    // The decoder's result has the type of the endpoint's input, which is erased here.
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
      // The schema was checked against the handler where the endpoint was made.
      return (value instanceof Reply ? value.value : value) as T;
    },
    list: async <T>(reading: InternalRequest, path: string, parameters: Parameters) => {
      const value = await read(reading, path, parameters);
      // As above. Lists from git are arrays with the headers of their pages.
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
