/** Seats: who of the members of a top-level group and all below it takes one. */
import type { Capability } from '../../../kernel/capability.ts';
import { billableEndpoints } from './routes.ts';

export const seatsCapability = (): Capability => ({
  name: 'seats',
  endpoints: billableEndpoints,
  tables: [],
});
