/** The code owners of a merge request whose target branch moved, while its version stays. */
import type { Db } from '../../../platform/db/database.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import type { JudgedOwners, TargetOwners } from './owner-rules.ts';
import { selectVersionEnds } from './queries.ts';

export async function judgedOwners(
  db: Db,
  { sha, rulesOf }: TargetOwners,
  { id, code_owners_sha }: Pick<MergeRequestRow, 'id' | 'code_owners_sha'>,
): Promise<JudgedOwners> {
  if (sha === code_owners_sha) return { sha, rules: undefined };
  const ends = await selectVersionEnds(db, id);
  return { sha, rules: ends ? await rulesOf(ends) : [] };
}
