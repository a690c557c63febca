/** Where a merge request has pipelines that a reader may see. */
import { type AuthorizedProject, authorizeProject } from '../../../kernel/access/find.ts';
import type { Caller } from '../../../kernel/actor.ts';
import type { Needs } from '../../../kernel/services.ts';
import { Failure } from '../../../platform/failure.ts';
import type { MergeRequestRow } from './merge-request-rows.ts';

/** The target's project, which is given, and the source's, by id: those in which the reader may see pipelines. */
export async function readableProjects(
  { services, actor }: { services: Needs<'database'>; actor: Caller },
  target: AuthorizedProject,
  { source_project_id }: Pick<MergeRequestRow, 'source_project_id'>,
): Promise<Map<number, AuthorizedProject>> {
  const readable = target.may('read_pipelines') ? [target] : [];
  if (source_project_id !== null && source_project_id !== target.id)
    try {
      const { points } = services.database;
      readable.push(await authorizeProject(points, actor, 'read_pipelines', source_project_id));
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
    }
  return new Map(readable.map((project) => [project.id, project]));
}
