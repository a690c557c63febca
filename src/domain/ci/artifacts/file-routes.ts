/**
 * Artifacts below the address of their job: the archive, by `file_type` each report, as it came, and files in the archive. Where
 * a ref stands for the job, the address leads to that of the job with the name in `job`.
 */
import { asResponse } from '../../../kernel/api/blob-reply.ts';
import { type FileContext, fileRoute, projectOfFile } from '../../../kernel/api/file-route.ts';
import type { Needs } from '../../../kernel/services.ts';
import { forbidden, notFound } from '../../../platform/failure.ts';
import type { HttpResponse } from '../../../platform/http/messages.ts';
import { parseUrlEncoded } from '../../../platform/http/parameters/raw-parameters.ts';
import type { Route } from '../../../platform/http/server/server.ts';
import { mayDownload } from '../jobs/rules.ts';
import { replyWithArchived, replyWithArtifact } from './download.ts';
import { archiveOf, namedArchive } from './find-archive.ts';
import { selectArtifact } from './queries.ts';

type FileServices = Needs<'blobs' | 'config' | 'database' | 'repositories' | 'settings'>;

/** The project, and what reads its artifacts. */
async function readingOf(services: FileServices, context: FileContext) {
  const subject = await projectOfFile(services, context, 'read_pipelines');
  return { db: services.database.db, services, settings: await services.settings.read(), subject };
}

function jobIn({ params: { id = '' } }: FileContext): number {
  if (!/^\d{1,15}$/.test(id)) throw notFound();
  return Number(id);
}

/** 404 as for the job, 403 for those who may not download it. */
async function sendArtifact(services: FileServices, context: FileContext): Promise<HttpResponse> {
  const jobId = jobIn(context);
  const { request } = context;
  const { db, settings, subject } = await readingOf(services, context);
  const { file_type = 'archive' } = parseUrlEncoded(request.query);
  if (typeof file_type !== 'string') throw notFound();
  const artifact = await selectArtifact(
    db,
    subject,
    { jobId, type: file_type },
    settings.keep_latest_artifact,
  );
  if (!artifact) throw notFound();
  if (!mayDownload(subject, artifact.access)) throw forbidden();
  return asResponse(await replyWithArtifact(services, artifact, request));
}

async function sendArchived(services: FileServices, context: FileContext): Promise<HttpResponse> {
  const jobId = jobIn(context);
  const archive = await archiveOf(await readingOf(services, context), jobId);
  const { '*': path = '' } = context.params;
  return asResponse(await replyWithArchived(services, archive, path, context.request));
}

async function leadToJob(services: FileServices, context: FileContext, kind: string): Promise<HttpResponse> {
  const { request, params } = context;
  const { ref = '', '*': rest } = params;
  const { job } = parseUrlEncoded(request.query);
  if (typeof job !== 'string') throw notFound();
  const reading = await readingOf(services, context);
  const { job_id: id } = await namedArchive(reading, { ref_name: ref, job });
  const below = rest ? `/${rest.split('/').map(encodeURIComponent).join('/')}` : '';
  const location = `/${reading.subject.fullPath}/-/jobs/${id}/artifacts/${kind}${below}`;
  return { status: 302, headers: { location, 'cache-control': 'private, no-cache' }, body: '' };
}

const ofJob = '/:path+/-/jobs/:id/artifacts';
const ofRef = '/:path+/-/jobs/artifacts/:ref';
const ofRefs: [path: string, kind: string][] = [
  [`${ofRef}/download`, 'download'],
  [`${ofRef}/browse`, 'browse'],
  [`${ofRef}/browse/*`, 'browse'],
  [`${ofRef}/file/*`, 'file'],
  [`${ofRef}/raw/*`, 'raw'],
];

export const artifactRoutes = (
  services: FileServices & Needs<'authenticator' | 'limiter' | 'disk'>,
): Route[] => [
  fileRoute(services, {
    path: `${ofJob}/download`,
    handle: (context) => sendArtifact(services, context),
  }),
  ...['raw', 'file'].map((kind) =>
    fileRoute(services, {
      path: `${ofJob}/${kind}/*`,
      handle: (context) => sendArchived(services, context),
    }),
  ),
  ...ofRefs.map(([path, kind]) =>
    fileRoute(services, { path, handle: (context) => leadToJob(services, context, kind) }),
  ),
];
