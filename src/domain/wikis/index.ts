/** Wikis of projects and groups: pages in a repository each. */
import { activityTargets } from '../../kernel/activity/targets.ts';
import type { Capability } from '../../kernel/capability.ts';
import type { Needs } from '../../kernel/services.ts';
import { hookSamples, hookSources } from '../hooks/index.ts';
import { parseInterruptedWrite, repositoryKinds, WRITE_INTERRUPTED } from '../repositories/index.ts';
import { wikiPageActivityTarget } from './activity-target.ts';
import { wikiPageHook, wikiPageSample } from './hooks/hook-events.ts';
import { reconcilePages } from './reconcile-actions.ts';
import { wikiRepositories } from './repository-kind.ts';
import { endpoints } from './routes.ts';

export { wikiEndpointsOf } from './routes.ts';
export { wikiSearch } from './search-scope.ts';
export { movableGroupWikis } from './storage-moves.ts';

const RECONCILE = 'wikis.reconcile';

export const wikisCapability = (services: Needs<'database' | 'repositories'>): Capability => ({
  name: 'wikis',
  endpoints,
  registrations: [
    activityTargets.add(wikiPageActivityTarget),
    repositoryKinds.add(wikiRepositories),
    hookSources.add(wikiPageHook),
    hookSamples.add(wikiPageSample),
  ],
  tasks: { [RECONCILE]: (payload) => reconcilePages(services, parseInterruptedWrite(payload)) },
  listeners: [{ fact: WRITE_INTERRUPTED, task: RECONCILE }],
  // Rows go with their project or group.
  tables: ['wiki_pages', 'group_wikis'],
});
