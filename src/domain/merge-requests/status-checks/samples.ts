/** A check of the project for each user, all of which have failed for its first merge request. */
import type { Samples } from '../../../../test/support/samples.ts';

export const samples: Samples = {
  after: ['merge-requests', 'repositories/protection'],
  rows: ({ project }) => `
    insert into external_status_checks (project_id, name, external_url, created_at, updated_at)
      select ${project}, username, 'https://checks.example/' || username, now(), now() from person order by id`,
  /** When the merge requests have their heads. */
  async fill(app, _count, { project }) {
    await app.app.services.database.sql`
      insert into status_check_responses (merge_request_id, check_id, sha, status, updated_at)
        select m.id, c.id, m.head_sha, 'failed', now() from merge_requests m
        join external_status_checks c on c.project_id = m.project_id
        where m.project_id = ${project} and m.iid = 1 and m.head_sha is not null`;
  },
  ownRows: ({ project }) => `
    insert into external_status_checks (project_id, name, external_url, created_at, updated_at)
      values (${project}, 'own', 'https://checks.example/own', now(), now())`,
  objects: {
    'external_status_checks/:check_id': 'external_status_checks',
    'status_checks/:external_status_check_id': 'external_status_checks',
  },
  fields: { external_status_check_id: 'external_status_checks' },
  requests: async ({ id, project }) => {
    const external_url = 'https://checks.example/new';
    const path = '/projects/:id/merge_requests/:merge_request_iid';
    const external_status_check_id = await id(
      `select min(id) as id from external_status_checks where project_id = ${project}`,
    );
    const sha = await id(
      `select head_sha as id from merge_requests where project_id = ${project} and iid = 1`,
    );
    return {
      'POST /projects/:id/external_status_checks': { with: { name: 'new', external_url } },
      'PUT /projects/:id/external_status_checks/:check_id': { with: { name: 'other' } },
      [`POST ${path}/status_check_responses`]: {
        with: { external_status_check_id, sha: String(sha), status: 'passed' },
      },
    };
  },
};
