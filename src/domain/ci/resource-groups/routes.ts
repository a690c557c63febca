/** Resource groups of projects (facts: Jobs; facts-ci: 7.5). */
import type { Static } from 'typebox';
import { onProject } from '../../../kernel/access/access.ts';
import { type Endpoint, endpoint, found, listing } from '../../../kernel/api/endpoint.ts';
import { mapPage, type PageRequest } from '../../../platform/pagination/page.ts';
import { type JobContext, presentJobs } from '../jobs/present.ts';
import { selectJobsOf } from '../jobs/queries.ts';
import { Job } from '../jobs/schema.ts';
import { changeMode } from './actions.ts';
import { type ResourceGroupRow, selectGroup, selectGroups, selectUpcoming, selectUser } from './queries.ts';
import { OneGroup, ResourceGroup, UpdateInput } from './schema.ts';

const path = '/projects/:id/resource_groups';
const pathOfOne = `${path}/:key` as const;
const read = onProject('read_resource_groups');

const present = (row: ResourceGroupRow): Static<typeof ResourceGroup> => ({
  id: row.id,
  key: row.key,
  // The column has a check of the same values.
  process_mode: row.process_mode as Static<typeof ResourceGroup>['process_mode'],
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

const readGroup = async ({ db, subject }: JobContext, key: string): Promise<ResourceGroupRow> =>
  found(await selectGroup(db, subject, key), 'Resource Group');

/** The jobs in the order of the ids. */
async function show(context: JobContext, ids: readonly number[]): Promise<Job[]> {
  if (ids.length === 0) return [];
  const rows = await selectJobsOf(context.db, context.subject, ids);
  const jobs = new Map((await presentJobs(context, rows)).map((job) => [job.id, job]));
  return ids.flatMap((id) => jobs.get(id) ?? []);
}

export const resourceGroupEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path,
    summary: 'Resource groups of a project, by key.',
    access: read,
    page: 'offset',
    item: ResourceGroup,
    handle: async ({ db, subject, page }) => mapPage(await selectGroups(db, subject, page), present),
  }),
  endpoint({
    method: 'GET',
    path: pathOfOne,
    summary: 'A resource group of a project.',
    access: read,
    input: OneGroup,
    reply: ResourceGroup,
    handle: async (context) => present(await readGroup(context, context.input.key)),
  }),
  endpoint({
    method: 'PUT',
    path: pathOfOne,
    summary: 'Changes who gets the resource of a group next.',
    access: onProject('run_pipelines'),
    input: UpdateInput,
    reply: ResourceGroup,
    handle: async (context) => {
      const { key, process_mode } = context.input;
      const row = await readGroup(context, key);
      if (process_mode === undefined) return present(row);
      const changed = await changeMode(context.db, row, process_mode);
      context.services.wake();
      return present(changed);
    },
  }),
  endpoint({
    method: 'GET',
    path: `${pathOfOne}/current_job`,
    summary: 'The job that uses the resource of a group.',
    access: read,
    input: OneGroup,
    reply: Job,
    handle: async (context) => {
      const id = found(await selectUser(context.db, await readGroup(context, context.input.key)), 'Job');
      return found((await show(context, [id]))[0], 'Job');
    },
  }),
  listing({
    method: 'GET',
    path: `${pathOfOne}/upcoming_jobs`,
    summary: 'The jobs that get the resource of a group next, in their order.',
    access: read,
    page: 'offset',
    input: OneGroup,
    item: Job,
    handle: async (context) => {
      const row = await readGroup(context, context.input.key);
      // Of a list that is paged by offset alone.
      const page = context.page as PageRequest & { kind: 'offset' };
      const ids = await selectUpcoming(context.db, row, page);
      return { ...ids, items: await show(context, ids.items) };
    },
  }),
];
