/** Milestones of projects and groups: issues with a common due date. */
import { activityTargets } from '../../../kernel/activity/targets.ts';
import type { Capability } from '../../../kernel/capability.ts';
import { hookSamples, hookSources } from '../../hooks/index.ts';
import { referenceDefinitions } from '../../markdown/index.ts';
import { milestoneActivityTarget } from './activity-target.ts';
import { milestoneHooks, milestoneSample } from './hook-events.ts';
import { milestoneReferences } from './references.ts';
import { milestoneEndpoints } from './routes.ts';

export const milestonesCapability = (): Capability => ({
  name: 'milestones',
  endpoints: milestoneEndpoints,
  registrations: [
    referenceDefinitions.add(milestoneReferences),
    activityTargets.add(milestoneActivityTarget),
    hookSources.add(...milestoneHooks),
    hookSamples.add(milestoneSample),
  ],
  // They go with their project or group, by foreign key.
  tables: ['milestones'],
  // requireFreeTitle() looks at a project's group; the project may be moved to another one meanwhile.
  unique: { milestones_project_title: { property: 'title' }, milestones_group_title: { property: 'title' } },
});
