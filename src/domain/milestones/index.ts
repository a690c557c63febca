/** Milestones of projects and groups: issues with a common due date. */
import type { Capability } from '../../core/capability.ts';
import { milestoneEndpoints } from './routes.ts';

export const milestonesCapability = (): Capability => ({
  name: 'milestones',
  endpoints: milestoneEndpoints,
  // They go with their project or group, by foreign key.
  tables: ['milestones'],
});
