/** The world of the access matrix: objects of every kind, all callers, and the situations of the objects. */
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRepository } from '../../src/domain/repositories/store/containers.ts';
import { SESSION_COOKIE } from '../../src/kernel/identity/credentials.ts';
import { featureDefinitions } from '../../src/kernel/settings/features.ts';
import { git } from '../../src/platform/git/program/program.ts';
import { digest } from '../../src/platform/secret.ts';
import type { TestApp } from './app.ts';
import { type CallerName, makeCallers } from './callers.ts';
import type { SampleIds } from './inventory.ts';
import { makeUser } from './rows.ts';
import { locked } from './situations.ts';
import { makeWorld } from './world.ts';

/** For `useApp()`: only requests change anything, and there is a second storage to move to. */
export function accessOptions(): { still: true; env: Record<string, string> } {
  const folder = mkdtempSync(join(tmpdir(), 'ashlar-storages-'));
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
    await sql`insert into feature_gates (name, value, updated_at) values (${name}, 'true', now())`;
  app.app.services.features.forget();
  await sql.unsafe(others(places));
  await arrange(app, places, tokens.get('admin') ?? '');
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

const stamps = 'now(), now()';

/**
 * The preconditions of some requests: objects that are archived, marked, empty or free. All of them are
 * inside the group.
 */
const others = ({ group, project, user }: SampleIds): string => `
  insert into namespaces (kind, parent_id, ancestor_ids, name, path, full_path, full_name, visibility, archived,
      marked_for_deletion_on, marked_by_id, path_before_deletion, created_at, updated_at)
    select 'group', ${group}, array[${group}], n, n, 'world/' || n, 'world / ' || n, 20, n = 'archived',
      case n when 'marked' then current_date end, case n when 'marked' then ${user} end, case n when 'marked' then 'restored' end, ${stamps}
    from unnest(array['marked', 'archived']) n;
  update namespaces set ancestor_ids = ancestor_ids || id where full_path in ('world/marked', 'world/archived');
  insert into projects (namespace_id, name, path, visibility, archived, forked_from_id, marked_for_deletion_on, marked_by_id,
      path_before_deletion, name_before_deletion, last_activity_at, created_at, updated_at)
    select ${group}, n, n, 20, n = 'archived', case n when 'forked' then ${project} end,
      case n when 'marked' then current_date end, case n when 'marked' then ${user} end,
      case n when 'marked' then n end, case n when 'marked' then n end, now(), ${stamps}
    from unnest(array['marked', 'archived', 'forked', 'empty']) n;
  insert into error_tracking_settings (project_id, active, integrated, created_at, updated_at)
    select id, true, true, ${stamps} from projects where path in ('empty', 'world');
  insert into epics (iid, namespace_id, author_id, title, relative_position, created_at, updated_at)
    select 4, ${group}, id, 'free', 9, ${stamps} from users where username = 'person-1';
  update group_counters set epics = 5;
  insert into issues (iid, project_id, author_id, title, relative_position, created_at, updated_at)
    select 5, ${project}, id, 'free', 9, ${stamps} from users where username = 'person-1';
  insert into alerts (iid, project_id, kind, title, severity, started_at, payload, created_at, updated_at)
    values (3, ${project}, 'http', 'free', 'critical', now(), '{"title": "Down"}', ${stamps});
  ${guarded({ group, project, user })}
  update milestones set start_date = current_date, due_date = current_date + 9;
  update project_counters set issues = 7, alerts = 3 where project_id = ${project};
  insert into subscriptions (label_id, user_id, project_id, subscribed, created_at, updated_at)
    select l.id, u.id, l.project_id, true, ${stamps} from labels l, users u where u.username = 'the-owner';
  insert into oauth_applications (uid, name, redirect_uris, scopes, confidential, user_id, namespace_id, created_at, updated_at)
    select 'of-' || username, 'own', array['https://client.example/'], array['api'], true, id, null, ${stamps} from users where username = 'person-1';
  insert into oauth_applications (uid, name, redirect_uris, scopes, confidential, user_id, namespace_id, created_at, updated_at)
    select 'of-group', 'own', array['https://client.example/'], array['api'], true, null, ${group}, ${stamps};
  insert into identities (user_id, provider, extern_uid) values (${user}, 'openid_connect', 'one');
  update users set otp_enabled_at = now(), otp_secret_sealed = 'sealed' where username = 'person-2';`;

/** Objects that only some callers with the ability may touch: of Owners, of others, hidden, locked, or out of reach. */
const guarded = ({ group, project }: SampleIds): string => `
  insert into namespaces (kind, ancestor_ids, name, path, full_path, full_name, visibility, created_at, updated_at)
    values ('group', '{}', 'elsewhere', 'elsewhere', 'elsewhere', 'elsewhere', 0, ${stamps});
  update namespaces set ancestor_ids = array[id] where path = 'elsewhere';
  insert into projects (namespace_id, name, path, visibility, last_activity_at, created_at, updated_at)
    select id, 'elsewhere', 'elsewhere', 0, now(), ${stamps} from namespaces where path = 'elsewhere'
    union all
    select id, 'in-reach', 'in-reach', 20, now(), ${stamps} from namespaces where path = 'elsewhere';
  insert into namespaces (kind, parent_id, ancestor_ids, name, path, full_path, full_name, visibility, settings, created_at, updated_at)
    values ('group', ${group}, array[${group}], 'locked', 'locked', 'world/locked', 'world / locked', 0, '${locked}', ${stamps});
  update namespaces set ancestor_ids = ancestor_ids || id where full_path = 'world/locked';
  insert into projects (namespace_id, name, path, visibility, last_activity_at, created_at, updated_at)
    select id, 'locked', 'inside', 0, now(), ${stamps} from namespaces where path = 'locked';
  insert into issues (iid, project_id, author_id, title, confidential, discussion_locked, relative_position, created_at, updated_at)
    select 6, ${project}, id, 'confidential', true, null::boolean, 10, ${stamps} from users where username = 'person-2'
    union all
    select 7, ${project}, id, 'locked', false, true, 11, ${stamps} from users where username = 'person-2';
  insert into issues (iid, project_id, author_id, title, relative_position, created_at, updated_at)
    select 1, p.id, u.id, p.path, 12, ${stamps} from users u, projects p
    where u.username = 'person-2' and p.path in ('elsewhere', 'in-reach');
  insert into notes (project_id, issue_id, author_id, body, internal, discussion_id, created_at, updated_at)
    select ${project}, i.id, u.id, 'internal', true, encode(sha256('internal'), 'hex')::char(40), ${stamps}
    from users u, issues i where u.username = 'person-2' and i.iid = 1 and i.project_id = ${project};
  insert into epics (iid, namespace_id, author_id, title, confidential, relative_position, created_at, updated_at)
    select 5, ${group}, id, 'confidential', true, 13, ${stamps} from users where username = 'person-2';
  insert into epics (iid, namespace_id, author_id, title, relative_position, created_at, updated_at)
    select 1, n.id, u.id, 'elsewhere', 14, ${stamps} from users u, namespaces n
    where u.username = 'person-2' and n.path = 'elsewhere';
  insert into users (username, name, email, projects_limit, can_create_group, confirmed_at, created_at, updated_at)
    values ('the-chief', 'Chief', 'chief@example.org', 10, true, now(), ${stamps}),
      ('the-head', 'Head', 'head@example.org', 10, true, now(), ${stamps});
  insert into members (user_id, project_id, namespace_id, access_level, created_at, updated_at)
    select id, ${project}, null::bigint, 50, ${stamps} from users where username = 'the-chief'
    union all select id, null, ${group}, 50, ${stamps} from users where username = 'the-head';
  insert into project_counters (project_id, issues)
    select id, 1 from projects where path in ('elsewhere', 'in-reach');
  insert into invitations (project_id, namespace_id, email, token_sealed, token_digest, access_level, created_by_id, created_at, updated_at)
    select project_id, namespace_id, 'chief@example.net', token_sealed, sha256('chief' || token_digest), 50, created_by_id, ${stamps}
    from invitations where email = 'person-1@example.net';
  insert into project_group_links (project_id, group_id, group_access, created_at)
    select ${project}, id, 50, now() from namespaces where path = 'part-2';
  insert into protected_branches (project_id, name, created_at, updated_at) values (${project}, 'person-2', ${stamps});
  insert into protected_ref_access (protected_branch_id, action, access_level, created_at)
    select id, action, 40, now() from protected_branches, unnest(array['push', 'merge']) action where name = 'person-2';
  insert into protected_tags (project_id, name, created_at, updated_at)
    values (${project}, 'person-2', ${stamps}), (${project}, 'held', ${stamps});
  insert into protected_ref_access (protected_tag_id, action, access_level, created_at)
    select id, 'create', 40, now() from protected_tags where name in ('person-2', 'held');
  insert into deploy_keys (user_id, title, key, fingerprint, fingerprint_sha256, created_at, updated_at)
    select id, 'elsewhere', 'ssh-ed25519 CCCC', 'md5-elsewhere', 'sha256-elsewhere', ${stamps} from users where username = 'person-2';
  insert into deploy_keys_projects (deploy_key_id, project_id, can_push, created_at)
    select k.id, p.id, false, now() from deploy_keys k, projects p where k.title = 'elsewhere' and p.path = 'elsewhere';`;

/** Objects with files, made by requests of an administrator; then the author of the world becomes theirs. */
async function arrange(app: TestApp, { group, project }: SampleIds, token: string): Promise<void> {
  const { sql } = app.app.services.database;
  for (const name of ['deletable', 'pending', 'banned', 'dormant', 'asking'])
    await makeUser(app, { username: `the-${name}` });
  await sql`update users set state = 'blocked_pending_approval' where username = 'the-pending'`;
  await sql`update users set state = 'banned' where username = 'the-banned'`;
  await sql`update users set last_activity_on = current_date - 400, created_at = now() - interval '400 days' where username = 'the-dormant'`;
  await sql`insert into access_requests (user_id, project_id, namespace_id, requested_at)
    select id, project, "group", now() from users,
      (values (${project}::bigint, null::bigint), (null::bigint, ${group}::bigint)) x(project, "group")
    where username = 'the-asking'`;
  const [who, message] = ['Ada Lovelace <ada@example.com> 1700000100 +0000', 'data 6\nBehind\n'];
  const input = `commit refs/heads/behind\nauthor ${who}\ncommitter ${who}\n${message}from refs/heads/main~1\nM 160000 ${'2'.repeat(40)} lib\n`;
  await app.app.services.repositories.write(projectRepository(project), 'main', ({ folder }) =>
    git(['fast-import', '--quiet'], { folder, input }),
  );
  const admin = app.as(token);
  const snippet = { title: 'kept', file_name: 'person-1', content: 'Hello', visibility: 'private' };
  const made = [
    await admin('POST /snippets', { body: snippet }),
    await admin(`POST /projects/${project}/snippets`, { body: { ...snippet, title: 'of another' } }),
    await admin(`POST /projects/${project}/snippets`, { body: snippet }),
    await upload(app, token, 'POST', `/projects/${project}/uploads`, 'file'),
    await upload(app, token, 'POST', `/groups/${group}/uploads`, 'file'),
    await upload(app, token, 'POST', `/projects/${project}/issues/1/metric_images`, 'file'),
    // The log of an alert begins with its first read, even by a caller who is then refused.
    await admin(`GET /projects/${project}/alert_management_alerts/1/notes`),
    await upload(app, token, 'PUT', `/projects/${project}`, 'avatar'),
    await upload(app, token, 'PUT', `/groups/${group}`, 'avatar'),
    await upload(app, token, 'PUT', '/user/avatar', 'avatar'),
  ];
  for (const { status, text } of made) if (status > 201) throw new Error(`${status} ${text}`);
  await sql`update snippets set author_id = (select id from users where username = 'person-1'),
    user_agent = 'one', ip_address = '127.0.0.1' where title = 'kept'`;
  await sql`update snippets set author_id = (select id from users where username = 'person-2') where title = 'of another'`;
  await sql`update issues set user_agent = 'one', ip_address = '127.0.0.1'`;
}

async function upload(app: TestApp, token: string, method: string, path: string, field: string) {
  const form = new FormData();
  form.set(field, new Blob(['GIF89a and more']), 'stone.gif');
  const headers = { 'private-token': token };
  const response = await fetch(`${app.url}/api/v4${path}`, { method, headers, body: form });
  return { status: response.status, text: await response.text() };
}
