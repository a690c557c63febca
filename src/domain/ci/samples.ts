/** Pipelines of each user, in the project; the first has a job of each user, and a bridge that started a child. */

import { placeBlob } from '../../../test/support/blobs.ts';
import type { Samples } from '../../../test/support/samples.ts';
import { zipOf } from '../../../test/support/zip.ts';
import { seal } from '../../platform/secret.ts';
import { projectRepository } from '../repositories/index.ts';

const kind = (name: 'job' | 'bridge', status: string) => `
  insert into ci_jobs (pipeline_id, project_id, kind, stage, stage_index, name, status, runs_when, user_id, created_at, updated_at)
    select (select min(id) from pipelines), (select min(project_id) from pipelines), '${name}', 'test', 1, username,
      '${status}', '${status === 'manual' ? 'manual' : 'on_success'}', id, now(), now()
    from person order by id`;

const lastJob = `select max(id) as id from ci_jobs where kind = 'job' and status = 'success'`;
const JOB_TOKEN = 'glcbt-of-the-samples';

export const samples: Samples = {
  rows: ({ project }, { app }) => `
    insert into pipelines (project_id, iid, sha, before_sha, ref, tag, source, status, protected, user_id, created_at, updated_at)
      select ${project}, row_number() over (order by id), repeat('1', 40), repeat('0', 40), 'main', false, 'push', 'manual', false,
        id, now(), now()
      from person order by id;
    insert into project_counters (project_id, pipelines) select ${project}, count(*) from person
      on conflict (project_id) do update set pipelines = excluded.pipelines;
    ${kind('job', 'success')}; ${kind('job', 'manual')}; ${kind('bridge', 'success')};
    insert into pipelines (project_id, iid, sha, before_sha, ref, tag, source, status, protected, user_id, source_job_id, created_at, updated_at)
      select ${project}, (select count(*) from person) + row_number() over (order by b.id), repeat('1', 40), repeat('0', 40), 'main', false,
        'parent_pipeline', 'success', false, b.user_id, b.id, now(), now()
      from ci_jobs b where b.kind = 'bridge' order by b.id;
    update project_counters set pipelines = pipelines * 2 where project_id = ${project};
    insert into ci_jobs (pipeline_id, project_id, kind, stage, stage_index, name, status, user_id, token_digest, created_at, updated_at)
      select (select min(id) from pipelines), ${project}, 'job', 'test', 1, 'running', 'running', min(id), sha256('${JOB_TOKEN}'), now(), now()
      from person;
    insert into pipeline_variables (pipeline_id, key, value_sealed, variable_type)
      select (select min(id) from pipelines), replace(username, '-', '_'), '${seal(app.services.secretKey, 'granite')}', 'env_var'
      from person order by id;
    insert into blobs (sha256, created_at) values (sha256('x'), now()) on conflict do nothing;
    insert into ci_artifacts (job_id, project_id, file_type, file_format, filename, size, sha256, created_at)
      select id, project_id, 'archive', 'zip', 'artifacts.zip', 1, sha256('x'), now()
      from ci_jobs where kind = 'job' and name <> 'running' order by id;
    insert into ci_artifacts (job_id, project_id, file_type, file_format, filename, size, sha256, created_at)
      select min(id), ${project}, 'cobertura', 'gzip', 'coverage.xml.gz', 1, sha256('x'), now()
      from ci_jobs where kind = 'job';
    update pipelines set status = 'success' where id = (select min(id) from pipelines)`,
  async fill(app, count) {
    const names = Array.from({ length: count }, (_, at) => (at === 0 ? 'a.txt' : `${at}.txt`));
    placeBlob(app, zipOf(...names.map((name) => ({ name, content: 'granite' }))), 'x');
  },
  objects: {
    'artifacts/:artifact_path': { value: 'a.txt' },
    'raw/:artifact_path': { value: 'a.txt' },
    'artifacts/:ref_name': { value: 'main' },
    'pipelines/:pipeline_id': 'pipelines',
    'ref/:ref': { value: 'main' },
    'jobs/:id': { table: 'ci_jobs', where: () => `name = 'running'` },
    'jobs/:job_id': {
      table: 'ci_jobs',
      where: ({ project }) => `project_id = ${project} and kind = 'job' and name <> 'running'`,
    },
  },
  /** A repository without commits, which the first file is committed to. */
  async guardedFill(_, { app, sql }) {
    const [row] = await sql<{ id: number }[]>`select id from projects where path = 'empty'`;
    await app.app.services.repositories.write(projectRepository(row?.id ?? 0), 'main', async () => undefined);
  },
  requests: async (world) => ({
    'POST /jobs/request': { with: { token: 'glrt-t2_of-the-samples', system_id: 'person-1' } },
    'PUT /jobs/:id': { with: { token: JOB_TOKEN, state: 'success' } },
    'POST /jobs/:id/artifacts': { file: 'file' },
    'POST /jobs/:id/artifacts/authorize': { with: { token: JOB_TOKEN } },
    'GET /projects/:id/jobs/artifacts/:ref_name/download': { with: { job: 'person-1' } },
    'GET /projects/:id/jobs/artifacts/:ref_name/raw/:artifact_path': { with: { job: 'person-1' } },
    // Files do not come back: these are of a job that no other request reads.
    'DELETE /projects/:id/jobs/:job_id/artifacts': { at: { job_id: await world.id(lastJob) } },
    'POST /projects/:id/jobs/:job_id/erase': { at: { job_id: await world.id(lastJob) } },
    'POST /projects/:id/pipeline': { with: { ref: 'main' } },
    // The project itself has a configuration file.
    'POST /projects/:id/create_ci_config': { at: { project: world.projectId('world/empty') } },
    'POST /projects/:id/trigger/pipeline': { with: { ref: 'main', token: 'person-2' } },
    'POST /projects/:id/ref/:ref/trigger/pipeline': { at: { ref: 'main' }, with: { token: 'person-2' } },
    'POST /projects/:id/jobs/:job_id/play': {
      at: { job_id: await world.id("select min(id) as id from ci_jobs where status = 'manual'") },
    },
    'GET /projects/:id/pipelines/latest': { with: { ref: 'main' } },
  }),
};
