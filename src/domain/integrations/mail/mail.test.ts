/** Mails on push, as the mailer wrote them. */
import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeProject } from '../../../../test/support/factories.ts';
import { mailsTo } from '../../../../test/support/mailbox.ts';
import { fillProject } from '../../../../test/support/repositories.ts';
import { recipientsOf } from './delivery.ts';

const ashlar = useApp();

test.each<[string, string[]]>([
  ['a@example.com b@example.com,\n a@example.com', ['a@example.com', 'b@example.com']],
  ['nobody <c@example.com> d@example.com;e@example.com', []],
])('the recipients in %j', (recipients, addresses) => {
  expect(recipientsOf({ recipients })).toEqual(addresses);
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
