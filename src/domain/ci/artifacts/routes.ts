/** Artifacts of jobs, by the job and by a ref and the name of a job (facts: Jobs; facts for CI: Storage and access). */
import { onProject } from '../../../kernel/access/access.ts';
import { downloadStatuses } from '../../../kernel/api/blob-reply.ts';
import {
  Accepted,
  accepted,
  bytesOf,
  type Endpoint,
  endpoint,
  listing,
  noContent,
} from '../../../kernel/api/endpoint.ts';
import { badRequest } from '../../../platform/failure.ts';
import { countedPage, windowOf } from '../../repositories/index.ts';
import { showJob } from '../jobs/routes.ts';
import { Job, OneJob } from '../jobs/schema.ts';
import { deleteArtifacts, eraseJob, expireOfProject, keepForEver } from './actions.ts';
import { listArchive } from './archive.ts';
import { ArchivedFile, replyWithArchived, replyWithArtifact } from './download.ts';
import { archiveOf, namedArchive } from './find-archive.ts';
import { isArchivePath } from './rules.ts';
import { ArchivedPath, ArchiveEntryRecord, ArchiveTree, NamedArchive, NamedPath } from './schema.ts';

const pathOfOne = '/projects/:id/jobs/:job_id';
const path = `${pathOfOne}/artifacts`;
const named = '/projects/:id/jobs/artifacts/:ref_name';
const reading = onProject('read_pipelines');
const running = onProject('run_pipelines');
const managing = onProject('manage_artifacts');

export const archiveTreeEndpoint = listing({
  method: 'GET',
  path: `${path}/tree`,
  summary: 'What is in the archive of what a job made, by its path.',
  access: reading,
  jobToken: true,
  also: [422],
  page: 'offset',
  input: ArchiveTree,
  item: ArchiveEntryRecord,
  handle: async (context) => {
    const { services, input, page } = context;
    const { sha256 } = await archiveOf(context, input.job_id);
    const folder = (input.path ?? '').replace(/\/$/, '');
    if (folder !== '' && !isArchivePath(folder)) throw badRequest('path is not the path of a folder');
    const all = await listArchive(await services.blobs.open(sha256), folder, input.recursive ?? false);
    const { offset, limit } = windowOf(page);
    return countedPage(page, all.slice(offset, offset + limit), all.length);
  },
});

export const artifactEndpoints: Endpoint[] = [
  endpoint({
    method: 'GET',
    path,
    summary: 'The archive of what a job made.',
    access: reading,
    jobToken: true,
    also: downloadStatuses,
    input: OneJob,
    reply: bytesOf('application/zip'),
    handle: async (context) => {
      const { services, input, request } = context;
      return replyWithArtifact(services, await archiveOf(context, input.job_id), request);
    },
  }),
  archiveTreeEndpoint,
  endpoint({
    method: 'GET',
    path: `${path}/:artifact_path`,
    takesRest: true,
    summary: 'A file in the archive of what a job made.',
    access: reading,
    jobToken: true,
    also: [304, 422],
    input: ArchivedPath,
    reply: ArchivedFile,
    handle: async (context) => {
      const { services, input, request } = context;
      const archive = await archiveOf(context, input.job_id);
      return replyWithArchived(services, archive, input.artifact_path, request);
    },
  }),
  endpoint({
    method: 'GET',
    path: `${named}/download`,
    summary: 'The archive of a job by its name, of the last successful pipeline of a branch or tag.',
    access: reading,
    jobToken: true,
    also: downloadStatuses,
    input: NamedArchive,
    reply: bytesOf('application/zip'),
    handle: async (context) => {
      const { services, input, request } = context;
      return replyWithArtifact(services, await namedArchive(context, input), request);
    },
  }),
  endpoint({
    method: 'GET',
    path: `${named}/raw/:artifact_path`,
    takesRest: true,
    summary:
      'A file in the archive of a job by its name, of the last successful pipeline of a branch or tag.',
    access: reading,
    jobToken: true,
    also: [304, 422],
    input: NamedPath,
    reply: ArchivedFile,
    handle: async (context) => {
      const { services, input, request } = context;
      const archive = await namedArchive(context, input);
      return replyWithArchived(services, archive, input.artifact_path, request);
    },
  }),
  endpoint({
    method: 'POST',
    path: `${path}/keep`,
    status: 200,
    summary: 'Keeps the artifacts of a job for ever.',
    access: running,
    input: OneJob,
    reply: Job,
    handle: async (context) => {
      await keepForEver(context, context.input.job_id);
      return showJob(context, context.input.job_id);
    },
  }),
  endpoint({
    method: 'DELETE',
    path,
    summary: 'Deletes the artifacts of a job.',
    access: managing,
    input: OneJob,
    reply: noContent,
    handle: async (context) => {
      await deleteArtifacts(context, context.input.job_id, context.unmodified);
      return null;
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/projects/:id/artifacts',
    status: 202,
    summary: 'Deletes the artifacts of a project soon, without those of the last successful pipelines.',
    access: managing,
    reply: Accepted,
    handle: async ({ db, settings, subject, unmodified }) => {
      unmodified(subject.row.updated_at);
      await expireOfProject(db, subject, settings.keep_latest_artifact);
      return accepted();
    },
  }),
  endpoint({
    method: 'POST',
    path: `${pathOfOne}/erase`,
    summary: 'Deletes the trace and the artifacts of a job that has ended.',
    access: running,
    input: OneJob,
    reply: Job,
    handle: async (context) => {
      await eraseJob(context, context.input.job_id);
      return showJob(context, context.input.job_id);
    },
  }),
];
