/** The jobs that a runner took (facts: Runners). */
import Type from 'typebox';
import { selectProjects } from '../../../kernel/access/find.ts';
import { type Endpoint, listing } from '../../../kernel/api/endpoint.ts';
import { ProjectIdentity, presentProjectIdentity } from '../../../kernel/namespaces/project-records.ts';
import { stringEnum } from '../../../platform/http/parameters/schema.ts';
import { statuses } from '../processing/status.ts';
import { onRunner } from '../runners/access.ts';
import { presentJobsAcross } from './present.ts';
import { selectJobsAcross, selectJobsOfRunner } from './queries.ts';
import { Job } from './schema.ts';

const ListInput = Type.Object({
  system_id: Type.Optional(Type.String({ maxLength: 255, description: 'Of one process of the runner.' })),
  status: Type.Optional(stringEnum(statuses)),
  order_by: Type.Optional(stringEnum(['id'], { default: 'id' })),
  sort: Type.Optional(stringEnum(['asc', 'desc'], { default: 'desc' })),
});

export const runnerJobEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path: '/runners/:id/jobs',
    summary: 'Jobs that a runner took, of projects whose jobs the caller reads, the newest first.',
    access: onRunner('manage_runner'),
    scopes: ['api', 'read_api', 'manage_runner'],
    page: 'offset',
    input: ListInput,
    item: Type.Object({ ...Job.properties, project: ProjectIdentity }),
    handle: async (context) => {
      const { db, services, actor, subject, input, page } = context;
      const listed = await selectJobsOfRunner(db, actor, subject, input, page);
      if (listed.items.length === 0) return { ...listed, items: [] };
      const paths = [...new Set(listed.items.map(({ full_path }) => full_path))];
      const readable = await selectProjects(services.database.points, actor, 'read_pipelines', paths);
      const projects = new Map([...readable.values()].map((project) => [project.id, project]));
      const rows = await selectJobsAcross(
        db,
        listed.items.map(({ id }) => id),
      );
      const projectOf = new Map(rows.map((row) => [row.id, row.project_id]));
      const jobs = new Map((await presentJobsAcross(context, rows, projects)).map((job) => [job.id, job]));
      const items = listed.items.flatMap(({ id }) => {
        const [job, project] = [jobs.get(id), projects.get(projectOf.get(id) ?? 0)];
        return job && project ? [{ ...job, project: presentProjectIdentity(project.row) }] : [];
      });
      return { ...listed, items };
    },
  }),
];
