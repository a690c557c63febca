import { afterAll, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { makeProject, makeUser } from '../../../../test/support/factories.ts';
import { waitForMail } from '../../../../test/support/mailbox.ts';
import { takeMails } from '../../../../test/support/mails.ts';
import { startSmtp } from '../../../../test/support/smtp.ts';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import { inTransaction } from '../../../platform/db/database.ts';
import type { Json } from '../../../platform/db/rows.ts';

/** More than one page of recipients. */
const CROWD = 520;

const smtp = await startSmtp(0);
afterAll(() => smtp.stop());

const app = useApp({ env: { SMTP_URL: smtp.url } });

async function tell(name: string, payload: Record<string, Json>): Promise<void> {
  const { db } = app.app.services.database;
  await inTransaction(db, (tx) => announce(tx, { fact: { name, payload } }));
}

test('each of many watchers is told once, page by page', {
  timeout: 600_000,
}, async () => {
  const { sql } = app.app.services.database;
  const project = await makeProject(app, { visibility: 'public' });
  await sql`
    with crowd as (
      insert into users (username, name, email, confirmed_at, projects_limit, can_create_group, created_at, updated_at)
      select 'watcher-' || i, 'Watcher ' || i, 'watcher-' || i || '@example.com', now(), 0, false, now(), now()
      from generate_series(1, ${CROWD}::integer) i returning id)
    insert into notification_settings (user_id, project_id, level, created_at, updated_at)
    select id, ${project.id}, 'watch', now(), now() from crowd`;
  const [release] = await sql<{ id: number }[]>`
    insert into releases (project_id, tag, name, author_id, released_at, created_at, updated_at)
    values (${project.id}, 'v1', 'One', 1, now(), now(), now()) returning id`;
  await tell('release_created', { project_id: project.id, user_id: 1, release_id: release?.id ?? 0 });
  for (let waited = 0; waited < 8 && smtp.received.length < CROWD; waited++)
    await waitForMail(app).catch(() => undefined);
  await waitForMail(app);
  const mails = takeMails(smtp);
  expect(mails).toHaveLength(CROWD);
  expect(new Set(mails.map(({ to }) => to)).size).toBe(CROWD);
  expect(mails[0]?.subject).toContain('One');
});

test('what nobody can find is told to nobody', async () => {
  const project = await makeProject(app);
  const user = await makeUser(app);
  await tell('merge_request_merged', { project_id: project.id, user_id: user.id, merge_request_id: 1 });
  await tell('pipeline_finished', {
    project_id: project.id,
    user_id: user.id,
    pipeline_id: 1,
    status: 'failed',
    was_failing: false,
  });
  await tell('release_created', { project_id: 999_999, user_id: user.id, release_id: 1 });
  await waitForMail(app);
  expect(takeMails(smtp)).toEqual([]);
});
