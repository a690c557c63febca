/** Artifacts below the address of their job: the archive, and by `file_type` each report, as it came. */
import { type FileContext, fileRoute, projectOfFile } from '../../../kernel/api/file-route.ts';
import type { Needs } from '../../../kernel/services.ts';
import { forbidden, notFound } from '../../../platform/failure.ts';
import type { HttpResponse } from '../../../platform/http/messages.ts';
import { parseUrlEncoded } from '../../../platform/http/parameters/raw-parameters.ts';
import type { Route } from '../../../platform/http/server/server.ts';
import { mayDownload } from '../jobs/rules.ts';
import { downloadOf } from './download.ts';
import { selectArtifact } from './queries.ts';

type FileServices = Needs<'config' | 'database' | 'settings'>;

/** 404 as for the job, 403 for those who may not download it. */
async function sendArtifact(services: FileServices, context: FileContext): Promise<HttpResponse> {
  const { request, params } = context;
  const { id = '' } = params;
  if (!/^\d{1,15}$/.test(id)) throw notFound();
  const { db } = services.database;
  const project = await projectOfFile(services, context, 'read_pipelines');
  const { file_type = 'archive' } = parseUrlEncoded(request.query);
  if (typeof file_type !== 'string') throw notFound();
  const { keep_latest_artifact } = await services.settings.read();
  const artifact = await selectArtifact(
    db,
    project,
    { jobId: Number(id), type: file_type },
    keep_latest_artifact,
  );
  if (!artifact) throw notFound();
  if (!mayDownload(project, artifact.access)) throw forbidden();
  const { headers, body } = await downloadOf(services, artifact, request.method);
  return { status: 200, headers, body };
}

export const artifactRoutes = (
  services: FileServices & Needs<'authenticator' | 'limiter' | 'disk'>,
): Route[] => [
  fileRoute(services, {
    path: '/:path+/-/jobs/:id/artifacts/download',
    handle: (context) => sendArtifact(services, context),
  }),
];
