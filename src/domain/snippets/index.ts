/** Snippets, personal and of projects: a few files each, in a repository of their own. */

import { activityTargets } from '../../kernel/activity/targets.ts';
import type { Capability } from '../../kernel/capability.ts';
import { type MentionServices, mentionNamed, noteables } from '../conversation/index.ts';
import { hookNoteables } from '../hooks/index.ts';
import { referenceDefinitions } from '../markdown/index.ts';
import { notificationSubjects } from '../notifications/index.ts';
import { parseInterruptedWrite, repositoryKinds, WRITE_INTERRUPTED } from '../repositories/index.ts';
import { reassignSnippets, sweepUnready } from './actions.ts';
import { MENTION_NAMED, mentioningSnippets, mentionListeners } from './mentions/mentioning-snippets.ts';
import { personalEndpoints } from './personal-routes.ts';
import { projectEndpoints } from './project-routes.ts';
import { reconcileFiles } from './reconcile-actions.ts';
import { snippetActivityTarget } from './registrations/activity-target.ts';
import { snippetOfNotes } from './registrations/hook-events.ts';
import { snippetConversation, snippetDefinition } from './registrations/noteable.ts';
import { snippetSubject } from './registrations/notification-subject.ts';
import { snippetReferences } from './registrations/references.ts';
import { snippetRepositories } from './registrations/repository-kind.ts';

export { rawSnippetEndpoint, snippetEndpoint, snippetFileEndpoint } from './personal-routes.ts';
export {
  projectSnippetEndpoint,
  projectSnippetFileEndpoint,
  projectSnippetsEndpoint,
  rawProjectSnippetEndpoint,
} from './project-routes.ts';
export { snippetConversation } from './registrations/noteable.ts';
export { snippetSearch } from './registrations/search-scope.ts';
export { movableSnippets } from './registrations/storage-moves.ts';
export { SnippetRecord } from './snippet-records.ts';

const SWEEP = 'snippets.sweep_unready';
const RECONCILE = 'snippets.reconcile';

export const snippetsCapability = (services: MentionServices): Capability => ({
  name: 'snippets',
  registrations: [
    noteables.add(snippetDefinition),
    referenceDefinitions.add(snippetReferences),
    repositoryKinds.add(snippetRepositories),
    activityTargets.add(snippetActivityTarget),
    notificationSubjects.add(snippetSubject),
    hookNoteables.add(snippetOfNotes),
  ],
  endpoints: [...snippetConversation.all, ...personalEndpoints, ...projectEndpoints],
  tasks: {
    [SWEEP]: () => sweepUnready(services.database.background),
    [MENTION_NAMED]: mentionNamed(services, mentioningSnippets),
    [RECONCILE]: (payload) => reconcileFiles(services, parseInterruptedWrite(payload)),
  },
  listeners: [{ fact: WRITE_INTERRUPTED, task: RECONCILE }, ...mentionListeners],
  schedules: [{ task: SWEEP, pattern: '41 * * * *' }],
  tables: ['snippets'],
  // A project's snippets are deleted with it, by foreign key.
  reassign: reassignSnippets,
});
