/** The fuzzer's world in the program: some records of every kind, and their addresses. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createApp } from '../../src/app.ts';
import { readConfig } from '../../src/kernel/config.ts';
import { createLog } from '../../src/platform/log.ts';
import { siteAt } from '../support/app.ts';
import { createUser } from '../support/factories.ts';
import { formatValues } from '../support/format-values.ts';
import { addressOf, type SampleIds } from '../support/inventory.ts';
import { makeWorld } from '../support/world.ts';
import { type Program, ROOT_TOKEN } from './support.ts';

export type Caller = 'administrator' | 'user';

/** Records of each kind, so many that deleted ones are not missed. */
const COUNT = 30;
/** Tokens for requests that revoke their own. */
const SPARE_TOKENS = 40;

/** Fills the program's database as a second process on it would; the result is what schemathesis-hooks.py reads. */
export async function makeFuzzWorld(program: Program): Promise<object> {
  const site = siteAt(program.url, ROOT_TOKEN);
  const app = createApp({
    config: readConfig({ ASHLAR_DATA: program.data }),
    target: {
      // The directory of the socket, by the server's own file.
      host: readFileSync(join(program.data, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[4] ?? '',
      port: 5432,
      user: 'ashlar',
      password: readFileSync(join(program.data, 'postgres-password'), 'utf8').trim(),
      database: 'postgres',
    },
    secretKey: readFileSync(join(program.data, 'secret-key'), 'utf8').trim(),
    log: createLog(() => {}),
  });
  try {
    const places = await makeWorld({ ...site, app, log: [] }, COUNT);
    const idsOf = async (path: string, kept: number): Promise<string[]> => {
      const { body } = await site.root(`GET ${path}?per_page=100`);
      return body
        .map(({ id }: { id: number }) => id)
        .filter((id: number) => id !== kept)
        .map(String);
    };
    const spare = {
      projects: await idsOf('/projects', places.project),
      groups: await idsOf('/groups', places.group),
      users: (await site.root('GET /users?search=person-&per_page=100')).body.map(
        ({ id }: { id: number }) => `${id}`,
      ),
      tokens: (await site.root('GET /personal_access_tokens?per_page=100')).body
        .filter(({ name }: { name: string }) => name === 'Token')
        .map(({ id }: { id: number }) => `${id}`),
    };
    const administrator = await createUser(site, { admin: true });
    const user = await createUser(site, {});
    await site.root(`POST /groups/${places.group}/members`, { body: { user_id: user.id, access_level: 50 } });
    const tokensOf = async (id: number): Promise<string[]> => {
      const body = { name: 'spare', scopes: ['api'] };
      const made = Array.from({ length: SPARE_TOKENS }, () =>
        site.root(`POST /users/${id}/personal_access_tokens`, { body }),
      );
      return (await Promise.all(made)).map((called) => called.body.token);
    };
    await liftLimits(program);
    return {
      count: COUNT,
      spare,
      kept: [places.user, 'root', administrator.id, administrator.username, user.id, user.username],
      callers: {
        administrator: { token: administrator.token, spare: await tokensOf(administrator.id) },
        user: { token: user.token, spare: await tokensOf(user.id) },
      } satisfies Record<Caller, object>,
      formats: formatValues,
      paths: Object.fromEntries(
        app.endpoints.map(({ path }) => [path.replaceAll(/:(\w+)/g, '{$1}'), valuesIn(path, places)]),
      ),
    };
  } finally {
    await app.stop();
  }
}

/** The values of a path's parameters: its place, and all objects that the others can name. */
function valuesIn(path: string, places: SampleIds): Record<string, readonly string[]> {
  const values = addressOf(path, places).split('/');
  const objects = places.objects?.get(path);
  return Object.fromEntries(
    path.split('/').flatMap((part, at) => {
      const name = /^:(\w+)$/.exec(part)?.[1];
      if (name === undefined) return [];
      const named = objects?.[name]?.map(({ value }) => value) ?? [];
      return [[name, named.length === 0 ? [decodeURIComponent(values[at] ?? '')] : named]];
    }),
  );
}

/** A fuzzer is faster than any caller may be. */
export async function liftLimits(program: Pick<Program, 'root'>): Promise<void> {
  const response = await program.root('GET /application/settings');
  const settings = (await response.json()) as Record<string, unknown>;
  const lifted = Object.keys(settings).flatMap((name): [string, unknown][] => {
    if (/^throttle_\w+_enabled$/.test(name)) return [[name, false]];
    return /(_api|_create|_delete|_get_by_id|_request|search_rate)_(rate_)?limit(_unauthenticated)?$|^search_rate_limit/.test(
      name,
    )
      ? [[name, 0]]
      : [];
  });
  const lifting = await program.root('PUT /application/settings', Object.fromEntries(lifted));
  if (lifting.status !== 200) throw new Error(await lifting.text());
}
