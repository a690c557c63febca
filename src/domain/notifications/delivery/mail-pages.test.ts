import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { ROOT_PASSWORD, useApp } from '../../../../test/support/app.ts';
import { hiddenFields, openBrowser, signInAs } from '../../../../test/support/browser.ts';
import { addMember, bodyOf, makeProject, makeUser } from '../../../../test/support/factories.ts';
import { waitForMail } from '../../../../test/support/mailbox.ts';
import { takeMails } from '../../../../test/support/mails.ts';
import { startSmtp } from '../../../../test/support/smtp.ts';

const smtp = await startSmtp(0);
afterAll(() => smtp.stop());
const app = useApp({ env: { SMTP_URL: smtp.url } });

/** Waits for the first failure, and uses up the other attempts. */
async function letDie(): Promise<void> {
  const { sql } = app.app.services.database;
  for (let waited = 0; waited < 200; waited++) {
    const dead = await sql`
      update graphile_worker._private_jobs set max_attempts = attempts
      where last_error is not null and locked_at is null returning id`;
    if (dead.length > 0) return;
    app.app.services.wake();
    await sleep(50);
  }
  throw new Error('no job failed');
}

test('a mail that nobody took in the end is shown to administrators, who try it again', async () => {
  // The first attempt is of the job that finds the recipients, the second one the mail's own.
  smtp.refuse(2);
  const project = await makeProject(app);
  const user = await makeUser(app);
  await addMember(app, `projects/${project.id}`, user, 30);
  const body = { title: 'Lost', assignee_id: user.id };
  bodyOf(await app.root(`POST /projects/${project.id}/issues`, { body }), 201);
  await letDie();
  expect(smtp.received).toEqual([]);

  const root = openBrowser(app);
  await signInAs(root, 'root', ROOT_PASSWORD);
  const page = await root.get('/admin/mail');
  expect(page.status).toBe(200);
  expect(page.text).toContain('new_issue (issue ');
  expect(page.text).toContain(`@${user.username}`);
  expect(page.text).toContain('451 later');
  const metrics = await app.call('GET /-/metrics', { raw: true });
  expect(metrics.text).toMatch(/^waiting\{kind="dead_jobs"\} 1$/m);

  const other = openBrowser(app);
  await signInAs(other, user.username, 'correct horse battery staple');
  expect((await other.get('/admin/mail')).status).toBe(404);
  const { text } = await other.get('/-/profile/active_sessions');
  const [, authenticity_token = ''] = /name="authenticity_token" value="([^"]+)"/.exec(text) ?? [];
  expect(authenticity_token).not.toBe('');
  expect((await other.post('/admin/mail', { authenticity_token })).status).toBe(404);
  expect((await openBrowser(app).get('/admin/mail')).location).toContain('/users/sign_in');
  expect((await root.post('/admin/mail', {})).status).toBe(403);
  expect(smtp.received).toEqual([]);

  const again = await root.submit('/admin/mail', {});
  expect(again.location).toBe('/admin/mail?again=1');
  await waitForMail(app);
  expect(takeMails(smtp).map(({ to }) => to)).toEqual([`${user.username}@example.com`]);
  expect((await root.get('/admin/mail?again=1')).text).toContain('There is none');
});

describe('a test mail', () => {
  const TEST = '/admin/mail/test';

  test('goes to the address of the one who asks, over the server of all mails', async () => {
    takeMails(smtp);
    const ada = await makeUser(app, { admin: true, username: 'ada-of-mail' });
    const browser = openBrowser(app);
    await signInAs(browser, ada.username, 'correct horse battery staple');
    const page = await browser.get('/admin/mail');
    expect(page.text).toContain(smtp.url);
    expect(page.text).toContain(`Send a test mail to ${ada.email}`);
    const sent = await browser.submit('/admin/mail', {}, TEST);
    expect([sent.status, sent.location]).toEqual([303, '/admin/mail?done=sent']);
    expect(takeMails(smtp)).toMatchObject([{ to: ada.email, subject: 'A test of the mail server' }]);
    expect((await browser.get(sent.location ?? '')).text).toContain(`Look into the mailbox of ${ada.email}`);
  });

  test('that is refused says why, and is not tried again by itself', async () => {
    const root = openBrowser(app);
    await signInAs(root, 'root', ROOT_PASSWORD);
    smtp.refuse(1);
    const refused = await root.submit('/admin/mail', {}, TEST);
    expect([refused.status, refused.alert]).toEqual([422, expect.stringContaining('refuses the sender')]);
    expect(refused.text).toContain('<code>451 later</code>');
    await waitForMail(app);
    expect(takeMails(smtp)).toEqual([]);
    expect((await root.submit('/admin/mail', {}, TEST)).location).toBe('/admin/mail?done=sent');
    takeMails(smtp);
  });

  test('is not for others, nor without the token of the session', async () => {
    const user = await makeUser(app);
    const other = openBrowser(app);
    await signInAs(other, user.username, 'correct horse battery staple');
    const own = hiddenFields((await other.get('/-/profile/active_sessions')).text, '/users/sign_out');
    expect((await other.post(TEST, own)).status).toBe(404);
    const root = openBrowser(app);
    await signInAs(root, 'root', ROOT_PASSWORD);
    expect((await root.post(TEST, {})).status).toBe(403);
    expect(takeMails(smtp)).toEqual([]);
  });
});

describe('without a mail server', () => {
  const serverless = useApp();

  test('a test mail is a file', async () => {
    const root = openBrowser(serverless);
    await signInAs(root, 'root', ROOT_PASSWORD);
    expect((await root.get('/admin/mail')).text).toContain('No mail server is set');
    const filed = await root.submit('/admin/mail', {}, '/admin/mail/test');
    expect(filed.location).toBe('/admin/mail?done=filed');
    const files = readdirSync(join(serverless.app.services.config.data, 'mail'));
    expect(files.filter((name) => /^test-[0-9a-f]{32}\.eml$/.test(name))).toHaveLength(1);
  });
});
