/** Every DELETE heeds If-Unmodified-Since: 412 when the object changed after that time (spec: Status codes). */
import { beforeAll, expect, test } from 'vitest';
import type { Endpoint } from '../../src/kernel/api/endpoint.ts';
import { digest } from '../../src/platform/secret.ts';
import { ROOT_TOKEN, useApp } from '../support/app.ts';
import { SNIPPET } from '../support/conversation-rows.ts';
import { addressOf, type SampleIds, titleOf } from '../support/inventory.ts';
import { sendRaw } from '../support/raw-http.ts';
import { everything } from '../support/snapshot.ts';
import { makeWorld } from '../support/world.ts';

const ashlar = useApp();
let places: SampleIds;
const OWN_TOKEN = 'glpat-that-removes-itself';

beforeAll(async () => {
  places = await makeWorld(ashlar, 4);
  const { sql } = ashlar.app.services.database;
  await sql`insert into identities (user_id, provider, extern_uid) select id, 'saml', 'x' from users where username = 'person-1'`;
  await sql`insert into feature_gates (name, value, updated_at) values ('generic_alert_fingerprinting', 'true', now())`;
  await sql`insert into access_tokens (kind, digest, user_id, name, scopes, created_at, updated_at)
    values ('personal', ${digest(OWN_TOKEN)}, ${places.user}, 'own', array['api'], now(), now())`;
});

const person = (number: number): string => `(select id from users where username = 'person-${number}')`;
const of = (table: string, where: string, nth: number): string =>
  `(select id from ${table} where ${where} order by id offset ${nth} limit 1)`;

/** Notes, awards and other records of one kind of noteable: at its number or id 1 in the world. */
function conversationAt(path: string, kind: 'issue' | 'epic' | 'snippet' | 'commit' | 'alert', nth: number) {
  const noteable_id = kind === 'snippet' ? String(SNIPPET) : `'1'`;
  const thread = `repeat('${nth}', 40)`;
  const inThread = of('notes', `discussion_id = ${thread}`, 0);
  const threads = {
    [`${path}/discussions/:discussion_id/notes/:note_id`]: {
      noteable_id,
      discussion_id: thread,
      note_id: inThread,
    },
  };
  if (kind === 'commit') return threads;
  const notes = {
    ...threads,
    [`${path}/notes/:note_id`]: { noteable_id, note_id: of('notes', `${kind}_id is not null`, 1) },
  };
  if (kind === 'alert') return notes;
  return {
    ...notes,
    [`${path}/award_emoji/:award_id`]: {
      noteable_id,
      award_id: of('award_emoji', `${kind}_id is not null`, 0),
    },
    [`${path}/notes/:note_id/award_emoji/:award_id`]: {
      noteable_id,
      note_id: String(nth),
      award_id: of('award_emoji', `note_id = ${nth}`, 0),
    },
  };
}

/** The file of a user, in the project (1) or the group (2). */
const uploadedBy = (place: number, number: number) => ({
  secret: `md5('${place}person-${number}')`,
  filename: `'person-${number}'`,
});

/**
 * The parameters of each path, as SQL: an object of its own for each, since one that is removed is gone for
 * the others.
 */
function objectsAt({ user, group, project }: SampleIds): Record<string, Record<string, string>> {
  const root = `user_id = ${user}`;
  return {
    ...conversationAt('/projects/:id/issues/:noteable_id', 'issue', 1),
    ...conversationAt('/groups/:id/epics/:noteable_id', 'epic', 2),
    ...conversationAt('/projects/:id/snippets/:noteable_id', 'snippet', 3),
    ...conversationAt('/projects/:id/repository/commits/:noteable_id', 'commit', 4),
    ...conversationAt('/projects/:id/alert_management_alerts/:noteable_id', 'alert', 5),
    '/applications/:id': { id: of('oauth_applications', 'user_id is null and namespace_id is null', 0) },
    '/features/:name': { name: `'generic_alert_fingerprinting'` },
    '/groups/:id': { id: of('namespaces', "path like 'part-%'", 0) },
    '/groups/:id/access_requests/:user_id': { user_id: person(1) },
    '/groups/:id/access_tokens/:token_id': { token_id: of('access_tokens', `kind = 'group'`, 0) },
    '/groups/:id/badges/:badge_id': { badge_id: of('badges', `namespace_id = ${group}`, 0) },
    '/groups/:id/custom_attributes/:key': { key: `'person-1'` },
    '/groups/:id/deploy_tokens/:token_id': { token_id: of('deploy_tokens', `namespace_id = ${group}`, 0) },
    '/groups/:id/enterprise_users/:user_id': { user_id: person(2) },
    '/groups/:id/-/epics/:epic_iid': { epic_iid: '4' },
    '/groups/:id/-/epics/:epic_iid/epics/:child_epic_id': {
      epic_iid: '1',
      child_epic_id: of('epics', 'iid > 1', 0),
    },
    '/groups/:id/-/epics/:epic_iid/issues/:issue_id': {
      epic_iid: '1',
      issue_id: of('epic_issues', 'true', 0),
    },
    '/groups/:id/epics/:epic_iid': { epic_iid: '5' },
    '/groups/:id/epics/:epic_iid/epics/:child_epic_id': {
      epic_iid: '1',
      child_epic_id: of('epics', 'iid > 1', 1),
    },
    '/groups/:id/epics/:epic_iid/issues/:issue_id': { epic_iid: '1', issue_id: of('epic_issues', 'true', 1) },
    '/groups/:id/epics/:epic_iid/related_epics/:related_epic_link_id': {
      epic_iid: '1',
      related_epic_link_id: of('related_epic_links', 'true', 0),
    },
    '/groups/:id/invitations/:email': { email: `'person-1@example.net'` },
    '/groups/:id/labels': {},
    '/groups/:id/labels/:name': { name: `'of-person-2'` },
    '/groups/:id/members/:user_id': { user_id: person(1) },
    '/groups/:id/milestones/:milestone_id': {
      milestone_id: of('milestones', `namespace_id = ${group}`, 0),
    },
    '/groups/:id/share/:group_id': { group_id: of('namespaces', "path like 'beside-%'", 0) },
    '/groups/:id/uploads/:upload_id': { upload_id: of('uploads', `namespace_id = ${group}`, 0) },
    '/groups/:id/uploads/:secret/:filename': uploadedBy(2, 2),
    '/groups/:id/wikis/:slug': { slug: `'person-1'` },
    '/personal_access_tokens/:id': { id: of('access_tokens', `kind = 'personal' and name = 'Token'`, 0) },
    '/personal_access_tokens/self': {},
    '/projects/:id': { id: of('projects', `namespace_id = ${group}`, 1) },
    '/projects/:id/access_requests/:user_id': { user_id: person(1) },
    '/projects/:id/access_tokens/:token_id': { token_id: of('access_tokens', `kind = 'project'`, 0) },
    '/projects/:id/alert_management_alerts/:alert_iid/metric_images/:metric_image_id': {
      alert_iid: '1',
      metric_image_id: of('metric_images', 'alert_id is not null', 0),
    },
    '/projects/:id/alert_management_integrations/:integration_id': {
      integration_id: of('alert_integrations', 'true', 0),
    },
    '/projects/:id/badges/:badge_id': { badge_id: of('badges', `project_id = ${project}`, 0) },
    '/projects/:id/custom_attributes/:key': { key: `'person-1'` },
    '/projects/:id/deploy_tokens/:token_id': { token_id: of('deploy_tokens', `project_id = ${project}`, 0) },
    '/projects/:id/deploy_keys/:key_id': { key_id: of('deploy_keys', 'true', 0) },
    '/projects/:id/error_tracking/client_keys/:key_id': {
      key_id: of('error_tracking_client_keys', `project_id = ${project}`, 0),
    },
    '/projects/:id/feature_flags/:feature_flag_name': { feature_flag_name: `'person-1'` },
    '/projects/:id/fork': { id: of('projects', `forked_from_id = ${project}`, 0) },
    '/projects/:id/invitations/:email': { email: `'person-1@example.net'` },
    '/projects/:id/issues/:issue_iid': { issue_iid: '3' },
    '/projects/:id/issues/:issue_iid/links/:issue_link_id': {
      issue_iid: '1',
      issue_link_id: of('issue_links', 'true', 0),
    },
    '/projects/:id/issues/:issue_iid/metric_images/:metric_image_id': {
      issue_iid: '1',
      metric_image_id: of('metric_images', 'issue_id is not null', 0),
    },
    '/projects/:id/issues/:issue_iid/timeline_events/:timeline_event_id': {
      issue_iid: '1',
      timeline_event_id: of('incident_timeline_events', 'true', 0),
    },
    '/projects/:id/labels': {},
    '/projects/:id/labels/:name': { name: `'person-2'` },
    '/projects/:id/members/:user_id': { user_id: person(1) },
    '/projects/:id/milestones/:milestone_id': {
      milestone_id: of('milestones', `project_id = ${project}`, 0),
    },
    '/projects/:id/protected_branches/:name': { name: `'guarded-person-1'` },
    '/projects/:id/protected_tags/:name': { name: `'guarded-person-1'` },
    '/projects/:id/repository/branches/:branch': { branch: `'person-1'` },
    '/projects/:id/repository/files/:file_path': { file_path: `'docs/person-1'` },
    '/projects/:id/repository/merged_branches': {},
    '/projects/:id/repository/tags/:tag_name': { tag_name: `'person-1'` },
    '/projects/:id/share/:group_id': { group_id: of('namespaces', "path like 'beside-%'", 0) },
    '/projects/:id/uploads/:upload_id': { upload_id: of('uploads', `project_id = ${project}`, 0) },
    '/projects/:id/uploads/:secret/:filename': uploadedBy(1, 2),
    '/projects/:id/wikis/:slug': { slug: `'person-1'` },
    '/projects/:id/snippets/:snippet_id': { snippet_id: of('snippets', `project_id = ${project}`, 0) },
    '/snippets/:id': { id: of('snippets', 'project_id is null', 0) },
    '/topics/:id': { id: of('topics', 'true', 0) },
    '/user/emails/:email_id': { email_id: of('emails', `${root} and email like 'root-%'`, 0) },
    '/user/gpg_keys/:key_id': { key_id: of('gpg_keys', root, 0) },
    '/user/keys/:key_id': { key_id: of('ssh_keys', root, 0) },
    '/users/:id': { id: person(3) },
    '/users/:id/custom_attributes/:key': { key: `'person-1'` },
    '/users/:id/emails/:email_id': { email_id: of('emails', `${root} and email like 'root-%'`, 1) },
    '/users/:id/gpg_keys/:key_id': { key_id: of('gpg_keys', root, 1) },
    '/users/:id/identities/:provider': { id: person(1), provider: `'saml'` },
    '/users/:id/keys/:key_id': { key_id: of('ssh_keys', root, 1) },
    '/users/:user_id/impersonation_tokens/:impersonation_token_id': {
      impersonation_token_id: of('access_tokens', `kind = 'impersonation'`, 0),
    },
  };
}

/** Identities carry no time: there is nothing to compare with. */
const timeless = new Set(['/users/:id/identities/:provider']);

/** Parameters that a DELETE needs beside its object. */
const queries: Record<string, string> = {
  '/groups/:id/labels': '?name=of-person-1',
  '/projects/:id/labels': '?name=person-1',
  '/projects/:id/repository/files/:file_path': '?branch=main&commit_message=Away',
};

type Removal = { spec: Endpoint; line: string; token: string };

/** Inner objects first, so that each still exists at its turn. */
async function removals(): Promise<Removal[]> {
  const { sql } = ashlar.app.services.database;
  const objects = objectsAt(places);
  const found: Removal[] = [];
  for (const spec of ashlar.app.endpoints.filter(({ method }) => method === 'DELETE')) {
    const parameters = Object.entries(objects[spec.path] ?? {});
    const columns = parameters.map(([name, text]) => `${text}::text as ${name}`);
    const [values = {}] =
      columns.length === 0 ? [] : await sql.unsafe<Record<string, string>[]>(`select ${columns.join(', ')}`);
    const { id, ...others } = values;
    const first = id === undefined ? {} : { user: Number(id), group: Number(id), project: Number(id) };
    const path = addressOf(
      spec.path,
      { ...places, ...first },
      { ...others, ...(id !== undefined && { id }) },
    );
    const token = spec.path.endsWith('/self') ? OWN_TOKEN : ROOT_TOKEN;
    found.push({ spec, line: `DELETE /api/v4${path}${queries[spec.path] ?? ''}`, token });
  }
  return found.sort((a, b) => b.spec.path.split('/').length - a.spec.path.split('/').length);
}

const remove = ({ line, token }: Removal, since: string) =>
  sendRaw(ashlar.url, line, { headers: { 'private-token': token, 'if-unmodified-since': since } });

test('every DELETE has an object here to remove', () => {
  const paths = ashlar.app.endpoints.filter(({ method }) => method === 'DELETE').map(({ path }) => path);
  expect(Object.keys(objectsAt(places)).sort()).toEqual(paths.sort());
});

test('what changed since is not removed: 412', async () => {
  const all = (await removals()).filter(({ spec }) => !timeless.has(spec.path));
  const before = await everything(ashlar);
  for (const each of all) {
    const { status, text } = await remove(each, 'Sat, 01 Jan 2000 00:00:00 GMT');
    expect([titleOf(each.spec), each.line, status, text]).toEqual([
      titleOf(each.spec),
      each.line,
      412,
      '{"message":"412 Precondition Failed"}',
    ]);
  }
  expect(await everything(ashlar)).toEqual(before);
});

test('what did not change is, and a time that cannot be read is ignored (facts: Cross-cutting behaviour)', async () => {
  const future = new Date(Date.now() + 3_600_000).toUTCString();
  for (const [index, each] of (await removals()).entries()) {
    const { status, text } = await remove(each, index % 2 === 0 ? future : 'once upon a time');
    expect([each.line, [200, 202, 204].includes(status), text]).toEqual([each.line, true, text]);
  }
});
