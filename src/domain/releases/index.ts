/** Releases of projects: what is published at a tag, with links and evidence. */
import type { Capability } from '../../kernel/capability.ts';
import type { Needs } from '../../kernel/services.ts';
import { hookSamples, hookSources } from '../hooks/index.ts';
import { notificationFacts, notificationSubjects } from '../notifications/index.ts';
import { milestoneHolders } from '../planning/index.ts';
import { tagReleases } from '../repositories/index.ts';
import { reassignReleases } from './actions.ts';
import { collectDue } from './evidences/actions.ts';
import { releaseFiles } from './files.ts';
import { releaseHooks, releaseSample } from './registrations/hook-events.ts';
import { releaseMilestones } from './registrations/milestone-holder.ts';
import { releaseFact, releaseSubject } from './registrations/notifications.ts';
import { releasesOfTags } from './registrations/tag-releases.ts';
import { releaseEndpoints } from './routes.ts';

export { releaseEndpoint, releasesEndpoint } from './routes.ts';

const COLLECT = 'releases.collect_evidence';

export const releasesCapability = (
  services: Needs<'database' | 'settings' | 'authenticator' | 'limiter' | 'disk'>,
): Capability => ({
  name: 'releases',
  endpoints: releaseEndpoints,
  routes: releaseFiles(services),
  registrations: [
    hookSources.add(...releaseHooks),
    hookSamples.add(releaseSample),
    notificationFacts.add(releaseFact),
    notificationSubjects.add(releaseSubject),
    milestoneHolders.add(releaseMilestones),
    tagReleases.add(releasesOfTags),
  ],
  tasks: { [COLLECT]: () => collectDue(services.database.background) },
  schedules: [{ task: COLLECT, pattern: '* * * * *' }],
  tables: ['releases', 'release_links', 'release_milestones', 'release_evidences'],
  unique: {
    release_links_name: { property: 'name' },
    release_links_url: { property: 'url' },
    release_links_filepath: { property: 'filepath' },
  },
  // A project's releases are deleted with it, by foreign key.
  reassign: reassignReleases,
});
