/** Records the push of a user that git took and the database does not know of, since the process died in between. */
import { reachProject } from '../../../kernel/access/find.ts';
import type { Needs } from '../../../kernel/services.ts';
import { NO_OBJECT, shortRef } from '../../../platform/git/names.ts';
import type { RefUpdate } from '../../../platform/git/write.ts';
import type { Task } from '../../../platform/jobs/jobs.ts';
import { type PushData, recordPush, takenRefs } from '../pushes/pushes.ts';
import { projectRepository } from '../store/containers.ts';
import { parseInterruptedWrite } from '../store/interrupted-writes.ts';
import { selectPushedSince, selectPusher } from './queries.ts';

/** Whether an event tells of the update: by itself, or together with others. */
const tellsOf =
  ({ ref, after }: RefUpdate) =>
  (data: PushData): boolean =>
    data.ref_count !== null || (data.ref === shortRef(ref)?.name && (data.commit_to ?? NO_OBJECT) === after);

/** After `repository_write_interrupted`. What was recorded before the process died is not recorded again. */
export const recordInterruptedPushOf =
  (services: Needs<'database' | 'settings' | 'repositories' | 'wake'>): Task =>
  async (payload) => {
    const { kind, id, beganAt, pushed } = parseInterruptedWrite(payload);
    if (kind !== 'project' || !pushed) return;
    const { background, points } = services.database;
    const [project, pusher] = await Promise.all([
      reachProject(points, id),
      selectPusher(background, pushed.userId),
    ]);
    if (!project || !pusher) return;
    const { default_branch, empty_repo: empty } = project.row;
    await services.repositories.write(projectRepository(id), default_branch ?? 'main', async (git) => {
      const taken = await takenRefs(git, pushed.updates);
      const told = await selectPushedSince(background, id, beganAt);
      const updates = taken.filter((update) => shortRef(update.ref) && !told.some(tellsOf(update)));
      await recordPush(services, { id, empty }, pusher, git, updates);
    });
    services.wake();
  };
