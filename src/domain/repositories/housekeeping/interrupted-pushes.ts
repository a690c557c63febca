/**
 * Finds writes that were not recorded, since the process died in between: announces them to the capabilities
 * that keep records, and gives projects that look empty and are not their first push.
 */

import type { Needs } from '../../../kernel/services.ts';
import { recordInterruptedPush } from '../pushes/pushes.ts';
import { projectRepository } from '../store/containers.ts';
import { announceInterruptedWrites } from '../store/interrupted-write-actions.ts';
import { selectEmptyProjects } from './queries.ts';

const MAX_REPOSITORIES_PER_RUN = 100;

/** Reads the repositories of the last day that no process writes to now. */
export async function findInterruptedPushes(
  services: Needs<'database' | 'settings' | 'repositories' | 'log' | 'wake'>,
): Promise<void> {
  await announceInterruptedWrites(services.database.background);
  services.wake();
  const rows = await selectEmptyProjects(services.database.background, MAX_REPOSITORIES_PER_RUN);
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
