/** Commits in to-do lists. */
import { mayInProjects } from '../../../kernel/access/policy-sql.ts';
import { projectFullPath } from '../../../kernel/namespaces/rows.ts';
import { peelToCommit } from '../../../platform/git/refs.ts';
import type { TodoTarget } from '../../conversation/index.ts';
import { commitKind } from '../commits/commit-noteable.ts';
import { type CommitRecord, presentCommit } from '../commits/records.ts';
import { projectRepository } from '../store/containers.ts';

export const commitTodoTarget: TodoTarget = {
  type: commitKind.type,
  column: 'commit_sha',
  isVisible: (actor, level) => mayInProjects('read_code', actor, level),
  async load({ services }, todos, projects) {
    const projectsById = await projects;
    // By item; without those that are no longer in the repository.
    const records = new Map<number, CommitRecord>();
    for (const [id, ofProject] of Map.groupBy(todos, ({ project_id }) => project_id ?? 0)) {
      const project = projectsById.get(id);
      if (!project) continue;
      const url = `${services.baseUrl()}/${projectFullPath(project)}`;
      await services.repositories.read(projectRepository(id), project.repository_storage, async (git) => {
        for (const todo of ofProject) {
          const commit = await peelToCommit(git, todo.commit_sha ?? '');
          if (commit) records.set(todo.id, presentCommit(url, commit));
        }
      });
    }
    return ({ id }) => records.get(id);
  },
};
