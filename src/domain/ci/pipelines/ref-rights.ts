/** Who may let jobs of a pipeline run that is there. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Actor } from '../../../kernel/actor.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { Db } from '../../../platform/db/database.ts';
import { forbidden } from '../../../platform/failure.ts';
import { fullRef, NO_OBJECT } from '../../../platform/git/names.ts';
import { guardRefs } from '../../repositories/index.ts';
import type { PipelineRow } from '../processing/process-actions.ts';
import { refOfPipeline, valueNamed, variablesOfMergeRequests } from './refs.ts';

type Context = { services: Needs<'settings'>; actor: Actor; subject: AuthorizedProject };

/** 403 for a protected pipeline, whose jobs get what others do not, unless the user may write to its ref, or to both of its merge request's. */
export async function requireRunnable(
  db: Db,
  { services, actor, subject }: Context,
  pipeline: PipelineRow,
): Promise<void> {
  if (!pipeline.protected) return;
  const guard = await guardRefs(db, subject, actor, await services.settings.read());
  const { ref, kind } = refOfPipeline(pipeline);
  if (kind === 'tag') {
    const update = { ref: fullRef('tag', ref), before: NO_OBJECT, after: pipeline.sha };
    if (guard.isProtectedTag(ref) && guard.refusal(update) !== undefined) throw forbidden();
    return;
  }
  const target = valueNamed(variablesOfMergeRequests(pipeline), 'CI_MERGE_REQUEST_TARGET_BRANCH_NAME');
  const branches = kind === 'merge_request' && target !== undefined ? [ref, target] : [ref];
  const mayRun = (name: string) => !guard.isProtected(name) || guard.mayPush(name) || guard.mayMerge(name);
  if (!branches.every(mayRun)) throw forbidden();
}
