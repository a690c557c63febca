/** Repositories through the API: trees, files, commits, branches and tags. */

import { activityTargets } from '../../kernel/activity/targets.ts';
import type { Capability } from '../../kernel/capability.ts';
import { noteables, todoTargets } from '../conversation/index.ts';
import { hookNoteables, hookSamples, hookSources } from '../hooks/index.ts';
import { referenceDefinitions } from '../markdown/index.ts';
import { notificationSubjects } from '../notifications/index.ts';
import { aliasEndpoints } from './aliases/routes.ts';
import { commentEndpoints } from './commits/comment-routes.ts';
import { commitConversation, commitDefinition } from './commits/commit-notes.ts';
import { commitEndpoints } from './commits/routes.ts';
import { compareEndpoints } from './comparisons/routes.ts';
import { contributorEndpoints } from './contributor-routes.ts';
import { archiveEndpoints } from './files/archive-routes.ts';
import { blobEndpoints } from './files/blob-routes.ts';
import { fileEndpoints } from './files/routes.ts';
import { treeEndpoints } from './files/tree-routes.ts';
import { fileWriteEndpoints } from './files/write-routes.ts';
import { branchEndpoints } from './refs/branch-routes.ts';
import { tagEndpoints } from './refs/tag-routes.ts';
import { commitActivityTarget } from './registrations/activity-target.ts';
import { commitReferences } from './registrations/commit-references.ts';
import { commitOfNotes, pushHooks, pushSamples } from './registrations/hook-events.ts';
import { commitSubject } from './registrations/notification-subject.ts';
import { commitTodoTarget } from './registrations/todo-target.ts';
import { templateEndpoints } from './templates/routes.ts';
import { writeCommitEndpoints } from './write-commits/routes.ts';

export const repositoriesCapability = (): Capability => ({
  name: 'repositories',
  registrations: [
    noteables.add(commitDefinition),
    referenceDefinitions.add(commitReferences),
    todoTargets.add(commitTodoTarget),
    activityTargets.add(commitActivityTarget),
    notificationSubjects.add(commitSubject),
    hookSources.add(pushHooks),
    hookSamples.add(...pushSamples),
    hookNoteables.add(commitOfNotes),
  ],
  endpoints: [
    ...aliasEndpoints,
    ...commitConversation.all,
    ...commentEndpoints,
    ...commitEndpoints,
    ...compareEndpoints,
    ...branchEndpoints,
    ...fileWriteEndpoints,
    ...tagEndpoints,
    ...writeCommitEndpoints,
    ...archiveEndpoints,
    ...blobEndpoints,
    ...contributorEndpoints,
    ...fileEndpoints,
    ...templateEndpoints,
    ...treeEndpoints,
  ],
  tables: ['project_aliases'],
  unique: { project_aliases_name: { property: 'name' } },
});
