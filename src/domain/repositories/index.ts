/** Repositories through the API: trees, files, commits, branches and tags. */
import { activityTargets } from '../../core/activity/targets.ts';
import type { Capability } from '../../core/capability.ts';
import { referenceDefinitions } from '../../core/markdown/reference-definitions.ts';
import { notificationSubjects } from '../../core/notifications/subjects.ts';
import type { Services } from '../../core/services.ts';
import { noteables } from '../../core/work/noteable-registry.ts';
import { conversationEndpoints } from '../conversation/index.ts';
import { todoTargets } from '../todos/index.ts';
import { commitActivityTarget } from './activity-target.ts';
import { archiveEndpoints } from './archive-routes.ts';
import { blobEndpoints } from './blob-routes.ts';
import { branchEndpoints } from './branch-routes.ts';
import { commentEndpoints } from './comment-routes.ts';
import { commitDefinition, commitResource } from './commit-notes.ts';
import { commitReferences } from './commit-references.ts';
import { commitEndpoints } from './commit-routes.ts';
import { compareEndpoints } from './compare-routes.ts';
import { contributorEndpoints } from './contributor-routes.ts';
import { fileEndpoints } from './file-routes.ts';
import { fileWriteEndpoints } from './file-write-routes.ts';
import { commitSubject } from './notification-subject.ts';
import { statusEndpoints } from './status-routes.ts';
import { tagEndpoints } from './tag-routes.ts';
import { commitTodoTarget } from './todo-target.ts';
import { treeEndpoints } from './tree-routes.ts';
import { writeCommitEndpoints } from './write-commit-routes.ts';

export const repositoriesCapability = (_services: Services): Capability => ({
  name: 'repositories',
  registrations: [
    noteables.add(commitDefinition),
    referenceDefinitions.add(commitReferences),
    todoTargets.add(commitTodoTarget),
    activityTargets.add(commitActivityTarget),
    notificationSubjects.add(commitSubject),
  ],
  endpoints: [
    ...conversationEndpoints(commitResource),
    ...commentEndpoints,
    ...commitEndpoints,
    ...compareEndpoints,
    ...statusEndpoints,
    ...branchEndpoints,
    ...fileWriteEndpoints,
    ...tagEndpoints,
    ...writeCommitEndpoints,
    ...archiveEndpoints,
    ...blobEndpoints,
    ...contributorEndpoints,
    ...fileEndpoints,
    ...treeEndpoints,
  ],
  tables: ['external_pipelines', 'commit_statuses'],
  async reassign(tx, userId, ghostId) {
    await tx
      .updateTable('commit_statuses')
      .set({ author_id: ghostId })
      .where('author_id', '=', userId)
      .execute();
  },
});
