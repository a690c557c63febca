/**
 * The API from inside, as the person that a seed names: each call has an administrator's rights, so that a world may hold what
 * its people could not do by now, such as the issue of somebody who has left.
 */
import { Readable } from 'node:stream';
import type { App } from '../../app.ts';
import { Moved } from '../../kernel/access/find.ts';
import { type Actor, toActor } from '../../kernel/actor.ts';
import type { Endpoint } from '../../kernel/api/endpoint.ts';
import { internalApiClient } from '../../kernel/api/internal-api-client.ts';
import { findSudoUser } from '../../kernel/identity/credential-queries.ts';
import type { UniqueIndexes } from '../../platform/db/errors.ts';
import { Failure } from '../../platform/failure.ts';
import type { HttpRequest } from '../../platform/http/messages.ts';

export type SeedApp = Pick<App, 'services' | 'endpoints' | 'capabilities'>;

type Parameters = Readonly<Record<string, unknown>>;

/** Endpoints by their method and path, as the API's documentation has them. */
export type Api = {
  /** The record of a GET; undefined where there is none. */
  find<T>(name: string, parameters: Parameters): Promise<T | undefined>;
  /** All items of a list. */
  all<T>(name: string, parameters: Parameters): Promise<T[]>;
  change<T>(name: string, parameters: Parameters): Promise<T>;
  actor: Actor;
};

export type Persons = {
  /** Undefined for a user who is not there. */
  find(username: string): Promise<Actor | undefined>;
  /** The API as somebody who is there. */
  as(username: string): Promise<Api>;
};

const PAGE = 100;

const requestOf = ({ services }: SeedApp): HttpRequest => ({
  id: 'seed',
  method: 'POST',
  path: '/',
  query: '',
  headers: {},
  address: '127.0.0.1',
  origin: services.baseUrl(),
  params: {},
  bodyStream: Readable.from([]),
  bodyLimit: 0,
  atEnd: () => {},
  signal: new AbortController().signal,
  replyHeaders: {},
});

/** Whoever a seed names, looked up once. */
export function personsOf(app: SeedApp): Persons {
  const { services } = app;
  const endpoints = new Map(app.endpoints.map((each) => [`${each.method} ${each.path}`, each]));
  const unique: UniqueIndexes = Object.assign({}, ...app.capabilities.map((each) => each.unique));
  const request = requestOf(app);
  const known = new Map<string, Promise<Api>>();

  const find = async (username: string): Promise<Actor | undefined> => {
    const user = await findSudoUser(services.database.sql, username);
    return user && { ...toActor(user, { via: 'password' }), admin: true };
  };

  const named = (name: string): Endpoint => {
    const endpoint = endpoints.get(name);
    if (!endpoint) throw new Error(`there is no endpoint ${name}`);
    return endpoint;
  };

  async function open(username: string): Promise<Api> {
    const actor = await find(username);
    if (!actor) throw new Error(`there is no user ${username}`);
    // A world is made faster than people write.
    const settings = { ...(await services.settings.read()), issues_create_limit: 0, notes_create_limit: 0 };
    const client = internalApiClient({ services, settings, caller: actor, request, unique });
    // The names of this folder are those of endpoints, and its types those of their replies: the tests call all of them.
    return {
      actor,
      find: async (name, parameters) => {
        try {
          return (await client.one(named(name), parameters)) as never;
        } catch (error) {
          // At its former path nothing is what the seed means.
          if (error instanceof Moved) return undefined;
          if (error instanceof Failure && error.kind === 'not_found') return undefined;
          throw error;
        }
      },
      all: async (name, parameters) => {
        const items: unknown[] = [];
        for (let page = 1; ; page++) {
          const list = await client.list(
            named(name) as never,
            { ...parameters, page, per_page: PAGE } as never,
          );
          items.push(...list.items);
          if (!list.more) return items as never;
        }
      },
      change: async (name, parameters) => (await client.change(named(name), parameters)) as never,
    };
  }

  return {
    find,
    as: (username) => {
      const key = username.toLowerCase();
      const opened = known.get(key) ?? open(key);
      known.set(key, opened);
      return opened;
    },
  };
}
