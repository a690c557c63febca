/** The three lists of audit events, over HTTP. */
import { beforeAll, describe, expect, test } from 'vitest';
import { type Called, useApp } from '../../../test/support/app.ts';
import {
  type MadeGroup,
  type MadeProject,
  type MadeUser,
  makeGroup,
  makeMembers,
  makeProject,
  makeUser,
} from '../../../test/support/factories.ts';

const app = useApp();
let group: MadeGroup;
let project: MadeProject;
let maintainer: MadeUser;
let developer: MadeUser;
let reporter: MadeUser;
let owner: MadeUser;

/** Three events by root and one by the developer, a minute apart, on project and group. */
beforeAll(async () => {
  group = await makeGroup(app);
  project = await makeProject(app, { namespace_id: group.id });
  ({ owner, maintainer, developer, reporter } = await makeMembers(
    app,
    `groups/${group.id}`,
    'owner',
    'maintainer',
    'developer',
    'reporter',
  ));
  const { sql } = app.app.services.database;
  await sql`delete from audit_events`;
  for (const [type, id] of [
    ['Project', project.id],
    ['Group', group.id],
  ] as const) {
    for (const [minute, author] of [1, 1, 1, developer.id].entries()) {
      await sql`
        insert into audit_events (author_id, entity_type, entity_id, event_name, details, created_at) values
          (${author}, ${type}, ${id}, 'thing_changed', ${sql.json({ change: 'name', from: 'a', to: 'b' })},
           ${`2026-01-01T00:0${minute}:00Z`})`;
    }
  }
});

type Event = { id: number; author_id: number; created_at: string };
const events = (called: Called): Event[] => {
  expect(called.status).toBe(200);
  return called.body;
};

describe.each([
  ['project', () => `/projects/${project.id}/audit_events`, () => maintainer, () => project.id],
  ['group', () => `/groups/${group.id}/audit_events`, () => owner, () => group.id],
] as const)('audit events of a %s (facts: Roles and visibility)', (kind, path, whoSeesAll, id) => {
  const seen = async (token: string, query?: string) =>
    events(await app.as(token)(`GET ${path()}`, query === undefined ? {} : { query }));

  test('are shown newest first, field by field', async () => {
    const all = await seen(whoSeesAll().token);
    expect(all.map((event) => event.created_at)).toEqual(
      [3, 2, 1, 0].map((minute) => `2026-01-01T00:0${minute}:00.000Z`),
    );
    expect(all[0]).toEqual({
      id: expect.any(Number),
      author_id: developer.id,
      entity_id: id(),
      entity_type: kind === 'project' ? 'Project' : 'Group',
      event_name: 'thing_changed',
      details: { change: 'name', from: 'a', to: 'b' },
      created_at: '2026-01-01T00:03:00.000Z',
    });
    expect((await app.as(whoSeesAll().token)(`GET ${path()}/${all[0]?.id}`)).body).toEqual(all[0]);
  });

  test('others see their own only, in the list and by id', async () => {
    const own = await seen(developer.token);
    expect(own.map((event) => event.author_id)).toEqual([developer.id]);
    const [, hidden] = await seen(whoSeesAll().token);
    expect((await app.as(developer.token)(`GET ${path()}/${own[0]?.id}`)).status).toBe(200);
    expect((await app.as(developer.token)(`GET ${path()}/${hidden?.id}`)).status).toBe(404);
  });

  test('are not for those below, nor for anybody outside', async () => {
    const outsider = await makeUser(app);
    for (const request of [`GET ${path()}`, `GET ${path()}/1`]) {
      expect((await app.call(request)).status).toBe(401);
      expect((await app.as(outsider.token)(request)).status).toBe(404);
      expect((await app.as(reporter.token)(request)).status).toBe(403);
    }
  });

  test('are filtered by time', async () => {
    const between = 'created_after=2026-01-01T00:01:00Z&created_before=2026-01-01T00:02:00Z';
    expect(await seen(whoSeesAll().token, between)).toHaveLength(2);
    expect(await seen(whoSeesAll().token, 'created_after=2026-01-02')).toEqual([]);
    const wrong = await app.as(whoSeesAll().token)(`GET ${path()}`, { query: 'created_after=yesterday' });
    expect(wrong.status).toBe(400);
    expect(wrong.body.message).toEqual({ created_after: ['is invalid'] });
  });

  test('walk by keyset, newest first only (spec: Pagination, supported keyset resources)', async () => {
    const walked: number[] = [];
    let query: string | undefined = 'pagination=keyset&order_by=id&sort=desc&per_page=3';
    for (let page = 0; page < 5 && query !== undefined; page++) {
      const called: Called = await app.as(whoSeesAll().token)(`GET ${path()}`, { query });
      walked.push(...events(called).map((event) => event.id));
      expect(called.headers.get('x-total')).toBeNull();
      query = /\?([^>]*)>; rel="next"/.exec(called.headers.get('link') ?? '')?.[1];
    }
    expect(walked).toEqual((await seen(whoSeesAll().token)).map((event) => event.id));
    for (const other of ['order_by=id&sort=asc', 'order_by=created_at&sort=desc']) {
      const response = await app.as(whoSeesAll().token)(`GET ${path()}`, {
        query: `pagination=keyset&${other}`,
      });
      expect(response.status).toBe(405);
    }
  });
});

test('an event is reached through its own object only', async () => {
  const [ofGroup] = events(await app.root(`GET /groups/${group.id}/audit_events`));
  expect((await app.root(`GET /projects/${project.id}/audit_events/${ofGroup?.id}`)).status).toBe(404);
});

describe('audit events of the instance (facts: Audit events)', () => {
  test('are for administrators', async () => {
    for (const request of ['GET /audit_events', 'GET /audit_events/1']) {
      expect((await app.call(request)).status).toBe(401);
      expect((await app.as(owner.token)(request)).status).toBe(403);
    }
  });

  test('are filtered by type, under both names of the instance, and by object', async () => {
    await app.root('PUT /application/settings', { body: { session_expire_delay: 77 } });
    for (const type of ['Gitlab::Audit::InstanceScope', 'InstanceScope']) {
      const list = events(await app.root('GET /audit_events', { query: `entity_type=${type}` }));
      expect(list).toMatchObject([
        {
          entity_type: 'Gitlab::Audit::InstanceScope',
          entity_id: 1,
          event_name: 'application_setting_updated',
        },
      ]);
    }
    const ofProject = `entity_type=Project&entity_id=${project.id}`;
    expect(events(await app.root('GET /audit_events', { query: ofProject }))).toHaveLength(4);
    const ofAnother = `entity_type=Project&entity_id=${project.id + 1_000}`;
    expect(events(await app.root('GET /audit_events', { query: ofAnother }))).toEqual([]);
    const [newest] = events(await app.root('GET /audit_events'));
    expect((await app.root(`GET /audit_events/${newest?.id}`)).body).toEqual(newest);
    expect((await app.root('GET /audit_events/999999999')).status).toBe(404);
  });

  test.each([
    ['entity_type=Planet', { entity_type: ['does not have a valid value'] }],
    ['entity_id=1', '400 Bad request - "entity_type" not given'],
    ['created_before=2026-13-01', { created_before: ['is invalid'] }],
  ])('%s is refused', async (query, message) => {
    const response = await app.root('GET /audit_events', { query });
    expect(response.status).toBe(400);
    expect(response.body.message).toEqual(message);
  });
});
