/** Mails on push, as the mailer wrote them. */
import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeProject } from '../../../../test/support/factories.ts';
import { mailsTo } from '../../../../test/support/mailbox.ts';
import { fillProject } from '../../../../test/support/repositories.ts';
import { siteMailer } from '../../../kernel/mail/site-mail.ts';
import { mailDelivery, mayComeFrom, recipientsOf } from './delivery.ts';

const ashlar = useApp();

test.each<[string, string[]]>([
  ['a@example.com b@example.com,\n a@example.com', ['a@example.com', 'b@example.com']],
  ['nobody <c@example.com> d@example.com;e@example.com', []],
])('the recipients in %j', (recipients, addresses) => {
  expect(recipientsOf({ recipients })).toEqual(addresses);
});

test.each([
  ['ada@code.example', true],
  ['ada@CODE.example', true],
  ['ada@other.example', false],
  ['ada@a.code.example', false],
  ['ada@example', false],
])('mails of code.example may come from %s: %s', (address, may) => {
  expect(mayComeFrom(address, 'code.example')).toBe(may);
});

test('mails of a site below a domain may come from addresses of that', () => {
  expect(mayComeFrom('ada@stone.example', 'code.stone.example')).toBe(true);
  expect(mayComeFrom('ada@one.example', 'code.stone.example')).toBe(false);
});

test('a push is told to each recipient, with the commits and their files', async () => {
  const project = await makeProject(ashlar);
  await fillProject(ashlar, project.id);
  const recipients = 'one@push.example two@push.example';
  const path = `/projects/${project.id}/integrations/emails-on-push`;
  bodyOf(await ashlar.root(`PUT ${path}`, { body: { recipients } }), 200);
  bodyOf(
    await ashlar.root(`POST /projects/${project.id}/repository/commits`, {
      body: {
        branch: 'other',
        start_branch: 'main',
        commit_message: 'Lay a <stone>',
        actions: [{ action: 'create', file_path: 'stone.txt', content: 'x' }],
      },
    }),
    201,
  );
  const mailOf = (to: string) => mailsTo(ashlar, to).find(({ subject }) => subject.includes('branch other'));
  for (const to of recipients.split(' ')) {
    await expect.poll(() => mailOf(to), { timeout: 10_000 }).toBeDefined();
    expect(mailOf(to)?.subject).toContain('pushed new branch other');
    expect(mailOf(to)?.text).toContain('Lay a <stone>');
    expect(mailOf(to)?.text).toContain('+ stone.txt');
  }
});

test('a push has what changed, unless that is turned off; its mails come from who pushed where they may', async () => {
  const project = await makeProject(ashlar);
  await fillProject(ashlar, project.id);
  const path = `/projects/${project.id}/integrations/emails-on-push`;
  const address = `root@${new URL(ashlar.url).hostname}`;
  const { sql } = ashlar.app.services.database;
  await sql`update users set public_email = ${address} where id = 1`;
  const lay = async (name: string) =>
    bodyOf(
      await ashlar.root(`POST /projects/${project.id}/repository/commits`, {
        body: {
          branch: 'main',
          commit_message: `Lay ${name}`,
          actions: [{ action: 'create', file_path: `${name}.txt`, content: 'a <heavy> one\n' }],
        },
      }),
      201,
    );
  const mailOf = async (to: string) => {
    const found = () => mailsTo(ashlar, to).find(({ text }) => text.includes('Lay '));
    await expect.poll(found, { timeout: 10_000 }).toBeDefined();
    return found();
  };
  const set = (body: object) => ashlar.root(`PUT ${path}`, { body });
  bodyOf(await set({ recipients: 'whole@push.example', send_from_committer_email: true }), 200);
  await lay('one');
  const whole = await mailOf('whole@push.example');
  expect(whole?.text).toContain('+++ b/one.txt\r\n@@ -0,0 +1 @@\r\n+a <heavy> one');
  expect(whole?.from).toContain(address);
  bodyOf(
    await set({ recipients: 'less@push.example', send_from_committer_email: false, disable_diffs: true }),
    200,
  );
  await lay('two');
  const less = await mailOf('less@push.example');
  expect(less?.text).toContain('+ two.txt');
  expect(less?.text).not.toContain('heavy');
  expect(less?.from).not.toContain(address);
});

test('a push whose commits are gone by now is told without what they changed', async () => {
  const project = await makeProject(ashlar);
  await fillProject(ashlar, project.id);
  const { services } = ashlar.app;
  const message = { title: 'Ada pushed', text: 'One', link: 'https://ashlar.example', color: '#000000' };
  const diff = { projectId: project.id, from: '1'.repeat(40), to: '2'.repeat(40) };
  await mailDelivery.send(
    { ...services, mailer: siteMailer(services), ending: new AbortController().signal },
    { to: 'gone@push.example', project: 'g/p', message, diff },
    {},
    'integration-1-1-0',
  );
  expect(mailsTo(ashlar, 'gone@push.example')[0]?.text).toContain('(What changed cannot be shown.)');
});
