/** The licence for clients: the tier of this instance (facts: License). */
import Type from 'typebox';
import { onInstance } from '../../kernel/access/access.ts';
import type { Caller } from '../../kernel/actor.ts';
import { type Context, type Endpoint, endpoint, found } from '../../kernel/api/endpoint.ts';
import { presentLicense } from './present.ts';
import { countActiveUsers } from './queries.ts';
import { InstanceLicense, LicenseWithActiveUsers } from './schema.ts';

const readLicense = async ({ db, services }: Pick<Context<unknown, unknown, Caller>, 'db' | 'services'>) =>
  presentLicense(services.config.tier, await countActiveUsers(db));

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
    handle: async (context) => {
      const license = await readLicense(context);
      return found(license.id === context.input.id ? license : undefined, 'License');
    },
  }),
  endpoint({
    method: 'GET',
    path: '/licenses',
    summary: 'Every licence of this instance.',
    access: onInstance,
    reply: Type.Array(InstanceLicense),
    handle: async (context) => [await readLicense(context)],
  }),
];
