/** Incidents of alerts: created once, linked both ways, closed and resolved together; and alert mail. */
import type { Insertable } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { makeIntegration, postAlert } from '../../../../test/support/alerts.ts';
import { useApp } from '../../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  makeGroup,
  makeMembers,
  makeProject,
  makeUser,
  uniqueName,
} from '../../../../test/support/factories.ts';
import { mailsTo, waitForMail } from '../../../../test/support/mailbox.ts';
import { fillProject } from '../../../../test/support/repositories.ts';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import type { AlertsTable } from '../../../platform/db/rows.ts';

const ashlar = useApp({ env: { ASHLAR_TIER: 'premium' } });
const db = () => ashlar.app.services.database.db;

let iids = 0;
/** Inserts an alert as the receiver does. */
async function insertAlert(project: { id: number }, given: Partial<Insertable<AlertsTable>> = {}) {
  const time = new Date('2026-01-02T03:04:05Z');
  return db()
    .insertInto('alerts')
    .values({
      iid: ++iids,
      project_id: project.id,
      kind: 'http',
      title: 'Disk full',
      severity: 'high',
      started_at: time,
      payload: {},
      created_at: time,
      updated_at: time,
      ...given,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

const told = { create_issue: true, send_email: false };
/** Announces the alert, and waits for all its jobs. */
async function announceCreated(alert: { id: number; project_id: number }, flags = told) {
  const payload = { project_id: alert.project_id, alert_id: alert.id, ...flags };
  await announce(db(), { fact: { name: 'alert_created', payload } });
  await waitForMail(ashlar);
}
async function recover(
  alert: { id: number; project_id: number; issue_id?: number | null },
  auto_close = true,
) {
  await db()
    .updateTable('alerts')
    .set({ status: 'resolved', ended_at: new Date() })
    .where('id', '=', alert.id)
    .execute();
  const payload = { project_id: alert.project_id, alert_id: alert.id, issue_id: null, auto_close };
  await announce(db(), { fact: { name: 'alert_recovered', payload } });
  await waitForMail(ashlar);
}

const issuesOf = async (project: { id: number }) =>
  bodyOf(await ashlar.root(`GET /projects/${project.id}/issues`), 200);
const alertRow = (id: number) =>
  db().selectFrom('alerts').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
const notesOf = async (id: number) =>
  (
    await db()
      .selectFrom('notes')
      .innerJoin('users', 'users.id', 'notes.author_id')
      .select(['body', 'username'])
      .where('alert_id', '=', id)
      .orderBy('notes.id')
      .execute()
  ).map(({ body, username }) => `${username}: ${body}`);
const timelineOf = async (project: { id: number }, iid: number) =>
  bodyOf(await ashlar.root(`GET /projects/${project.id}/issues/${iid}/timeline_events`), 200).map(
    (each: { action: string; note: string }) => `${each.action}: ${each.note}`,
  );

describe('an incident of an alert', () => {
  test('is made once, by the bot, with what the alert and the template say', async () => {
    const project = await makeProject(ashlar);
    await fillProject(ashlar, project.id, [
      { '.gitlab/issue_templates/outage.md': 'Call somebody.\n\n/label ~oncall\n/assign @root\n' },
    ]);
    await ashlar.root(`POST /projects/${project.id}/labels`, { body: { name: 'oncall', color: '#ff0000' } });
    await db()
      .insertInto('incident_settings')
      .values({ project_id: project.id, issue_template_key: 'outage', updated_at: new Date() })
      .execute();
    const alert = await insertAlert(project, {
      description: 'Nothing fits.\n/close',
      service: 'db *one*',
      hosts: ['a.example', 'b.example'],
      query: 'up == `0`',
      incident_markdown: 'See the **graph**',
    });
    await announceCreated(alert);
    await announceCreated(alert);
    const issues = await issuesOf(project);
    expect(issues).toHaveLength(1);
    const [issue] = issues;
    expect(issue).toMatchObject({
      title: 'Disk full',
      issue_type: 'incident',
      severity: 'HIGH',
      state: 'opened',
      author: { username: 'alert-bot', name: 'Alert Bot' },
      assignees: [{ username: 'root' }],
    });
    expect(issue.labels.toSorted()).toEqual(['incident', 'oncall']);
    expect(issue.description).toBe(
      [
        `**Start time:** 2 January 2026, 3:04AM (UTC)  `,
        `**Severity:** high  `,
        '**full_query:** `` up == `0` ``  ',
        `**Service:** db \\*one\\*  `,
        `**Hosts:** a.example, b.example  `,
        `**Alert:** ${ashlar.url}/${project.path_with_namespace}/-/alert_management/${alert.iid}/details`,
        '',
        '> Nothing fits.',
        '> /close',
        '',
        '---',
        '',
        'Call somebody.',
        '',
        '---',
        '',
        'See the **graph**',
      ].join('\n'),
    );
    expect((await alertRow(alert.id)).issue_id).toBe(issue.id);
    expect(await notesOf(alert.id)).toEqual([`alert-bot: created incident #${issue.iid} for this alert`]);
    expect(await timelineOf(project, issue.iid)).toEqual([
      'alert: alert **Disk full** was triggered',
      'created: created the incident',
    ]);
  });

  test('is refused where there is one, and leaves nothing behind then', async () => {
    const project = await makeProject(ashlar);
    const alert = await insertAlert(project);
    const path = `POST /projects/${project.id}/alert_management_alerts/${alert.iid}/issue`;
    const { iid } = bodyOf(await ashlar.root(path), 201);
    // A maintainer may delete the label.
    expect((await ashlar.root(`DELETE /projects/${project.id}/labels/incident`)).status).toBe(204);
    const { sql } = ashlar.app.services.database;
    const state = () => sql`select (select count(*) from labels where project_id = ${project.id}) as labels,
      (select count(*) from audit_events where entity_type = 'Project' and entity_id = ${project.id}) as audits,
      (select count(*) from notes where alert_id = ${alert.id}) as notes`;
    const before = await state();
    for (let turn = 0; turn < 2; turn++)
      expect((await ashlar.root(path)).body.message).toBe('400 Bad request - An issue already exists');
    expect(await state()).toEqual(before);
    expect((await issuesOf(project)).map((issue: { iid: number }) => issue.iid)).toEqual([iid]);
  });

  test('is made without a template that asks for what cannot be', async () => {
    const project = await makeProject(ashlar);
    await fillProject(ashlar, project.id, [
      { '.gitlab/issue_templates/wrong.md': `Text\n/title ${'x'.repeat(300)}\n` },
    ]);
    await db()
      .insertInto('incident_settings')
      .values({ project_id: project.id, issue_template_key: 'wrong', updated_at: new Date() })
      .execute();
    await announceCreated(await insertAlert(project));
    const [issue] = await issuesOf(project);
    expect(issue.title).toBe('Disk full');
    expect(issue.description).not.toContain('Text');
  });

  test('comes once of facts heard at the same time', async () => {
    const project = await makeProject(ashlar);
    const alert = await insertAlert(project);
    const payload = { project_id: project.id, alert_id: alert.id, ...told };
    for (let time = 0; time < 8; time++) await announce(db(), { fact: { name: 'alert_created', payload } });
    await waitForMail(ashlar);
    expect(await issuesOf(project)).toHaveLength(1);
  });

  test.each([
    ['it is over by now', { status: 'resolved' }],
    ['the project has no issues', {}],
  ])('is not made when %s', async (reason, given) => {
    const attributes = reason.includes('project') ? { issues_access_level: 'disabled' } : {};
    const project = await makeProject(ashlar, attributes);
    const alert = await insertAlert(project, given);
    await announceCreated(alert);
    expect((await alertRow(alert.id)).issue_id).toBeNull();
  });

  test('is closed with the recovery of its alert, where the project wants that', async () => {
    const project = await makeProject(ashlar);
    const [closing, staying] = [await insertAlert(project), await insertAlert(project)];
    await announceCreated(closing);
    await announceCreated(staying);
    await recover(closing);
    await recover(staying, false);
    const states = (await issuesOf(project)).map((each: { iid: number; state: string }) => [
      each.iid,
      each.state,
    ]);
    expect(states).toEqual([
      [2, 'opened'],
      [1, 'closed'],
    ]);
    expect((await notesOf(closing.id)).slice(1)).toEqual([
      'alert-bot: logged a recovery alert from **Generic Alert Endpoint**',
      'alert-bot: changed the status to **Resolved**',
    ]);
    expect((await timelineOf(project, 1)).slice(2).toSorted()).toEqual([
      'alert: alert **Disk full** recovered',
      'closed: closed the incident',
    ]);
    const issue = bodyOf(await ashlar.root(`GET /projects/${project.id}/issues/1`), 200);
    expect(issue.closed_by.username).toBe('alert-bot');
  });

  test('stays as it is with the recovery of its alert where the project was archived meanwhile', async () => {
    const project = await makeProject(ashlar);
    const alert = await insertAlert(project);
    await announceCreated(alert);
    bodyOf(await ashlar.root(`POST /projects/${project.id}/archive`), 201);
    await recover(alert);
    expect((await issuesOf(project)).map(({ state }: { state: string }) => state)).toEqual(['opened']);
  });

  test('resolves its alert when somebody closes it, and does not open it again', async () => {
    const project = await makeProject(ashlar);
    const alert = await insertAlert(project);
    await announceCreated(alert);
    const address = `/projects/${project.id}/issues/1`;
    bodyOf(await ashlar.root(`PUT ${address}`, { body: { state_event: 'close' } }), 200);
    expect(await alertRow(alert.id)).toMatchObject({ status: 'resolved', ended_at: expect.any(Date) });
    expect((await notesOf(alert.id)).at(-1)).toBe(
      'root: changed the status to **Resolved** by closing incident #1',
    );
    bodyOf(await ashlar.root(`PUT ${address}`, { body: { state_event: 'reopen', severity: 'LOW' } }), 200);
    expect((await alertRow(alert.id)).status).toBe('resolved');
    expect((await timelineOf(project, 1)).slice(2)).toEqual([
      'closed: closed the incident',
      'severity: changed the severity to **Low - S4**',
      'reopened: reopened the incident',
    ]);
  });
});

test('an incident that moves to another project is closed here, and resolves its alert', async () => {
  const [project, other] = [await makeProject(ashlar), await makeProject(ashlar)];
  const alert = await insertAlert(project);
  await announceCreated(alert);
  const body = { to_project_id: other.id };
  bodyOf(await ashlar.root(`POST /projects/${project.id}/issues/1/move`, { body }), 201);
  expect(await alertRow(alert.id)).toMatchObject({ status: 'resolved', ended_at: expect.any(Date) });
});

describe('with a monitoring tool', () => {
  test('an incident comes and goes with its alert', async () => {
    const { sql } = ashlar.app.services.database;
    const project = await makeProject(ashlar);
    const { key } = await makeIntegration(sql, project.id);
    const settings = { create_issue: true, auto_close_incident: true };
    bodyOf(
      await ashlar.root(`PUT /projects/${project.id}/incident_management_settings`, { body: settings }),
      200,
    );
    const path = `${project.path_with_namespace}/alerts/notify.json`;
    const payload = { title: 'Too hot', fingerprint: 'f', severity: 'low', monitoring_tool: 'Thermo @meter' };
    bodyOf(await postAlert(ashlar.url, path, payload, { key }), 200);
    await waitForMail(ashlar);
    expect(await issuesOf(project)).toMatchObject([{ title: 'Too hot', severity: 'LOW', state: 'opened' }]);
    bodyOf(
      await postAlert(ashlar.url, path, { ...payload, end_time: new Date().toISOString() }, { key }),
      200,
    );
    await waitForMail(ashlar);
    expect(await issuesOf(project)).toMatchObject([{ state: 'closed' }]);
    const [alert] = await sql<{ id: number }[]>`select id from alerts where project_id = ${project.id}`;
    expect(await notesOf(alert?.id ?? 0)).toContain(
      'alert-bot: logged a recovery alert from **Thermo \\@meter**',
    );
  });
});

describe('the log of an alert', () => {
  test('begins with where the alert came from, once, whoever reads it first', async () => {
    const { sql } = ashlar.app.services.database;
    const project = await makeProject(ashlar);
    const { id } = await makeIntegration(sql, project.id);
    const of = async (given: Partial<Insertable<AlertsTable>>) => {
      const alert = await insertAlert(project, given);
      const path = `GET /projects/${project.id}/alert_management_alerts/${alert.iid}/notes`;
      const readings = await Promise.all(
        Array.from({ length: 5 }, () => ashlar.root(path, { query: 'sort=asc' })),
      );
      for (const each of readings) bodyOf(each, 200);
      return bodyOf(await ashlar.root(path, { query: 'sort=asc' }), 200);
    };
    const [note, ...more] = await of({ integration_id: id });
    expect(more).toEqual([]);
    expect(note).toMatchObject({
      body: 'logged an alert from **The http one**',
      system: true,
      author: { username: 'alert-bot' },
      created_at: '2026-01-02T03:04:05.000Z',
    });
    expect(await of({ integration_id: id, monitoring_tool: 'Thermo' })).toMatchObject([
      { body: 'logged an alert from **Thermo**' },
    ]);
  });
});

test('the log of an alert that came and was over at the same moment tells both', async () => {
  const project = await makeProject(ashlar);
  const alert = await insertAlert(project, { status: 'resolved' });
  const path = `GET /projects/${project.id}/alert_management_alerts/${alert.iid}/notes`;
  const isOver = async () => {
    const payload = { project_id: project.id, alert_id: alert.id, auto_close: false };
    await db()
      .insertInto('outbox')
      .values({ fact: 'alert_recovered', payload, created_at: alert.created_at })
      .execute();
    await waitForMail(ashlar);
  };
  bodyOf(await ashlar.root(path), 200);
  await isOver();
  const told = [
    'alert-bot: logged an alert from **Generic Alert Endpoint**',
    'alert-bot: logged a recovery alert from **Generic Alert Endpoint**',
    'alert-bot: changed the status to **Resolved**',
  ];
  expect(await notesOf(alert.id)).toEqual(told);
  await isOver();
  bodyOf(await ashlar.root(path), 200);
  expect(await notesOf(alert.id)).toEqual(told);
});

describe('by hand', () => {
  const makeAt = (project: { id: number }, iid: number) =>
    ashlar.root(`POST /projects/${project.id}/alert_management_alerts/${iid}/issue`);

  test('one incident is made of many wishes at once', async () => {
    const project = await makeProject(ashlar);
    const alert = await insertAlert(project, { status: 'acknowledged' });
    const responses = await Promise.all(Array.from({ length: 6 }, () => makeAt(project, alert.iid)));
    expect(responses.map(({ status }) => status).toSorted()).toEqual([201, 400, 400, 400, 400, 400]);
    expect(await issuesOf(project)).toMatchObject([{ author: { username: 'root' }, issue_type: 'incident' }]);
  });

  test('none is made where the project has no issues', async () => {
    const project = await makeProject(ashlar, { issues_access_level: 'disabled' });
    const alert = await insertAlert(project);
    expect((await makeAt(project, alert.iid)).status).toBe(403);
    expect((await alertRow(alert.id)).issue_id).toBeNull();
  });
});

describe('the bot', () => {
  let id = 0;
  beforeAll(async () => {
    const alert = await insertAlert(await makeProject(ashlar));
    await announceCreated(alert);
    [{ id }] = bodyOf(await ashlar.root('GET /users', { query: 'username=alert-bot' }), 200);
  });

  test('is one user, whom nobody changes or takes away', async () => {
    expect(bodyOf(await ashlar.root(`GET /users/${id}`), 200)).toMatchObject({
      bot: true,
      name: 'Alert Bot',
    });
    expect((await ashlar.root(`DELETE /users/${id}`)).status).toBe(403);
    expect(
      (await ashlar.root(`PUT /users/${id}`, { body: { name: 'Eve', password: 'x'.repeat(20) } })).status,
    ).toBe(403);
    expect((await ashlar.root(`POST /users/${id}/block`)).status).toBe(403);
    const token = { name: 'x', scopes: ['api'] };
    expect(
      (await ashlar.root(`POST /users/${id}/impersonation_tokens`, { body: token })).status,
    ).toBeGreaterThanOrEqual(400);
  });
});

describe('mail about an alert', () => {
  test('goes to the Maintainers and Owners, of the project or from above, each in their language', async () => {
    const group = await makeGroup(ashlar);
    const project = await makeProject(ashlar, { namespace_id: group.id });
    const { owner } = await makeMembers(ashlar, `groups/${group.id}`, 'owner');
    const members = makeMembers(ashlar, `projects/${project.id}`, 'maintainer', 'developer');
    const { maintainer, developer } = await members;
    const blocked = await makeUser(ashlar);
    await addMember(ashlar, `projects/${project.id}`, blocked, 40);
    bodyOf(await ashlar.root(`POST /users/${blocked.id}/block`), 201);
    await db()
      .updateTable('users')
      .set({ preferred_language: 'de' })
      .where('id', '=', maintainer.id)
      .execute();
    const title = uniqueName('Overheated');
    const alert = await insertAlert(project, { title, description: 'It is <b>hot</b>.' });
    await announceCreated(alert);
    await announceCreated(alert, { create_issue: false, send_email: true });
    const mails = (user: { username: string }) => mailsTo(ashlar, `${user.username}@example.com`);
    const [english] = mails(owner);
    expect(english?.subject).toBe(`${project.path_with_namespace.split('/')[1]} | Alert: ${title}`);
    expect(english?.text).toContain(`/-/alert_management/${alert.iid}/details`);
    expect(english?.text).toContain('/-/issues/1');
    expect(english?.text).toContain('It is <b>hot</b>.');
    expect(mails(maintainer)[0]?.subject).toContain(`Alarm: ${title}`);
    expect(mails(owner)).toHaveLength(1);
    expect(mails(developer)).toEqual([]);
    expect(mails(blocked)).toEqual([]);
  });

  test('is not sent once somebody has seen to the alert, nor where the group sends none', async () => {
    const silent = await makeGroup(ashlar, { emails_enabled: false });
    const group = await makeGroup(ashlar);
    const owner = await makeUser(ashlar);
    const address = `${owner.username}@example.com`;
    for (const each of [silent, group]) await addMember(ashlar, `groups/${each.id}`, owner, 50);
    const flags = { create_issue: false, send_email: true };
    const quiet = await makeProject(ashlar, { namespace_id: silent.id });
    await announceCreated(await insertAlert(quiet), flags);
    const project = await makeProject(ashlar, { namespace_id: group.id });
    await announceCreated(await insertAlert(project, { status: 'acknowledged' }), flags);
    expect(mailsTo(ashlar, address)).toEqual([]);
    await announceCreated(await insertAlert(project), flags);
    expect(mailsTo(ashlar, address)).toHaveLength(1);
  });
});
