/** Serves files of metric images below their project's path, to readers of the alert or issue. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Caller } from '../../../kernel/actor.ts';
import { type FileContext, fileRoute, projectOfFile } from '../../../kernel/api/file-route.ts';
import { readAvatar } from '../../../kernel/files/pictures.ts';
import type { Needs } from '../../../kernel/services.ts';
import { notFound } from '../../../platform/failure.ts';
import type { HttpResponse } from '../../../platform/http/messages.ts';
import type { Route } from '../../../platform/http/server/server.ts';
import { findIssue } from '../../work-items/index.ts';
import type { MetricImageRow } from './actions.ts';
import { selectIid, selectImageByName } from './queries.ts';

/** 404 for callers who may not read the alert or issue. */
async function requireReader(
  { database }: Needs<'database'>,
  project: AuthorizedProject,
  caller: Caller,
  { alert_id, issue_id }: MetricImageRow,
): Promise<void> {
  if (alert_id !== null) {
    if (!project.may('read_alerts')) throw notFound();
    return;
  }
  const { db } = database;
  const iid = await selectIid(db, project.id, issue_id);
  if (iid === undefined || !project.may('read_issues')) throw notFound();
  await findIssue(db, project, caller, iid);
}

async function serve(services: Needs<'blobs' | 'database'>, context: FileContext): Promise<HttpResponse> {
  const { caller, params } = context;
  const { image = '', filename = '' } = params;
  if (!/^\d{1,15}$/.test(image)) throw notFound();
  const project = await projectOfFile(services, context, 'read_project');
  const row = await selectImageByName(services.database.db, project.id, Number(image), filename);
  if (!row) throw notFound();
  await requireReader(services, project, caller, row);
  const response = await readAvatar(services, row.file);
  if (!response) throw notFound();
  return response;
}

export const metricImagePages = (
  services: Needs<'blobs' | 'config' | 'database' | 'settings' | 'authenticator' | 'limiter' | 'disk'>,
): Route[] => [
  fileRoute(services, {
    path: '/:path+/-/metric_images/:image/:filename',
    handle: (context) => serve(services, context),
  }),
];
