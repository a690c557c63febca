/** The world of the access matrix: objects of every kind, all callers, and the situations of the objects. */
import { mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { SESSION_COOKIE } from '../../src/kernel/identity/credentials.ts';
import { featureDefinitions } from '../../src/kernel/settings/features.ts';
import { digest } from '../../src/platform/secret.ts';
import type { TestApp } from './app.ts';
import { type CallerName, makeCallers } from './callers.ts';
import type { SampleIds } from './inventory.ts';
import { makeUser } from './rows.ts';
import { type GuardedFill, samples } from './samples.ts';
import { locked } from './situations.ts';
import { insertRows, makeWorld } from './world.ts';

/** For `useApp()`: only requests change anything, and there is a second storage to move to. */
export function accessOptions(): { still: true; env: Record<string, string> } {
  const folder = mkdtempSync(join(inject('dataFolders'), 'storages-'));
  for (const name of ['default', 'fast']) mkdirSync(join(folder, name));
  return {
    still: true,
    env: { ASHLAR_STORAGES: ['default', 'fast'].map((name) => `${name}:${join(folder, name)}`).join(',') },
  };
}

/** The credentials in a caller's requests, and the token of their forms. */
export type PresentedCredential = { headers: Record<string, string>; csrf?: string };

export type AccessWorld = {
  places: SampleIds;
  credentials(caller: CallerName, kind: 'token' | 'session' | 'basic'): PresentedCredential;
};

export async function makeAccessWorld(app: TestApp): Promise<AccessWorld> {
  const { sql } = app.app.services.database;
  const places = await makeWorld(app, 2);
  const tokens = await makeCallers(app, places);
  for (const name of Object.keys(featureDefinitions))
    await sql`insert into feature_gates (name, value, updated_at) values (${name}, 'true', now()) on conflict do nothing`;
  app.app.services.features.forget();
  await makePlaces(app, places);
  await makeGuarded(app, places, tokens.get('admin') ?? '');
  return { places, credentials: await credentialsOf(app, tokens) };
}

async function credentialsOf(
  app: TestApp,
  tokens: ReadonlyMap<CallerName, string>,
): Promise<AccessWorld['credentials']> {
  const { sql } = app.app.services.database;
  const sessions = new Map<CallerName, string>();
  for (const [name, token] of tokens) {
    const session = `session-of-${name}`;
    await sql`insert into sessions (digest, user_id, created_at, last_used_at)
      select ${digest(session)}, user_id, now(), now() from access_tokens where digest = ${digest(token)}`;
    sessions.set(name, session);
  }
  return (caller, kind) => {
    const [token, session] = [tokens.get(caller), sessions.get(caller)];
    if (token === undefined || session === undefined) return { headers: {} };
    if (kind === 'token') return { headers: { 'private-token': token } };
    if (kind === 'session')
      return {
        headers: { cookie: `${SESSION_COOKIE}=${session}` },
        csrf: app.app.services.authenticator.csrfToken(session),
      };
    return { headers: { authorization: `Basic ${Buffer.from(`oauth2:${token}`).toString('base64')}` } };
  };
}

/** Places that are archived, marked, empty, locked or out of reach, and people of all states. */
async function makePlaces(app: TestApp, { group, project, user }: SampleIds): Promise<void> {
  const { sql } = app.app.services.database;
  for (const name of ['deletable', 'pending', 'banned', 'dormant', 'asking', 'chief', 'head'])
    await makeUser(app, { username: `the-${name}` });
  await sql.unsafe(`
    update users set state = 'blocked_pending_approval' where username = 'the-pending';
    update users set state = 'banned' where username = 'the-banned';
    update users set last_activity_on = current_date - 400, created_at = now() - interval '400 days' where username = 'the-dormant';
    insert into namespaces (kind, parent_id, ancestor_ids, name, path, full_path, full_name, visibility, archived, settings,
        marked_for_deletion_on, marked_by_id, path_before_deletion, created_at, updated_at)
      select 'group', ${group}, array[${group}], n, n, 'world/' || n, 'world / ' || n, case n when 'locked' then 0 else 20 end,
        n = 'archived', case n when 'locked' then '${locked}' else '{}' end::jsonb,
        case n when 'marked' then current_date end, case n when 'marked' then ${user} end, case n when 'marked' then 'restored' end,
        now(), now()
      from unnest(array['marked', 'archived', 'locked']) n
      union all
      select 'group', null, '{}', 'elsewhere', 'elsewhere', 'elsewhere', 'elsewhere', 0, false, '{}', null, null, null, now(), now();
    update namespaces set ancestor_ids = ancestor_ids || id where path in ('marked', 'archived', 'locked', 'elsewhere');
    insert into projects (namespace_id, name, path, visibility, archived, forked_from_id, marked_for_deletion_on, marked_by_id,
        path_before_deletion, name_before_deletion, last_activity_at, created_at, updated_at)
      select ${group}, n, n, 20, n = 'archived', case n when 'forked' then ${project} end,
        case n when 'marked' then current_date end, case n when 'marked' then ${user} end,
        case n when 'marked' then n end, case n when 'marked' then n end, now(), now(), now()
      from unnest(array['marked', 'archived', 'forked', 'empty']) n;
    insert into projects (namespace_id, name, path, visibility, last_activity_at, created_at, updated_at)
      select n.id, p.path, p.path, p.visibility, now(), now(), now()
      from (values ('locked', 'inside', 0), ('elsewhere', 'elsewhere', 0), ('elsewhere', 'in-reach', 20)) p(place, path, visibility)
      join namespaces n on n.path = p.place`);
}

/** Objects that only some callers with the ability may touch, by the samples of the resources. */
async function makeGuarded(app: TestApp, places: SampleIds, token: string): Promise<void> {
  for (const [folder, { guardedRows }] of samples)
    if (guardedRows) await insertRows(app, folder, guardedRows(places));
  const succeed = (what: string, { status, text }: { status: number; text: string }): void => {
    if (status > 201) throw new Error(`${what}: ${status} ${text}`);
  };
  const by: GuardedFill = {
    app,
    sql: app.app.services.database.sql,
    async call(...request) {
      succeed(request[0], await app.as(token)(...request));
    },
    async upload(method, path, field) {
      const form = new FormData();
      form.set(field, new Blob(['GIF89a and more']), 'stone.gif');
      const headers = { 'private-token': token };
      const response = await fetch(`${app.url}/api/v4${path}`, { method, headers, body: form });
      succeed(`${method} ${path}`, { status: response.status, text: await response.text() });
    },
  };
  for (const { guardedFill } of samples.values()) await guardedFill?.(places, by);
}
