/**
 * The first merge request of the project waits for merged ones of another project, one of each user; as many of its own wait
 * for it in turn.
 */
import type { Samples } from '../../../../test/support/samples.ts';

export const samples: Samples = {
  after: ['merge-requests'],
  rows: ({ project }) => `
    insert into merge_requests (iid, project_id, source_project_id, source_branch, target_branch, author_id, title, draft,
        state, merge_status, merged_at, prepared_at, created_at, updated_at)
      select nth, other, other, 'topic-' || nth, 'main', id, username, false, 'merged', 'can_be_merged', now(), now(), now(), now()
      from (select row_number() over (order by id) as nth, id, username from person) author,
        (select min(id) as other from projects where id <> ${project}) beside;
    update project_counters c set merge_requests = n
      from (select project_id, max(iid) as n from merge_requests where state = 'merged' group by project_id) made
      where c.project_id = made.project_id;
    insert into merge_request_blocks (blocking_id, blocked_id, created_at)
      select other.id, m.id, now() from merge_requests m, merge_requests other
      where m.project_id = ${project} and m.iid = 1 and other.state = 'merged';
    insert into merge_request_blocks (blocking_id, blocked_id, created_at)
      select m.id, other.id, now() from merge_requests m join merge_requests other on other.project_id = m.project_id
      where m.project_id = ${project} and m.iid = 1 and other.iid between 2 and (select count(*) from person) + 1`,
  objects: {
    'blocks/:block_id': {
      table: 'merge_request_blocks',
      where: ({ project }) =>
        `blocked_id = (select id from merge_requests where project_id = ${project} and iid = 1)`,
    },
  },
  fields: { blocking_merge_request_id: 'merge_requests', blocking_project_id: 'projects' },
  requests: () => ({
    'POST /projects/:id/merge_requests/:merge_request_iid/blocks': {
      at: { merge_request_iid: 4 },
      with: { blocking_merge_request_iid: 3 },
    },
  }),
};
