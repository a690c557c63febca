/** The licence for clients: the tier of this instance (facts: License). */
import Type from 'typebox';
import { onInstance } from '../../kernel/access/access.ts';
import type { Caller } from '../../kernel/actor.ts';
import { bytesOf, type Context, type Endpoint, endpoint, found, Reply } from '../../kernel/api/endpoint.ts';
import { now } from '../../platform/clock.ts';
import { dispositionHeader } from '../../platform/http/disposition.ts';
import { countUsers } from './actions.ts';
import { presentLicense } from './present.ts';
import { countActiveUsers, selectMostUsers, selectUserCounts } from './queries.ts';
import { usageTable } from './rules.ts';
import { InstanceLicense, LicenseWithActiveUsers } from './schema.ts';

const readLicense = async ({ db, services }: Pick<Context<unknown, unknown, Caller>, 'db' | 'services'>) =>
  presentLicense(services.config.tier, await countActiveUsers(db), await selectMostUsers(db));

/** The licence of the id; 404 for another. */
async function requireLicense(
  context: Pick<Context<{ id: number }, unknown, Caller>, 'db' | 'services' | 'input'>,
) {
  const license = await readLicense(context);
  return found(license.id === context.input.id ? license : undefined, 'License');
}

export const licenseEndpoints: Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/license',
    summary: 'The licence in force.',
    access: onInstance,
    reply: LicenseWithActiveUsers,
    handle: readLicense,
  }),
  endpoint({
    method: 'GET',
    path: '/license/:id',
    summary: 'A licence by its id.',
    access: onInstance,
    input: Type.Object({ id: Type.Integer() }),
    reply: LicenseWithActiveUsers,
    handle: requireLicense,
  }),
  endpoint({
    method: 'GET',
    path: '/licenses',
    summary: 'Every licence of this instance.',
    access: onInstance,
    reply: Type.Array(InstanceLicense),
    handle: async (context) => [await readLicense(context)],
  }),
  endpoint({
    method: 'PUT',
    path: '/license/:id/refresh_billable_users',
    status: 202,
    summary: 'Counts the users who take a seat anew.',
    access: onInstance,
    input: Type.Object({ id: Type.Integer() }),
    reply: Type.Object({ success: Type.Boolean() }),
    handle: async (context) => {
      await requireLicense(context);
      await countUsers(context.db);
      return { success: true };
    },
  }),
  endpoint({
    method: 'GET',
    path: '/license/usage_export',
    summary: 'The use of the licence by day, as a table.',
    access: onInstance,
    reply: bytesOf('text/csv'),
    handle: async ({ db, services }) => {
      const counts = await selectUserCounts(db);
      const today = { counted_at: now(), users: await countActiveUsers(db) };
      const table = usageTable({ plan: services.config.tier }, [...counts, today], now());
      return new Reply(200, Buffer.from(table), {
        'content-type': 'text/csv; charset=utf-8',
        'content-disposition': dispositionHeader('attachment', 'license-usage.csv'),
      });
    },
  }),
];
