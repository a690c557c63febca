/** Dependencies as records: the merge requests of both sides are loaded once for the whole page. */
import { type MergeRequestReading, presentMergeRequests } from '../records/merge-request-records.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import type { ShownBlock } from './queries.ts';
import type { DependencyRecord } from './schema.ts';

/** The records, in the order of the dependencies, with those of their merge requests that the reader sees. */
export async function presentBlocks(
  reading: MergeRequestReading,
  blocks: readonly ShownBlock[],
  seen: readonly MergeRequestRow[],
): Promise<DependencyRecord[]> {
  const records = await presentMergeRequests(reading, seen, { across: true });
  const byId = new Map(records.map((record) => [record.id, record]));
  return blocks.map(({ id, blocking_id, blocked_id, project_id }) => {
    const [blocking, blocked] = [byId.get(blocking_id), byId.get(blocked_id)];
    return {
      id,
      ...(blocking && { blocking_merge_request: blocking }),
      ...(blocked && { blocked_merge_request: blocked }),
      project_id,
    };
  });
}

export async function presentBlock(
  reading: MergeRequestReading,
  block: ShownBlock,
  seen: readonly MergeRequestRow[],
): Promise<DependencyRecord> {
  const [record] = await presentBlocks(reading, [block], seen);
  if (!record) throw new Error('one record for each dependency');
  return record;
}
