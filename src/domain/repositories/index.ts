/** Repositories through the API: trees, files, commits, branches, tags, and what is said of commits. */
import type { Capability } from '../../core/capability.ts';
import type { Services } from '../../core/services.ts';

export const repositoriesCapability = (_services: Services): Capability => ({
  name: 'repositories',
  endpoints: [],
  tables: ['external_pipelines', 'commit_statuses', 'commit_comments'],
  async reassign(tx, userId, ghostId) {
    await tx
      .updateTable('commit_statuses')
      .set({ author_id: ghostId })
      .where('author_id', '=', userId)
      .execute();
    await tx
      .updateTable('commit_comments')
      .set({ author_id: ghostId })
      .where('author_id', '=', userId)
      .execute();
  },
});
