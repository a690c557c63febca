import { afterAll, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, uniqueName } from '../../../../test/support/factories.ts';
import { mailsTo, waitForMail } from '../../../../test/support/mailbox.ts';
import { startSmtp } from '../../../../test/support/smtp.ts';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import { confirmationRequested, newConfirmation } from '../../../kernel/identity/addresses/confirmation.ts';
import { inTransaction } from '../../../platform/db/database.ts';

const smtp = await startSmtp(1);
afterAll(() => smtp.stop());
const app = useApp({
  env: { SMTP_URL: smtp.url, MAIL_FROM: 'forge@mail.example', ASHLAR_URL: 'https://site.example' },
});

/** Creates a user with an unconfirmed address, who gets a confirmation mail. */
async function makeWaitingUser(): Promise<{ id: number; email: string }> {
  const username = uniqueName('waiting');
  const email = `${username}@example.com`;
  const { settings, database } = app.app.services;
  await settings.write(database.db, { email_confirmation_setting: 'hard' });
  settings.forget();
  const body = {
    username,
    name: '"Eve" <eve@evil.example>',
    email,
    password: 'correct horse battery staple',
  };
  const { id } = bodyOf(await app.root('POST /users', { body }), 201);
  return { id, email };
}

test('a mail that the server refuses for now is sent later, once, under its own name', async () => {
  const { id, email } = await makeWaitingUser();
  await waitForMail(app);
  expect(smtp.commands.filter((line) => line.startsWith('MAIL'))).toHaveLength(2);
  const mails = smtp.received.filter((mail) => mail.includes(`To: ${email}`));
  expect(mails).toHaveLength(1);
  expect(mails[0]).toMatch(new RegExp(`^Message-ID: <confirmation-\\d+-${id}@site\\.example>$`, 'm'));
  expect(mails[0]).toMatch(/^From: Ashlar <forge@mail\.example>$/m);
  expect(mails[0]).not.toMatch(/^(To|Cc|Bcc|Reply-To):.*evil/im);
  expect(mailsTo(app, email)).toEqual([]);
  const secret =
    /confirmation_token=3D([\w=\r\n-]+?)\r?\n\r?\n/.exec(mails[0] ?? '')?.[1]?.slice(0, 20) ?? '';
  expect(secret).toMatch(/^[\w-]{10,}/);
  expect(app.log.join('')).not.toContain(secret);
});

test('what is out of date is not sent: another link took its place, the account is blocked, or nothing was committed', async () => {
  const { id, email } = await makeWaitingUser();
  await waitForMail(app);
  const { database, secretKey, wake } = app.app.services;
  const sent = smtp.received.length;
  const stale = confirmationRequested(id, email, newConfirmation(secretKey).token_sealed);
  await inTransaction(database.db, (tx) => announce(tx, { fact: stale }));
  const rolledBack = inTransaction(database.db, async (tx) => {
    const fresh = newConfirmation(secretKey);
    await tx
      .updateTable('users')
      .set({ confirmation_digest: fresh.confirmation_digest })
      .where('id', '=', id)
      .execute();
    const fact = confirmationRequested(id, email, fresh.token_sealed);
    await announce(tx, { fact });
    throw new Error('no');
  });
  await expect(rolledBack).rejects.toThrow('no');
  const current = newConfirmation(secretKey);
  await database.sql`update users set confirmation_digest = ${current.confirmation_digest}, state = 'blocked' where id = ${id}`;
  const blocked = confirmationRequested(id, email, current.token_sealed);
  await inTransaction(database.db, (tx) => announce(tx, { fact: blocked }));
  wake();
  await waitForMail(app);
  expect(smtp.received).toHaveLength(sent);
});
