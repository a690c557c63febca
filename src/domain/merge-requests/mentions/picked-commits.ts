/** Tells merged merge requests that what they brought was picked into another branch (facts-merge-requests: 8.1). */
import type { Needs } from '../../../kernel/services.ts';
import { inTransaction } from '../../../platform/db/database.ts';
import type { Task } from '../../../platform/jobs/jobs.ts';
import { insertSystemNotes } from '../../conversation/index.ts';
import { findActing } from '../following/acting-queries.ts';
import { mergeRequestNotes } from '../note-texts/system-notes.ts';
import { lockMergeRequest } from '../records/find-queries.ts';
import { mergeRequestNoteable } from '../records/merge-request-noteable.ts';
import { hasNote, selectMergedBy } from './queries.ts';

export const NOTE_PICKED = 'merge_requests.note_picked';

/** The task of `commit_picked`; told again, it finds the note there. */
export const notePicked =
  ({ database }: Needs<'database'>): Task =>
  async (payload) => {
    const fact = payload as {
      project_id: number;
      user_id: number;
      branch: string;
      sha: string;
      picked: string;
    };
    const id = await selectMergedBy(database.background, fact.project_id, fact.sha);
    const acting =
      id === undefined ? undefined : await findActing({ database }, fact.project_id, fact.user_id);
    if (id === undefined || !acting) return;
    const { actor, project } = acting;
    const tree = `/${project.fullPath}/-/tree/${fact.branch.split('/').map(encodeURIComponent).join('/')}`;
    const note = mergeRequestNotes.picked(fact.branch, tree, fact.picked);
    await inTransaction(database.background, async (tx) => {
      const row = await lockMergeRequest(tx, id);
      if (await hasNote(tx, id, note)) return;
      await insertSystemNotes(tx, mergeRequestNoteable(project, row), actor, [note])?.execute();
    });
  };
