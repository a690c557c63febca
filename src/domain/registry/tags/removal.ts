/** Removes tags of a repository in the background: by turns, so that a repository with many holds up no other. */
import type { Db } from '../../../platform/db/database.ts';
import { addJobs } from '../../../platform/jobs/jobs.ts';
import { startTurn } from '../../../platform/jobs/turn.ts';
import { patternCompiler } from '../../../platform/patterns/pattern.ts';
import { takeTurns } from '../../../platform/turns.ts';
import { guardOf, selectRules } from '../protection/queries.ts';
import { neededInRepository } from '../protection/rules.ts';
import { deleteUnchanged, selectCleaned, selectNewest, type TagPlace } from './removal-actions.ts';
import { type TagSelection, tagSelector } from './rules.ts';

export const REMOVE_TAGS = 'registry.remove_tags';
/** Cleaning runs one job after the other. */
export const CLEANING = 'registry.cleaning';

/** As a job has it. */
export type TagsRemoval = {
  repository_id: number;
  /** Of who asked; null for an expiration policy, which nobody asks for and which ends when it is switched off. */
  level: number | null;
  /** Times are ISO 8601 texts. */
  selection: Omit<TagSelection, 'before'> & { before: string | null };
  /** Where the turn before ended, and how many of the newest it passed over. */
  after?: { updated_at: string; id: number };
  kept?: number;
};

/** What somebody asked for goes before what the clock does. */
export const removeTags = (db: Db, removals: readonly TagsRemoval[]): Promise<void> =>
  addJobs(
    db,
    removals.map((removal) => ({
      task: REMOVE_TAGS,
      payload: { ...removal },
      queue: CLEANING,
      priority: removal.level === null ? 1 : 0,
    })),
  );

const BATCH = 1_000;

/** One turn; what is left is a job behind those that wait. */
export async function runTagsRemoval(db: Db, removal: TagsRemoval): Promise<void> {
  const { repository_id, selection } = removal;
  const level = removal.level ?? 0;
  const compile = await patternCompiler();
  const before = selection.before === null ? null : new Date(selection.before);
  const selector = tagSelector({ ...selection, before }, compile, removal.kept ?? 0);
  let after: TagPlace | undefined = removal.after && {
    updated_at: new Date(removal.after.updated_at),
    id: removal.after.id,
  };
  const turn = takeTurns();
  const isOver = startTurn();
  do {
    // Rules and the repository may have changed since the last batch.
    const repository = await selectCleaned(db, repository_id);
    if (!repository || (removal.level === null && !repository.has_policy)) return;
    const rules = await selectRules(db, { id: repository.project_id });
    if (level < neededInRepository(rules.repository, repository.name, 'delete_level')) return;
    const guard = await guardOf(rules, level);
    const tags = await selectNewest(db, repository_id, after, BATCH);
    const gone: TagPlace[] = [];
    let seen = 0;
    for (const tag of tags) {
      // Patterns that somebody wrote may take a millisecond for each.
      if (seen > 0 && isOver()) break;
      seen += 1;
      after = tag;
      if (selector.goes(tag) && guard?.deleteRefusedBy(tag.name) === undefined) gone.push(tag);
      await turn();
    }
    await deleteUnchanged(db, gone);
    if (seen === tags.length && tags.length < BATCH) return;
  } while (!isOver());
  const place = after && { updated_at: after.updated_at.toISOString(), id: after.id };
  await removeTags(db, [{ ...removal, ...(place && { after: place }), kept: selector.kept }]);
}
