/** Records on the project what its first push brings, and counts writes. */

import { sql } from 'kysely';
import type { RepositoryKey } from '../../../kernel/repository-store.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db } from '../../../platform/db/database.ts';
import { fullRef, NO_OBJECT, shortRef } from '../../../platform/git/names.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import { readRef } from '../../../platform/git/refs.ts';
import { type RefUpdate, setHead } from '../../../platform/git/write.ts';
import { protectFirstBranch } from '../protection/first-branch-actions.ts';

export async function showFirst(
  tx: Db,
  projectId: number,
  first: string,
  settings: ApplicationSettings,
): Promise<void> {
  await ahead(tx)
    .updateTable('projects')
    .set({ empty_repo: false, default_branch: first, last_activity_at: now() })
    .where('id', '=', projectId)
    .execute();
  await protectFirstBranch(tx, projectId, first, settings);
}

/**
 * The default branch after a project's first push: the configured one, else the instance's, else the first
 * pushed one. Undefined while there is no branch, and where there was one before. Sets HEAD.
 */
export async function firstBranch(
  db: Db,
  projectId: number,
  git: GitFolder,
  updates: readonly RefUpdate[],
  instanceDefault: string,
): Promise<string | undefined> {
  const pushed = updates.flatMap(({ ref, after }) => {
    const short = shortRef(ref);
    return short?.kind === 'branch' && after !== NO_OBJECT ? [short.name] : [];
  });
  if (pushed.length === 0) return undefined;
  const project = await db
    .selectFrom('projects')
    .select(['empty_repo', 'default_branch'])
    .where('id', '=', projectId)
    .executeTakeFirst();
  if (!project?.empty_repo) return undefined;
  const wished = [project.default_branch, instanceDefault].find(
    (name) => name !== null && pushed.includes(name),
  );
  const chosen = wished ?? pushed[0];
  if (chosen === undefined || !(await readRef(git, fullRef('branch', chosen)))) return undefined;
  await setHead(git.folder, chosen);
  return chosen;
}

/** The statement that counts a write, for repacking. */
export const countingWrite = (db: Db, { kind, id, wiki }: RepositoryKey) =>
  db
    .updateTable('repositories')
    .set({ writes: sql<number>`writes + 1` })
    .where('container', '=', kind)
    .where('container_id', '=', id)
    .where('wiki', '=', wiki);

export async function countWrite(tx: Db, key: RepositoryKey): Promise<void> {
  await countingWrite(ahead(tx), key).execute();
}
