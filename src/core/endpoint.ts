/** An endpoint is one value: what it is called, who may call it, what it takes, what leaves, and what it does. */
import type { Readable } from 'node:stream';
import Type, { type Static, type TObject, type TProperties, type TSchema } from 'typebox';
import type { Db } from '../platform/db/database.ts';
import type { Page, PageRequest } from '../platform/db/page.ts';
import { notFound } from '../platform/failure.ts';
import type { HttpRequest } from '../platform/http/messages.ts';
import { type KeysetRule, keysetFields, pageFields } from '../platform/http/pagination.ts';
import { parameterRulesOf } from '../platform/http/schema.ts';
import type { Method } from '../platform/http/server.ts';
import type { Access } from './access/access.ts';
import type { Caller } from './identity/actor.ts';
import type { Services } from './services.ts';
import type { ApplicationSettings, SettingName } from './settings/definitions.ts';

/** What a handler is given. */
export type Context<Input, Subject, C extends Caller> = {
  db: Db;
  services: Services;
  settings: ApplicationSettings;
  actor: C;
  subject: Subject;
  input: Input;
  /** Only listings read it. */
  page: PageRequest;
  request: HttpRequest;
  /** Throws 412 when the client's If-Unmodified-Since is older than the object. Every DELETE calls it. */
  unmodified(updatedAt: Date): void;
};

/** An answer with another status, with headers, or without a record; `value` is what the reply schema describes. */
export class Reply<T> {
  readonly status: number;
  readonly value: T | undefined;
  readonly headers: Record<string, string>;
  constructor(status: number, value?: T, headers: Record<string, string> = {}) {
    this.status = status;
    this.value = value;
    this.headers = headers;
  }
}

/** For replies without a body. */
export const noContent = Type.Null({ description: 'No body.' });
/** For replies that are a file of these types: the handler gives a Reply whose value is the bytes, or a stream of them. */
export const bytesOf = (...contentTypes: readonly string[]) =>
  Type.Unsafe<Buffer | Readable>({ type: 'string', format: 'binary', contentTypes });

/** The types of the file that a reply is; undefined for records. */
export const contentTypesOf = (reply: TSchema): readonly string[] | undefined =>
  (reply as { contentTypes?: readonly string[] }).contentTypes; // only bytesOf() writes it
/** `{message: '202 Accepted'}`: scheduled (spec: General request rules, 5). */
export const Accepted = Type.Object({ message: Type.String() });
export const accepted = (): Reply<{ message: string }> => new Reply(202, { message: '202 Accepted' });

/** An application limit of one endpoint: so many calls a period by one caller; the number is a setting. */
export type CallLimit = {
  name: string;
  setting: SettingName;
  /** The setting for anonymous callers, where it is another. */
  anonymousSetting?: SettingName;
  exceptAdmins?: true;
  periodSeconds: number;
};

/**
 * Statuses that an endpoint answers with besides its own and the refusals that every endpoint has: the same record under
 * another status, nothing changed, or a refusal of its own.
 */
export type OtherStatus = 200 | 202 | 204 | 304 | 405 | 408 | 409 | 422;

type Common<P extends TProperties, Subject, C extends Caller> = {
  method: Method;
  /** Below /api/v4. */
  path: string;
  /** One sentence, for the documentation. */
  summary: string;
  access: Access<Subject, C>;
  /** Where the default (api, or read_api as well for reads) is not what the spec says. */
  scopes?: readonly string[];
  /** Path, query and body parameters by one name each; a path parameter wins. */
  input?: TObject<P>;
  tier?: 'premium' | 'ultimate';
  /** Absent from the hosted offering. */
  offering?: 'self_managed';
  /** The feature flag that must be on. */
  flag?: string;
  jobToken?: boolean;
  /** Replaces a token by rotation: a rotated token that is presented here again ends its family. */
  rotatesToken?: boolean;
  deprecated?: { use: string };
  limit?: CallLimit;
  also?: readonly OtherStatus[];
  bodyLimit?: number;
  /** The body is not read, whatever its size: the handler takes request.bodyStream. */
  stream?: boolean;
};

export type Endpoint = {
  method: Method;
  path: string;
  summary: string;
  access: Access<unknown, Caller>;
  scopes: readonly string[];
  input: TObject;
  reply: TSchema;
  status: number;
  also: readonly OtherStatus[];
  page?: 'offset' | KeysetRule;
  tier?: 'premium' | 'ultimate';
  offering?: 'self_managed';
  flag?: string;
  jobToken: boolean;
  rotatesToken?: boolean;
  deprecated?: { use: string };
  limit?: CallLimit;
  bodyLimit?: number;
  stream?: boolean;
  handle(context: Context<unknown, unknown, Caller>): Promise<unknown>;
};

const defaultStatus: Record<Method, number> = { GET: 200, POST: 201, PUT: 200, PATCH: 200, DELETE: 204 };
const defaultScopes = (method: Method) => (method === 'GET' ? ['api', 'read_api'] : ['api']);

/** One endpoint with one record, or none, for an answer. */
export function endpoint<P extends TProperties, R extends TSchema, Subject, C extends Caller>(
  spec: Common<P, Subject, C> & {
    reply: R;
    /** Where it is not the method's own (spec: General request rules, 5). */
    status?: number;
    handle(context: Context<Static<TObject<P>>, Subject, C>): Promise<Static<R> | Reply<Static<R>>>;
  },
): Endpoint {
  const { input, scopes, status, also, jobToken, ...rest } = spec;
  return {
    ...rest,
    input: input ?? Type.Object({}),
    scopes: scopes ?? defaultScopes(spec.method),
    status: status ?? defaultStatus[spec.method],
    also: also ?? [],
    jobToken: jobToken ?? false,
    // The types were checked above; from here on endpoints of all shapes are in one list.
  } as unknown as Endpoint;
}

/** A list: the handler gives a page of records, and the headers follow from it (spec: Pagination). */
export function listing<P extends TProperties, R extends TSchema, Subject, C extends Caller>(
  spec: Common<P, Subject, C> & {
    item: R;
    page: 'offset' | KeysetRule;
    handle(context: Context<Static<TObject<P>>, Subject, C>): Promise<Page<Static<R>>>;
  },
): Endpoint {
  const { item, ...rest } = spec;
  const fields = spec.page === 'offset' ? pageFields : { ...pageFields, ...keysetFields };
  return endpoint({
    ...rest,
    input: Type.Object({ ...fields, ...spec.input?.properties }, parameterRulesOf(spec.input)),
    // Asking for keyset pages where there are none is refused, and so are the last of very many pages by offset.
    also: [...(spec.also ?? []), 405],
    reply: Type.Array(item),
    // A Page is turned into its items and headers by runEndpoint().
    handle: spec.handle as never,
  });
}

/** The record that an id named, or 404. */
export function found<T>(value: T | undefined, resource?: string): T {
  if (value === undefined) throw notFound(resource);
  return value;
}
