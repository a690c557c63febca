import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { ROOT_PASSWORD, useApp } from '../../../../test/support/app.ts';
import { openBrowser, signInAs } from '../../../../test/support/browser.ts';
import { addMember, bodyOf, makeProject, makeUser } from '../../../../test/support/factories.ts';
import { waitForMail } from '../../../../test/support/mailbox.ts';
import { takeMails } from '../../../../test/support/mails.ts';
import { startSmtp } from '../../../../test/support/smtp.ts';

// The first attempt is of the job that finds the recipients, the second one the mail's own.
const smtp = await startSmtp(2);
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
