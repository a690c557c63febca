/** Audit events need the Premium tier to be read; they are written in every tier. */
import { expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';

const app = useApp({ env: { ASHLAR_TIER: 'free' } });

test('the free tier hides and keeps', async () => {
  await app.root('PUT /application/settings', { body: { session_expire_delay: 77 } });
  expect((await app.root('GET /audit_events')).status).toBe(403);
  expect((await app.root('GET /license')).body.plan).toBe('free');
  const [row] = await app.app.services.database.sql<{ count: number }[]>`
    select count(*) from audit_events where event_name = 'application_setting_updated'`;
  expect(row?.count).toBe(1);
});
