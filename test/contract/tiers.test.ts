/** Endpoints of a higher tier are refused below it, before the body is read, and to administrators too. */
import { describe, expect, test } from 'vitest';
import { featureDefinitions } from '../../src/kernel/settings/features.ts';
import { ROOT_TOKEN, useApp } from '../support/app.ts';
import { addressOf, forEachOf, titleOf } from '../support/inventory.ts';
import { sendRaw } from '../support/raw-http.ts';
import { makeWorld } from '../support/world.ts';

describe.each([
  { tier: 'free', above: ['premium', 'ultimate'] },
  { tier: 'premium', above: ['ultimate'] },
  { tier: 'ultimate', above: [] },
])('$tier', ({ tier, above }) => {
  const ashlar = useApp({ still: true, env: { ASHLAR_TIER: tier } });

  test('has its own endpoints, and those of no higher tier', async () => {
    const places = await makeWorld(ashlar, 1);
    const { sql } = ashlar.app.services.database;
    for (const name of Object.keys(featureDefinitions))
      await sql`insert into feature_gates (name, value, updated_at) values (${name}, 'true', now()) on conflict do nothing`;
    ashlar.app.services.features.forget();
    const refused: string[] = [];
    await forEachOf(ashlar.app.endpoints, 6, async (spec) => {
      const { status, text } = await sendRaw(
        ashlar.url,
        `${spec.method} /api/v4${addressOf(spec.path, places)}`,
        {
          headers: { 'content-type': 'application/json', 'private-token': ROOT_TOKEN },
          body: '{"',
        },
      );
      // A module that is there is forbidden by its format, not by the tier.
      if (status === 403 && !text.includes('already exists')) refused.push(titleOf(spec));
    });
    const higher = ashlar.app.endpoints.filter((spec) => spec.tier && above.includes(spec.tier));
    expect(refused.sort()).toEqual(higher.map(titleOf).sort());
  });
});

describe('hosted', () => {
  const ashlar = useApp({ still: true, env: { ASHLAR_OFFERING: 'hosted' } });

  test('what is for self-managed instances is not there', async () => {
    const own = ashlar.app.endpoints.filter(({ offering }) => offering === 'self_managed');
    expect(own.length).toBeGreaterThan(0);
    const places = await makeWorld(ashlar, 1);
    const headers = { 'private-token': ROOT_TOKEN };
    for (const { method, path } of own)
      expect([
        method,
        path,
        (await sendRaw(ashlar.url, `${method} /api/v4${addressOf(path, places)}`, { headers })).status,
      ]).toEqual([method, path, 404]);
  });
});
