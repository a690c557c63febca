/** The spam check of issues (spec: Requests detected as spam). */
import { beforeEach, expect, test } from 'vitest';
import { useApp } from '../../../../../test/support/app.ts';
import { addMember, bodyOf, makeProject, makeUser } from '../../../../../test/support/factories.ts';
import { SOLUTION, useSpamServices } from '../../../../../test/support/spam-services.ts';

const ashlar = useApp();
const services = useSpamServices(ashlar);
beforeEach(() => services.reset({ recaptcha_enabled: false }));

const spam = { title: 'Buy', description: 'this is spam' };

test('a new one is refused and discarded; what only some read is shown to no service', async () => {
  const user = await makeUser(ashlar);
  const [open, hidden] = [await makeProject(ashlar, { visibility: 'public' }), await makeProject(ashlar)];
  await addMember(ashlar, `projects/${hidden.id}`, user, 15);
  const create = (project: { id: number }, body: object) =>
    ashlar.as(user.token)(`POST /projects/${project.id}/issues`, { body });
  expect((await create(hidden, spam)).status).toBe(201);
  expect((await create(open, { ...spam, confidential: true })).status).toBe(201);
  expect(services.asked()).toEqual([]);
  expect(bodyOf(await create(open, spam), 400)).toEqual({
    message: { error: 'Your issue has been recognized as spam and has been discarded.' },
  });
  expect(bodyOf(await ashlar.root(`GET /projects/${open.id}/issues`), 200)).toHaveLength(1);
});

test('one is checked when its text changes, and when it is opened to everybody', async () => {
  const user = await makeUser(ashlar);
  const project = await makeProject(ashlar, { visibility: 'public' });
  await addMember(ashlar, `projects/${project.id}`, user, 15);
  const path = `/projects/${project.id}/issues`;
  const call = ashlar.as(user.token);
  const secret = bodyOf(await call(`POST ${path}`, { body: { ...spam, confidential: true } }), 201);
  const plain = bodyOf(await call(`POST ${path}`, { body: { title: 'Stone' } }), 201);
  bodyOf(await call(`PUT ${path}/${secret.iid}`, { body: { confidential: false } }), 400);
  bodyOf(await call(`PUT ${path}/${plain.iid}`, { body: { description: 'this is spam' } }), 400);
  bodyOf(await call(`PUT ${path}/${plain.iid}`, { body: { labels: 'spam' } }), 200);
  expect(bodyOf(await call(`GET ${path}/${secret.iid}`), 200).confidential).toBe(true);
});

test('with a CAPTCHA service the same request passes once when it is solved', async () => {
  await services.reset();
  const user = await makeUser(ashlar);
  const project = await makeProject(ashlar, { visibility: 'public' });
  const create = (headers: Record<string, string> = {}) =>
    ashlar.as(user.token)(`POST /projects/${project.id}/issues`, { body: spam, headers });
  const { spam_log_id, ...requested } = bodyOf(await create(), 409);
  expect(requested).toMatchObject({ needs_captcha_response: true, captcha_site_key: 'the-site-key' });
  const solved = { 'x-service-captcha-response': SOLUTION, 'x-service-spam-log-id': String(spam_log_id) };
  expect((await create(solved)).status).toBe(201);
  expect((await create(solved)).status).toBe(409);
});
