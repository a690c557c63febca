/**
 * Finds writes that were not recorded, since the process died in between: announces them to the capabilities
 * that keep records, and gives projects that look empty and are not their first push.
 */
import { sql } from 'kysely';
import type { Services } from '../../../kernel/services.ts';
import { recordInterruptedPush } from '../pushes/pushes.ts';
import { projectRepository } from '../store/containers.ts';
import { announceInterruptedWrites } from '../store/interrupted-writes.ts';

const MAX_REPOSITORIES_PER_RUN = 100;

/** Reads the repositories of the last day that no process writes to now. */
export async function findInterruptedPushes(services: Services): Promise<void> {
  await announceInterruptedWrites(services.database.background);
  services.wake();
  const { rows } = await sql<{ id: number }>`
    select p.id from repositories r join projects p on r.container = 'project' and p.id = r.container_id
    where not r.wiki and p.empty_repo and not p.deleting and r.created_at > now() - interval '1 day'
      and not exists (select from repository_uses u where u.container = 'project' and u.container_id = p.id)
    order by r.id desc limit ${MAX_REPOSITORIES_PER_RUN}`.execute(services.database.background);
  for (const { id } of rows) {
    try {
      await services.repositories.write(projectRepository(id), 'main', (git) =>
        recordInterruptedPush(services, { id }, git),
      );
    } catch (error) {
      services.log.error('a repository could not be looked at', error, { project_id: id });
    }
  }
}
