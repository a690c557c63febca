/** Finds the archive of a job for those who may download it: by the job, or by a ref and the name of a job. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { Db } from '../../../platform/db/database.ts';
import { forbidden, notFound } from '../../../platform/failure.ts';
import { findCommit } from '../../../platform/git/refs.ts';
import { readRepository } from '../../repositories/index.ts';
import { selectJob } from '../jobs/queries.ts';
import { mayDownload } from '../jobs/rules.ts';
import { type ArtifactRow, selectArchive, selectNamedArchive } from './queries.ts';

type ReadContext = {
  db: Db;
  services: Needs<'config' | 'database' | 'repositories'>;
  settings: { keep_latest_artifact: boolean };
  subject: AuthorizedProject;
};

/** 403 where the archive is not for those who only see the job. */
function allowed(project: AuthorizedProject, archive: ArtifactRow): ArtifactRow {
  if (!mayDownload(project, archive.access)) throw forbidden();
  return archive;
}

/** That of the job; 404 without it, 403 as of allowed(). */
export async function archiveOf({ db, settings, subject }: ReadContext, jobId: number): Promise<ArtifactRow> {
  found(await selectJob(db, subject, jobId), 'Job');
  return allowed(subject, found(await selectArchive(db, subject, jobId, settings.keep_latest_artifact)));
}

type Named = { ref_name: string; job: string; search_recent_successful_pipelines?: boolean | undefined };

/** That of the job of this name in the last successful pipeline of the ref; 404 without it, 403 as of allowed(). */
export async function namedArchive(
  { db, services, settings, subject }: ReadContext,
  { ref_name: ref, job, search_recent_successful_pipelines: recent = false }: Named,
): Promise<ArtifactRow> {
  const commit = await readRepository(services, subject, (git) => findCommit(git, ref));
  const wanted = { ref, job, recent, sha: commit?.oid ?? '' };
  const archive = await selectNamedArchive(db, subject, wanted, settings.keep_latest_artifact);
  if (!archive) throw notFound('Job');
  return allowed(subject, archive);
}
