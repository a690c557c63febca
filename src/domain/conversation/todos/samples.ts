/** Root has a to-do item about the first issue from each user. */
import type { Samples } from '../../../../test/support/samples.ts';

export const samples: Samples = {
  after: ['work-items/issues'],
  rows: ({ user, project }) => `
    insert into todos (user_id, author_id, project_id, issue_id, action, created_at, updated_at)
      select ${user}, id, ${project}, (select min(id) from issues where project_id = ${project}), 'mentioned', now(), now()
      from person order by id`,
  objects: { 'todos/:id': 'todos' },
  requests: ({ projectId, groupId }) => ({
    'GET /todos, of a project out of sight': { with: { project_id: projectId('elsewhere/elsewhere') } },
    'GET /todos, of a group out of sight': { with: { group_id: groupId('elsewhere') } },
  }),
};
