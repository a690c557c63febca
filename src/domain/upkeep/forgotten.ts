/**
 * Finds what was written and not recorded, since the process died in between: tells of it whoever keeps records, and gives
 * projects that look empty and are not their first push.
 */
import { sql } from 'kysely';
import { projectRepository } from '../../core/repositories/containers.ts';
import { tellCutOffs } from '../../core/repositories/cut-off.ts';
import { recordForgotten } from '../../core/repositories/pushes.ts';
import type { Services } from '../../core/services.ts';

const MOST_IN_A_RUN = 100;

/** Looks at the repositories of the last day that nobody writes to now. */
export async function findForgotten(services: Services): Promise<void> {
  await tellCutOffs(services.database.background);
  services.wake();
  const { rows } = await sql<{ id: number }>`
    select p.id from repositories r join projects p on r.container = 'project' and p.id = r.container_id
    where not r.wiki and p.empty_repo and not p.deleting and r.created_at > now() - interval '1 day'
      and not exists (select from repository_uses u where u.container = 'project' and u.container_id = p.id)
    order by r.id desc limit ${MOST_IN_A_RUN}`.execute(services.database.background);
  for (const { id } of rows) {
    try {
      await services.repositories.write(projectRepository(id), 'main', (git) =>
        recordForgotten(services, { id }, git),
      );
    } catch (error) {
      services.log.error('a repository could not be looked at', error, { project_id: id });
    }
  }
}
