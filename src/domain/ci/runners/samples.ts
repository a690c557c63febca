/** Runners of the project and of the group, whose first ones have managers; the last of the project's is a fork's. */
import type { Samples } from '../../../../test/support/samples.ts';

const TOKEN = 'glrt-t2_of-the-samples';
const REGISTRATION = 'GR1348941-of-the-samples';

/** Of those that the project has, the last is owned by another. */
const BORROWED = `select max(id) as id from runners where runner_type = 'project_type' and description like 'person-%'`;

export const samples: Samples = {
  after: ['namespaces/projects', 'ci'],
  rows: ({ project, group }) => `
    insert into runners (runner_type, namespace_id, digest, creator_id, registration_type, description, paused, locked,
        run_untagged, tag_list, access_level, created_at, updated_at)
      select case x when 1 then 'project_type' else 'group_type' end, case x when 2 then ${group} end,
        sha256(case when x = 2 and id = (select min(id) from person) then '${TOKEN}' else x || username end::bytea),
        id, 'authenticated_user', username, false, false, true, '{stone}', 'not_protected', now(), now()
      from person, generate_series(1, 2) x order by x, id;
    insert into runner_projects (runner_id, project_id, created_at)
      select r.id, p.id, now() from runners r, projects p
      where r.runner_type = 'project_type' and (p.id = ${project} or p.forked_from_id = ${project} and (
        r.id = (select min(id) from runners) or p.id = (select min(id) from projects where forked_from_id = ${project})))
        and (r.id <> (select min(id) from runners) or p.id <> (select max(id) from projects where forked_from_id = ${project}))
      order by r.id, (r.id = (${BORROWED})) = (p.id = ${project}), p.id;
    insert into runner_managers (runner_id, system_xid, features, ip_address, created_at)
      select r.id, username, '{}', '192.0.2.1', now() from person, runners r
      where r.id in (select min(id) from runners group by runner_type) order by person.id;
    insert into ci_jobs (pipeline_id, project_id, kind, stage, stage_index, name, status, runs_when, user_id, runner_id, created_at,
        updated_at)
      select (select max(id) from pipelines), ${project}, 'job', 'test', 1, username, 'failed', 'on_success', id,
        (select min(id) from runners), now(), now()
      from person order by id;
    insert into runner_registration_tokens (project_id, digest, created_at)
      values (${project}, sha256('${REGISTRATION}'), now())`,
  guardedRows: () => `
    insert into runners (runner_type, digest, registration_type, description, paused, locked, run_untagged, tag_list,
        access_level, created_at, updated_at)
      values ('project_type', sha256('elsewhere'), 'registration_token', 'elsewhere', false, false, true, '{}', 'not_protected',
        now(), now());
    insert into runner_projects (runner_id, project_id, created_at)
      select r.id, p.id, now() from runners r, projects p where r.description = 'elsewhere' and p.path = 'elsewhere'`,
  objects: {
    'runners/:id': { table: 'runners', where: ({ project }) => own(project) },
    'runners/:runner_id': { table: 'runners', where: ({ project }) => own(project) },
  },
  fields: { runner_id: 'runners', system_id: null },
  objectForDelete: () => ({
    '/projects/:id/runners/:runner_id': { at: { runner_id: BORROWED } },
    '/runners': { with: { token: TOKEN } },
    '/runners/managers': { with: { token: TOKEN, system_id: 'person-1' } },
  }),
  requests: async ({ id }) => ({
    'POST /runners': { with: { token: REGISTRATION } },
    'DELETE /runners': { with: { token: TOKEN } },
    'POST /runners/verify': { with: { token: TOKEN } },
    'POST /runners/reset_authentication_token': { with: { token: TOKEN } },
    'DELETE /runners/managers': { with: { token: TOKEN, system_id: 'person-1' } },
    'POST /user/runners': { with: { runner_type: 'instance_type' } },
    'PUT /runners/:id': { with: { description: 'new' } },
    'POST /projects/:id/runners': {
      with: { runner_id: await id(`select id from runners where description = 'elsewhere'`) },
    },
    'DELETE /projects/:id/runners/:runner_id': { at: { runner_id: await id(BORROWED) } },
  }),
};

const own = (project: number | undefined): string =>
  `id in (select runner_id from runner_projects where project_id = ${project})`;
