/** An endpoint is one value: method and path, access, input, reply, and handler. */
import type { Readable } from 'node:stream';
import Type, { type Static, type TArray, type TObject, type TProperties, type TSchema } from 'typebox';
import type { Arriving } from '../../platform/arriving.ts';
import type { Db } from '../../platform/db/database.ts';
import { notFound } from '../../platform/failure.ts';
import type { HttpRequest } from '../../platform/http/messages.ts';
import { parameterRulesOf } from '../../platform/http/parameters/schema.ts';
import type { Method } from '../../platform/http/server/server.ts';
import type { Page, PageRequest } from '../../platform/pagination/page.ts';
import { type KeysetRule, keysetFields, pageFields } from '../../platform/pagination/pagination.ts';
import type { Access } from '../access/access.ts';
import type { Caller } from '../actor.ts';
import type { DeployToken } from '../identity/deploy-token-queries.ts';
import type { Services } from '../services.ts';
import type { ApplicationSettings, SettingName } from '../settings/definitions.ts';

/** The context of a handler. */
export type Context<Input, Subject, C extends Caller> = {
  db: Db;
  services: Services;
  settings: ApplicationSettings;
  actor: C;
  /** In place of an actor, where the endpoint takes one. */
  deployToken: DeployToken | undefined;
  subject: Subject;
  input: Input;
  /** Only listings read it. */
  page: PageRequest;
  request: HttpRequest;
  /** Throws 412 when the client's If-Unmodified-Since is older than the object. Every DELETE calls it. */
  unmodified(updatedAt: Date): void;
};

/** A response with another status, with headers, or without a record; the reply schema describes `value`. */
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
/** For replies that are files of these types: the handler returns a Reply with the bytes, or a stream. */
export const bytesOf = (...contentTypes: readonly string[]) =>
  Type.Unsafe<Buffer | Readable>({ type: 'string', format: 'binary', contentTypes });

/** The content types of a file reply; undefined for records. */
export const contentTypesOf = (reply: TSchema): readonly string[] | undefined =>
  (reply as { contentTypes?: readonly string[] }).contentTypes; // only bytesOf() writes it
/** `{message: '202 Accepted'}`: scheduled (spec: General request rules, 5). */
export const Accepted = Type.Object({ message: Type.String() });
export const accepted = (): Reply<{ message: string }> => new Reply(202, { message: '202 Accepted' });

/** An application limit of one endpoint: calls in a period by one caller; a setting has the number. */
export type CallLimit = {
  name: string;
  setting: SettingName;
  /** The setting for anonymous callers, if another. */
  anonymousSetting?: SettingName;
  exceptAdmins?: true;
  periodSeconds: number;
};

/**
 * Statuses beside the endpoint's own and the refusals of every endpoint: the same record under another
 * status, no change, or its own refusal.
 */
export type OtherStatus =
  | 200
  | 202
  | 204
  | 206
  | 302
  | 304
  | 307
  | 405
  | 406
  | 408
  | 409
  | 410
  | 416
  | 422
  | 423
  | 501;

/** Scopes of deploy tokens. */
export type PackageScope = 'read_package_registry' | 'write_package_registry';

type Common<Path extends string, P extends TProperties, Subject, C extends Caller> = {
  method: Method;
  /** Below /api/v4. */
  path: Path;
  /** One sentence, for the documentation. */
  summary: string;
  access: Access<Subject, C>;
  /** Where the spec differs from the default (api, or also read_api for reads). */
  scopes?: readonly string[];
  /** Path, query and body parameters by name; a path parameter wins. */
  input?: TObject<P>;
  tier?: 'premium' | 'ultimate';
  /** Absent from the hosted offering. */
  offering?: 'self_managed';
  /** The feature flag that must be on. */
  flag?: string;
  jobToken?: boolean;
  /** The handler judges the token of a runner or a job: the header JOB-TOKEN is no credential here, and only what fails is throttled. */
  ownCredential?: boolean;
  /** For package programs: their forms of credentials are taken, and deploy tokens with this scope. */
  packageScope?: PackageScope;
  /** Whether a pass may stand for a token, and `ci_user` for a job's user (facts-packages: 1.1, Conan). */
  takesPass?: boolean;
  /** Rotates a token: a token that was rotated before ends its family here. */
  rotatesToken?: boolean;
  /** It is called all the time and seldom writes facts: the handler wakes the relay when it does. */
  wakesItself?: boolean;
  deprecated?: { use: string };
  limit?: CallLimit;
  also?: readonly OtherStatus[];
  bodyLimit?: number;
  /** The body is not read, whatever its size: the handler takes request.bodyStream. */
  stream?: boolean;
  /** The last parameter of the path is all that is left of the address, its slashes too. */
  takesRest?: boolean;
};

/** Path, input and reply keep their types for those who call the endpoint by its value. */
export type Endpoint<
  Path extends string = string,
  Input extends TObject = TObject,
  R extends TSchema = TSchema,
> = {
  method: Method;
  path: Path;
  summary: string;
  access: Access<unknown, Caller>;
  scopes: readonly string[];
  input: Input;
  reply: R;
  status: number;
  also: readonly OtherStatus[];
  page?: 'offset' | KeysetRule;
  tier?: 'premium' | 'ultimate';
  offering?: 'self_managed';
  flag?: string;
  jobToken: boolean;
  ownCredential?: boolean;
  packageScope?: PackageScope;
  takesPass?: boolean;
  rotatesToken?: boolean;
  wakesItself?: boolean;
  deprecated?: { use: string };
  limit?: CallLimit;
  bodyLimit?: number;
  stream?: boolean;
  takesRest?: boolean;
  handle(context: Context<unknown, unknown, Caller>): Promise<unknown>;
};

const defaultStatus: Record<Method, number> = { GET: 200, POST: 201, PUT: 200, PATCH: 200, DELETE: 204 };
const defaultScopes = (method: Method) => (method === 'GET' ? ['api', 'read_api'] : ['api']);

/** An endpoint with one record, or none, in its reply. */
export function endpoint<
  Path extends string,
  R extends TSchema,
  Subject,
  C extends Caller,
  P extends TProperties = Record<never, never>,
>(
  spec: Common<Path, P, Subject, C> & {
    reply: R;
    /** If not the method's default (spec: General request rules, 5). */
    status?: number;
    handle(
      context: Context<Static<TObject<P>>, Subject, C>,
    ): Promise<Static<R> | Arriving<Static<R>> | Reply<Static<R>>>;
  },
): Endpoint<Path, TObject<P>, R> {
  const { input, scopes, status, also, jobToken, ...rest } = spec;
  return {
    ...rest,
    input: input ?? Type.Object({}),
    scopes: scopes ?? defaultScopes(spec.method),
    status: status ?? defaultStatus[spec.method],
    also: also ?? [],
    jobToken: jobToken ?? false,
    // The types were checked above; from here on endpoints of all shapes are in one list.
  } as unknown as Endpoint<Path, TObject<P>, R>;
}

type ListFields<Paged> = typeof pageFields & (Paged extends 'offset' ? unknown : typeof keysetFields);

/** A list: the handler returns a page of records, which determines the headers (spec: Pagination). */
export function listing<
  Path extends string,
  R extends TSchema,
  Subject,
  C extends Caller,
  Paged extends 'offset' | KeysetRule,
  P extends TProperties = Record<never, never>,
>(
  spec: Common<Path, P, Subject, C> & {
    item: R;
    page: Paged;
    handle(context: Context<Static<TObject<P>>, Subject, C>): Promise<Page<Static<R>>>;
  },
): Endpoint<Path, TObject<ListFields<Paged> & P>, TArray<R>> {
  const { item, ...rest } = spec;
  const own = spec.input?.properties;
  const fields =
    spec.page === 'offset' ? { ...pageFields, ...own } : { ...pageFields, ...keysetFields, ...own };
  return endpoint({
    ...rest,
    // Without an input there are no names of its own.
    input: Type.Object(fields as ListFields<Paged> & P, parameterRulesOf(spec.input)),
    // 405 for keyset pages that a list does not have, and for very distant offsets.
    also: [...(spec.also ?? []), 405],
    reply: Type.Array(item),
    // A Page is turned into its items and headers by runEndpoint().
    handle: spec.handle as never,
  });
}

/** The record, or 404. */
export function found<T>(value: T | undefined, resource?: string): T {
  if (value === undefined) throw notFound(resource);
  return value;
}
