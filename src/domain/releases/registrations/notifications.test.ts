/** Mails about new releases: to those who want them and may read releases. */
import { afterAll, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeMembers, makeProject, makeUser } from '../../../../test/support/factories.ts';
import { waitForMail } from '../../../../test/support/mailbox.ts';
import { takeMails } from '../../../../test/support/mails.ts';
import { fillProject } from '../../../../test/support/repositories.ts';
import { startSmtp } from '../../../../test/support/smtp.ts';

const smtp = await startSmtp(0);
afterAll(() => smtp.stop());
const ashlar = useApp({ env: { SMTP_URL: smtp.url } });

test('those who watch the project are told of a new release, where they may read it', async () => {
  const { id, path_with_namespace } = await makeProject(ashlar, { visibility: 'public' });
  await fillProject(ashlar, id, [{ a: '1' }]);
  const { developer, guest } = await makeMembers(ashlar, `projects/${id}`, 'developer', 'guest');
  const stranger = await makeUser(ashlar);
  for (const { token } of [developer, guest, stranger])
    bodyOf(
      await ashlar.as(token)(`PUT /projects/${id}/notification_settings`, { body: { level: 'watch' } }),
      200,
    );
  const publish = async (tag_name: string) => {
    const body = { tag_name, ref: 'main', name: 'The spring', description: '**New** things' };
    bodyOf(await ashlar.as(developer.token)(`POST /projects/${id}/releases`, { body }), 201);
    await waitForMail(ashlar);
    return takeMails(smtp);
  };
  const mails = await publish('v1');
  expect(mails.map(({ to }) => to).sort()).toEqual([guest.email, stranger.email].sort());
  expect(mails[0]?.subject).toContain('New release: The spring (v1)');
  expect(mails[0]?.text).toContain(`${ashlar.url}/${path_with_namespace}/-/releases/v1`);
  expect(mails[0]?.text).toContain('New');
  bodyOf(await ashlar.root(`PUT /projects/${id}`, { body: { releases_access_level: 'private' } }), 200);
  expect((await publish('v2')).map(({ to }) => to)).toEqual([guest.email]);
});
