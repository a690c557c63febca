/** Reads pipelines of a project. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { PipelineRow } from '../processing/process-actions.ts';

export type { PipelineRow } from '../processing/process-actions.ts';

export const pipelinesOf = (db: Db, project: Pick<AuthorizedProject, 'id'>) =>
  db.selectFrom('pipelines').selectAll('pipelines').where('pipelines.project_id', '=', project.id);

/** The project's pipeline of this id. */
export const selectPipeline = (
  db: Db,
  project: Pick<AuthorizedProject, 'id'>,
  id: number,
): Promise<PipelineRow | undefined> => pipelinesOf(db, project).where('id', '=', id).executeTakeFirst();

/** The newest pipeline of a commit. */
export const selectLastPipeline = (
  db: Db,
  project: Pick<AuthorizedProject, 'id'>,
  sha: string,
): Promise<PipelineRow | undefined> =>
  pipelinesOf(db, project).where('sha', '=', sha).orderBy('id', 'desc').limit(1).executeTakeFirst();
