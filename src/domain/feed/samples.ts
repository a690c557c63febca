/** The activity of the project: issues, notes on the first of them, and pushes by turns; and that of root. */
import type { Samples } from '../../../test/support/samples.ts';

export const samples: Samples = {
  after: ['work-items/issues', 'conversation/notes'],
  rows: ({ user, project }) => `
    insert into activity_events (project_id, author_id, action, created_at)
      select id, ${user}, 'created', now() from projects;
    insert into activity_events (project_id, author_id, action, target_type, target_id, details, created_at)
      select ${project}, author_id, action, type, target, details, now() from (
        select id, author_id, 'created' as action, 'Issue' as type, id as target, null::jsonb as details, 1 as turn
          from issues where project_id = ${project}
        union all
        select id, author_id, 'commented', 'Note', id, null, 2 from notes
          where project_id = ${project} and issue_id is not null and not in_thread
        union all
        select id, id, 'pushed', null, null, '{"push_data": {"commit_count": 1, "action": "pushed", "ref_type": "branch",
          "commit_from": null, "commit_to": null, "ref": "main", "commit_title": null, "ref_count": null}}', 3
          from person) x order by id, turn`,
};
