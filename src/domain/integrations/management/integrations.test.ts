/** Integrations of projects and groups over HTTP. */
import { beforeAll, describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import {
  bodyOf,
  type MadeGroup,
  type MadeProject,
  type MadeUser,
  makeGroup,
  makeMembers,
  makeProject,
  makeUser,
} from '../../../../test/support/factories.ts';
import { integrations, slugs } from '../descriptions/descriptions.ts';

const ashlar = useApp();
let outer: MadeGroup;
let inner: MadeGroup;
let project: MadeProject;
let maintainer: MadeUser;
let developer: MadeUser;

beforeAll(async () => {
  outer = await makeGroup(ashlar);
  inner = await makeGroup(ashlar, { parent_id: outer.id });
  project = await makeProject(ashlar, { namespace_id: inner.id });
  ({ maintainer } = await makeMembers(ashlar, `groups/${outer.id}`, 'maintainer'));
  ({ developer } = await makeMembers(ashlar, `projects/${project.id}`, 'developer'));
});

const webhook = 'https://chat.example/hook-secret';
const at = (id: number) => `/projects/${id}/integrations`;
const set = async (path: string, body: object = { webhook }) =>
  bodyOf(await ashlar.root(`PUT ${path}`, { body }), 200);
const get = async (path: string) => bodyOf(await ashlar.root(`GET ${path}`), 200);

describe.each(['integrations', 'services', 'groups'] as const)('an integration below %s', (kind) => {
  const place = async () =>
    kind === 'groups'
      ? `/groups/${(await makeGroup(ashlar)).id}/integrations`
      : `/projects/${(await makeProject(ashlar)).id}/${kind}`;

  test('is set, shown without secrets, changed and turned off', async () => {
    const path = await place();
    expect(bodyOf(await ashlar.root(`GET ${path}`), 200)).toEqual([]);
    const missing = await ashlar.root(`GET ${path}/slack`);
    expect([missing.status, missing.body]).toEqual([404, { message: '404 Integration Not Found' }]);

    const made = await set(`${path}/slack`, { webhook, username: 'Ashlar', note_events: false });
    expect(made).toMatchObject({
      title: 'Slack notifications',
      slug: 'slack',
      active: true,
      inherited: false,
      push_events: true,
      confidential_note_events: true,
      note_events: false,
      pipeline_events: true,
      job_events: false,
      properties: { username: 'Ashlar', channel: null, push_channel: null },
    });
    expect(JSON.stringify(made)).not.toContain('hook-secret');
    expect(await get(`${path}/slack`)).toEqual(made);
    const { properties: _, ...listed } = made;
    expect(await get(path)).toEqual([listed]);

    const changed = await set(`${path}/slack`, { webhook, channel: 'town', push_events: false });
    expect(changed).toMatchObject({
      id: made.id,
      push_events: false,
      note_events: false,
      properties: { username: 'Ashlar', channel: 'town' },
    });
    expect((await set(`${path}/slack`, { webhook, username: null })).properties.username).toBeNull();

    expect((await ashlar.root(`DELETE ${path}/slack`)).status).toBe(204);
    expect(await get(path)).toEqual([]);
    expect(await get(`${path}/slack`)).toMatchObject({
      active: false,
      push_events: false,
      properties: { channel: null },
    });
    expect((await ashlar.root(`DELETE ${path}/discord`)).status).toBe(404);
    const { sql } = ashlar.app.services.database;
    const rows = await sql`select secrets_sealed from integrations where id = ${made.id}`;
    expect(rows).toEqual([{ secrets_sealed: null }]);
  });

  test('is refused without what it needs, and with what cannot be', async () => {
    const path = await place();
    for (const [slug, body, status] of [
      ['slack', {}, 400],
      ['slack', { webhook: '' }, 400],
      ['slack', { webhook: 'javascript:alert(1)' }, 400],
      ['slack', { webhook: 'https://user:pass@chat.example/' }, 400],
      ['slack', { webhook: 'http://127.0.0.1/' }, 400],
      ['slack', { webhook: 'http://[::1]:9/' }, 400],
      ['slack', { webhook, branches_to_be_notified: 'some' }, 400],
      ['telegram', { token: 'a', room: 'b', hostname: 'http://localhost' }, 400],
      ['pushover', { api_key: 'a', user_key: 'b', priority: '2' }, 400],
      ['pushover', { api_key: 'a', user_key: 'b', priority: '1' }, 200],
    ] as const)
      expect([slug, body, (await ashlar.root(`PUT ${path}/${slug}`, { body })).status]).toEqual([
        slug,
        body,
        status,
      ]);
    expect((await ashlar.root(`PUT ${path}/slack`, { body: {} })).body).toEqual({
      message: '400 Bad request - "webhook" not given',
      error: 'webhook is missing',
    });
    const unknown = await ashlar.root(`GET ${path}/harbor`);
    expect(unknown.status).toBe(400);
    expect(unknown.body.error).toBe('slug does not have a valid value');
  });

  test('inherits nothing where nobody has one, and keeps its own then', async () => {
    const path = await place();
    const made = await set(`${path}/slack`);
    const body = { webhook, use_inherited_settings: true };
    expect((await ashlar.root(`PUT ${path}/slack`, { body })).status).toBe(400);
    expect(await get(`${path}/slack`)).toEqual(made);
  });
});

test.each(slugs)('%s has fields of the types that others of that name have', (slug) => {
  const shapeOf = ({ schema }: { schema: unknown }) => {
    const { type, enum: words } = schema as Record<string, unknown>;
    return { type, words };
  };
  for (const [name, field] of Object.entries(integrations.get(slug)?.fields ?? {}))
    for (const other of integrations.values()) {
      const same = other.fields[name];
      if (same) expect([other.slug, name, shapeOf(same)]).toEqual([other.slug, name, shapeOf(field)]);
    }
});

test('is managed by Maintainers of projects and Owners of groups', async () => {
  const stranger = await makeUser(ashlar);
  const statuses = async (user: MadeUser, path: string) => {
    const found: number[] = [];
    for (const request of [`GET ${path}`, `PUT ${path}/slack`, `GET ${path}/slack`, `DELETE ${path}/slack`])
      found.push(
        (await ashlar.as(user.token)(request, request.startsWith('P') ? { body: { webhook } } : {})).status,
      );
    return found;
  };
  const own = await makeProject(ashlar, { namespace_id: inner.id });
  expect(await statuses(stranger, at(own.id))).toEqual([404, 404, 404, 404]);
  expect(await statuses(developer, at(project.id))).toEqual([403, 403, 403, 403]);
  expect(await statuses(maintainer, at(own.id))).toEqual([200, 200, 200, 204]);
  expect(await statuses(maintainer, `/groups/${inner.id}/integrations`)).toEqual([403, 403, 403, 403]);
});

test('a project has that of the nearest group, until it has its own', async () => {
  const place = await makeProject(ashlar, { namespace_id: inner.id });
  const path = `${at(place.id)}/mattermost`;
  const far = await set(`/groups/${outer.id}/integrations/mattermost`, { webhook, channel: 'far' });
  const channelOf = async () => {
    const { inherited, active, properties, id } = await get(path);
    return { inherited, active, channel: properties.channel, id };
  };
  expect(await channelOf()).toEqual({ inherited: true, active: true, channel: 'far', id: far.id });
  const near = await set(`/groups/${inner.id}/integrations/mattermost`, { webhook, channel: 'near' });
  expect(await channelOf()).toEqual({ inherited: true, active: true, channel: 'near', id: near.id });
  expect(
    (await get(at(place.id))).filter(({ slug }: { slug: string }) => slug === 'mattermost'),
  ).toMatchObject([{ id: near.id, inherited: true }]);

  // Its own begins anew: what the group has is not the project's to keep.
  const own = await set(path, { webhook, username: 'Own' });
  expect(own).toMatchObject({ inherited: false, properties: { username: 'Own', channel: null } });
  expect(await set(path, { webhook, use_inherited_settings: true })).toMatchObject({
    id: near.id,
    inherited: true,
  });

  expect((await ashlar.root(`DELETE ${path}`)).status).toBe(204);
  expect(await channelOf()).toMatchObject({ inherited: false, active: false });
  expect(await get(at(place.id))).toEqual([]);
  expect(await get(`/groups/${inner.id}/integrations/mattermost`)).toMatchObject({
    id: near.id,
    active: true,
  });

  // A group that turned it off keeps it from its projects.
  await ashlar.root(`PUT ${path}`, { body: { webhook, use_inherited_settings: true } });
  expect((await ashlar.root(`DELETE /groups/${inner.id}/integrations/mattermost`)).status).toBe(204);
  expect(await get(at(place.id))).toEqual([]);
});

test("requests at once make one; another project's is not found", async () => {
  const [one, other] = [await makeProject(ashlar), await makeProject(ashlar)];
  const made = await Promise.all(Array.from({ length: 6 }, () => set(`${at(one.id)}/slack`)));
  expect(new Set(made.map(({ id }) => id)).size).toBe(1);
  expect((await ashlar.root(`GET ${at(other.id)}/slack`)).status).toBe(404);
  expect((await ashlar.root(`DELETE ${at(other.id)}/slack`)).status).toBe(404);
  const { sql } = ashlar.app.services.database;
  const events = await sql`select event_name from audit_events where details ->> 'target_type' = 'Integration'
    and details ->> 'target_id' = ${String(made[0].id)}`;
  expect(events).toHaveLength(6);
});

test('Jira may be set and left turned off; others are always turned on', async () => {
  const project = await makeProject(ashlar);
  const path = `/projects/${project.id}/integrations`;
  const jira = { url: 'https://jira.example', password: 'a-password', active: false };
  expect(bodyOf(await ashlar.root(`PUT ${path}/jira`, { body: jira }), 200)).toMatchObject({
    active: false,
    properties: { url: 'https://jira.example' },
  });
  expect(bodyOf(await ashlar.root(`GET ${path}`), 200)).toEqual([]);
  expect(bodyOf(await ashlar.root(`GET ${path}/jira`), 200)).toMatchObject({ active: false });
  bodyOf(await ashlar.root(`PUT ${path}/jira`, { body: { ...jira, active: true } }), 200);
  expect(bodyOf(await ashlar.root(`GET ${path}`), 200)).toMatchObject([{ slug: 'jira', active: true }]);
  const wiki = { external_wiki_url: 'https://wiki.example', active: false };
  expect(bodyOf(await ashlar.root(`PUT ${path}/external-wiki`, { body: wiki }), 200).active).toBe(true);
});
