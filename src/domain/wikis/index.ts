/** Wikis of projects and groups: pages in a repository each. */
import { activityTargets } from '../../core/activity/targets.ts';
import type { Capability } from '../../core/capability.ts';
import { parseInterruptedWrite, WRITE_INTERRUPTED } from '../../core/repositories/interrupted-writes.ts';
import { repositoryKinds } from '../../core/repositories/repository-kinds.ts';
import type { Services } from '../../core/services.ts';
import { wikiPageActivityTarget } from './activity-target.ts';
import { reconcilePages } from './reconcile.ts';
import { wikiRepositories } from './repository-kind.ts';
import { endpoints } from './routes.ts';

const RECONCILE = 'wikis.reconcile';

export { movableGroupWikis } from './storage-moves.ts';

export const wikisCapability = (services: Services): Capability => ({
  name: 'wikis',
  endpoints,
  registrations: [activityTargets.add(wikiPageActivityTarget), repositoryKinds.add(wikiRepositories)],
  tasks: { [RECONCILE]: (payload) => reconcilePages(services, parseInterruptedWrite(payload)) },
  listeners: [{ fact: WRITE_INTERRUPTED, task: RECONCILE }],
  // Rows go with their project or group.
  tables: ['wiki_pages', 'group_wikis'],
});
