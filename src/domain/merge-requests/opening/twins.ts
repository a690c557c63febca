/** Between two branches one merge request is open at a time. */
import type { Db } from '../../../platform/db/database.ts';
import { violatedIndex } from '../../../platform/db/errors.ts';
import { Failure } from '../../../platform/failure.ts';
import type { Branches } from './branches.ts';
import { selectOpenTwin } from './queries.ts';

/** Runs a write; 409 with the number of the open one where the database refuses a second (facts: Creation). */
export async function refuseTwins<T>(db: Db, branches: Branches, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (violatedIndex(error) !== 'merge_requests_open_once') throw error;
    const twin = await selectOpenTwin(db, branches);
    throw new Failure('conflict', [
      `Another open merge request already exists for this source branch: !${twin?.iid ?? ''}`,
    ]);
  }
}
