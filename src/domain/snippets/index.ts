/** Snippets, personal and of projects: a few files each, in a repository of their own. */
import { activityTargets } from '../../core/activity/targets.ts';
import type { Capability } from '../../core/capability.ts';
import { referenceDefinitions } from '../../core/markdown/reference-definitions.ts';
import { notificationSubjects } from '../../core/notifications/subjects.ts';
import { parseInterruptedWrite, WRITE_INTERRUPTED } from '../../core/repositories/interrupted-writes.ts';
import { repositoryKinds } from '../../core/repositories/repository-kinds.ts';
import type { Services } from '../../core/services.ts';
import { noteables } from '../../core/work/noteable-registry.ts';
import { conversationEndpoints } from '../conversation/index.ts';
import { sweepUnready } from './actions.ts';
import { snippetActivityTarget } from './activity-target.ts';
import { reconcileFiles } from './files.ts';
import { snippetDefinition, snippetResource } from './noteable.ts';
import { snippetSubject } from './notification-subject.ts';
import { personalEndpoints } from './personal-routes.ts';
import { projectEndpoints } from './project-routes.ts';
import { snippetReferences } from './references.ts';
import { snippetRepositories } from './repository-kind.ts';

const SWEEP = 'snippets.sweep_unready';
const RECONCILE = 'snippets.reconcile';

export { movableSnippets } from './storage-moves.ts';

export const snippetsCapability = (services: Services): Capability => ({
  name: 'snippets',
  registrations: [
    noteables.add(snippetDefinition),
    referenceDefinitions.add(snippetReferences),
    repositoryKinds.add(snippetRepositories),
    activityTargets.add(snippetActivityTarget),
    notificationSubjects.add(snippetSubject),
  ],
  endpoints: [...conversationEndpoints(snippetResource), ...personalEndpoints, ...projectEndpoints],
  tasks: {
    [SWEEP]: () => sweepUnready(services.database.background),
    [RECONCILE]: (payload) => reconcileFiles(services, parseInterruptedWrite(payload)),
  },
  listeners: [{ fact: WRITE_INTERRUPTED, task: RECONCILE }],
  schedules: [{ task: SWEEP, pattern: '41 * * * *' }],
  tables: ['snippets'],
  // A project's snippets are deleted with it, by foreign key.
  async reassign(tx, userId, ghostId) {
    await tx.updateTable('snippets').set({ author_id: ghostId }).where('author_id', '=', userId).execute();
  },
});
