/** Exports of projects and groups as archives. */
import { onGroup, onProject } from '../../../kernel/access/access.ts';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { downloadStatuses, replyWithBlob } from '../../../kernel/api/blob-reply.ts';
import { Accepted, accepted, bytesOf, type Endpoint, endpoint } from '../../../kernel/api/endpoint.ts';
import { presentProjectIdentity } from '../../../kernel/namespaces/project-records.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import type { Db } from '../../../platform/db/database.ts';
import { badRequest, Failure, forbidden } from '../../../platform/failure.ts';
import type { HttpRequest } from '../../../platform/http/messages.ts';
import type { Owner } from '../relations/export-queries.ts';
import { requestExport, type Upload } from './actions.ts';
import { selectFinished, selectStatus } from './queries.ts';
import { ExportInput, ExportStatusRecord } from './schema.ts';

const ofProject = (id: number): Owner => ({ column: 'project_id', id });
const ofGroup = (id: number): Owner => ({ column: 'namespace_id', id });

function refuseDisabled({ project_export_enabled: isEnabled }: ApplicationSettings): void {
  if (!isEnabled) throw forbidden();
}

/** 400 for what is no address of a web server; whether it may be reached is judged when the file is sent. */
function uploadOf(given: { url: string; http_method?: 'PUT' | 'POST' } | undefined): Upload | undefined {
  if (!given) return undefined;
  const url = URL.parse(given.url);
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw badRequest('upload[url] is not an http or https address');
  return { url: given.url, method: given.http_method ?? 'PUT' };
}

const perMinute = (
  name: string,
  setting:
    | 'project_export_limit'
    | 'project_download_export_limit'
    | 'group_export_limit'
    | 'group_download_export_limit',
) => ({
  name,
  setting,
  periodSeconds: 60,
});

async function download(
  { db, services, request }: { db: Db; services: Needs<'blobs'>; request: HttpRequest },
  owner: Owner,
) {
  const row = await selectFinished(db, owner);
  if (!row?.sha256) throw new Failure('not_found', '404 File Not Found');
  const name = row.filename ?? 'export.tar.gz';
  return replyWithBlob(services, request, { sha256: row.sha256, name, contentType: 'application/gzip' });
}

async function presentStatus(
  db: Db,
  { baseUrl }: Needs<'baseUrl'>,
  { id, row, fullPath }: AuthorizedProject,
): Promise<ExportStatusRecord> {
  const status = await selectStatus(db, ofProject(id));
  const links = {
    api_url: `${baseUrl()}/api/v4/projects/${id}/export/download`,
    web_url: `${baseUrl()}/${fullPath}`,
  };
  return {
    ...presentProjectIdentity(row),
    export_status: status,
    ...(status === 'finished' && { _links: links }),
  };
}

export const exportEndpoints: Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/projects/:id/export',
    summary: 'Makes an archive of a project, or sends it to an address.',
    access: onProject('export_project'),
    limit: perMinute('project_export', 'project_export_limit'),
    input: ExportInput,
    reply: Accepted,
    status: 202,
    async handle({ services, settings, actor, subject, input }) {
      refuseDisabled(settings);
      const entity = { type: 'Project', id: subject.id, path: subject.fullPath } as const;
      await requestExport(services, actor, ofProject(subject.id), entity, uploadOf(input.upload));
      return accepted();
    },
  }),
  endpoint({
    method: 'GET',
    path: '/projects/:id/export',
    summary: 'How far the archive of a project is.',
    access: onProject('export_project'),
    reply: ExportStatusRecord,
    async handle({ db, services, settings, subject }) {
      refuseDisabled(settings);
      return presentStatus(db, services, subject);
    },
  }),
  endpoint({
    method: 'GET',
    path: '/projects/:id/export/download',
    summary: 'The archive of a project; it is kept for a day.',
    access: onProject('export_project'),
    limit: perMinute('project_download_export', 'project_download_export_limit'),
    also: downloadStatuses,
    reply: bytesOf('application/gzip'),
    async handle({ db, services, settings, subject, request }) {
      refuseDisabled(settings);
      return download({ db, services, request }, ofProject(subject.id));
    },
  }),
  endpoint({
    method: 'POST',
    path: '/groups/:id/export',
    summary: 'Makes an archive of a group and of the groups below it, without their projects.',
    access: onGroup('export_group'),
    limit: perMinute('group_export', 'group_export_limit'),
    reply: Accepted,
    status: 202,
    async handle({ services, actor, subject }) {
      const entity = { type: 'Group', id: subject.id, path: subject.row.full_path } as const;
      await requestExport(services, actor, ofGroup(subject.id), entity, undefined);
      return accepted();
    },
  }),
  endpoint({
    method: 'GET',
    path: '/groups/:id/export/download',
    summary: 'The archive of a group; it is kept for a day.',
    access: onGroup('export_group'),
    limit: perMinute('group_download_export', 'group_download_export_limit'),
    also: downloadStatuses,
    reply: bytesOf('application/gzip'),
    handle: ({ db, services, subject, request }) => download({ db, services, request }, ofGroup(subject.id)),
  }),
];
