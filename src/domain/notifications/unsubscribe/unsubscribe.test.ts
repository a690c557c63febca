import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeProject, makeUser } from '../../../../test/support/factories.ts';
import { readSettings } from '../settings/queries.ts';
import { unsubscribeUrl } from './links.ts';

const app = useApp();

const rowsOf = (userId: number) =>
  app.app.services.database.sql`select issue_id, subscribed from subscriptions where user_id = ${userId}`;

test('a link ends mails about a thing by POST alone, as often as it is clicked, in a form or by a program', async () => {
  const project = await makeProject(app, { visibility: 'public' });
  const user = await makeUser(app);
  const issue = bodyOf(await app.root(`POST /projects/${project.id}/issues`, { body: { title: 'x' } }), 201);
  const { services } = app.app;
  const place = { kind: 'project', id: project.id } as const;
  const url = unsubscribeUrl(services, user.id, { subject: { kind: 'issue', id: issue.id } }, place);
  const path = url.slice(services.baseUrl().length);

  const requested = await app.call(`GET ${path}`, { raw: true });
  expect(requested.status).toBe(200);
  expect(requested.text).toContain('Unsubscribe');
  expect(requested.text).not.toContain(project.path_with_namespace);
  expect(requested.headers.get('cache-control')).toBe('no-store');
  expect(await rowsOf(user.id)).toEqual([]);

  const form = 'List-Unsubscribe=One-Click';
  const multipart =
    '--b\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--b--\r\n';
  const headers = { 'content-type': 'multipart/form-data; boundary=b' };
  for (const options of [{ form }, { form }, { form: multipart, headers }, {}]) {
    const left = await app.call(`POST ${path}`, { raw: true, ...options });
    expect(left.status).toBe(200);
    expect(await rowsOf(user.id)).toEqual([{ issue_id: issue.id, subscribed: false }]);
  }
  bodyOf(await app.root(`DELETE /projects/${project.id}/issues/${issue.iid}`), 204);
  expect((await app.call(`POST ${path}`, { raw: true, form })).status).toBe(200);
});

test('where there is nothing smaller to leave, the place is silent from then on', async () => {
  const project = await makeProject(app);
  const user = await makeUser(app);
  const { services } = app.app;
  const place = { kind: 'project', id: project.id } as const;
  const url = unsubscribeUrl(services, user.id, { subject: { kind: 'project', id: project.id } }, place);
  const path = url.slice(services.baseUrl().length);
  expect((await app.call(`POST ${path}`, { raw: true })).status).toBe(200);
  const setting = await readSettings(services.database.db, user.id, place);
  expect(setting).toEqual({ level: 'disabled', events: {} });
});

test('a link for somebody or something else is none, and another site cannot send it from a browser', async () => {
  const project = await makeProject(app);
  const user = await makeUser(app);
  const { services } = app.app;
  const place = { kind: 'project', id: project.id } as const;
  const url = unsubscribeUrl(services, user.id, { subject: { kind: 'project', id: project.id } }, place);
  const path = url.slice(services.baseUrl().length);
  const wrong = [
    path.replace(`/${user.id}-`, '/1-'),
    path.replace('-project-', '-group-'),
    path.replace('-project-', '-issue-'),
    path.replace(`-${project.id}-`, `-${project.id + 1}-`),
    path.slice(0, -1),
    path.replace('-project-', '-toString-'),
    '/-/unsubscribe/x',
  ];
  for (const each of wrong) {
    for (const method of ['GET', 'POST']) {
      expect((await app.call(`${method} ${each}`, { raw: true })).status, `${method} ${each}`).toBe(404);
    }
  }
  const headers = { origin: 'https://evil.example' };
  expect((await app.call(`POST ${path}`, { raw: true, headers })).status).toBe(403);
  const setting = await readSettings(services.database.db, user.id, place);
  expect(setting.level).toBe('global');
});
