/** What runners call for the artifacts of jobs (facts for CI: Artifacts of the runner). */
import { anyone } from '../../../kernel/access/access.ts';
import { authorizeProject } from '../../../kernel/access/find.ts';
import { downloadStatuses } from '../../../kernel/api/blob-reply.ts';
import { bytesOf, type Endpoint, endpoint, found, Reply } from '../../../kernel/api/endpoint.ts';
import { forbidden, unauthenticated } from '../../../platform/failure.ts';
import { isOfSameHierarchy } from '../execution/artifact-queries.ts';
import { jobOf, presentedToken } from '../execution/own-job.ts';
import { Words } from '../execution/schema.ts';
import { authenticateJob } from '../job-token-scope/authenticate-job.ts';
import { mayDownload } from '../jobs/rules.ts';
import { replyWithArtifact } from './download.ts';
import { selectArchive, selectPipelinesOf, selectProjectOfJob } from './queries.ts';
import { AuthorizeUpload, OwnDownload, UploadArtifact, UploadAuthorized } from './schema.ts';
import { refuseWithoutFile, sizeLimit, takeArtifact, tooLarge, typeOf } from './upload.ts';

const path = '/jobs/:id/artifacts';

export const runnerArtifactEndpoints: Endpoint[] = [
  endpoint({
    method: 'POST',
    path,
    summary: 'Keeps a file that a job made, for its runner.',
    access: anyone,
    ownCredential: true,
    stream: true,
    input: UploadArtifact,
    reply: Words,
    handle: async (context) => {
      const { services, input, request } = context;
      refuseWithoutFile(request);
      await takeArtifact(context, await jobOf(services, request, input), input);
      return new Reply(201, '201');
    },
  }),
  endpoint({
    method: 'POST',
    path: `${path}/authorize`,
    status: 200,
    summary: 'Whether a job may send a file of this size, for its runner.',
    access: anyone,
    ownCredential: true,
    input: AuthorizeUpload,
    reply: UploadAuthorized,
    handle: async ({ db, services, settings, input, request }) => {
      const job = await jobOf(services, request, input);
      const { limits } = await services.instance.read();
      const limit = await sizeLimit(db, { settings, limits }, job, typeOf(input).type);
      if ((input.filesize ?? 0) > limit) throw tooLarge();
      return { MaximumSize: limit };
    },
  }),
  endpoint({
    method: 'GET',
    path,
    summary: 'The archive of an earlier job, for the runner of a later one.',
    access: anyone,
    ownCredential: true,
    also: downloadStatuses,
    input: OwnDownload,
    reply: bytesOf('application/zip'),
    handle: async ({ db, services, settings, input, request }) => {
      const token = presentedToken(request, input);
      if (token === '') throw unauthenticated();
      const caller = await authenticateJob(services, settings, token);
      const { points } = services.database;
      const { project_id } = found(await selectProjectOfJob(db, input.id), 'Job');
      const project = await authorizeProject(points, caller, 'read_pipelines', project_id);
      const archive = found(await selectArchive(db, project, input.id, settings.keep_latest_artifact));
      if (!mayDownload(project, archive.access)) {
        // A pipeline's own jobs get what nobody else does.
        const pipelines = await selectPipelinesOf(db, input.id, token);
        if (!pipelines || !(await isOfSameHierarchy(db, pipelines.asked, pipelines.asking)))
          throw forbidden();
      }
      return replyWithArtifact(services, archive, request);
    },
  }),
];
