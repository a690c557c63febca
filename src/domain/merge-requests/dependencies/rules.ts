/** Whether one merge request may block another (facts-merge-requests: 1.1). Pure. */
import { conflict, Failure } from '../../../platform/failure.ts';

/** Of one merge request: those that it waits for, and those of one project that wait for it. Others' projects take nothing away. */
export const MAX_BLOCKS = 10;
/** Those that a new blocker waits for in turn: so many are looked through for a circle. */
export const MAX_CHAINED = 1_000;

/** What is known of the two before the dependency is made. */
export type BlockCandidates = {
  blockingId: number;
  blockedId: number;
  exists: boolean;
  /** How many block the one that is to be blocked, and how many of its project the new blocker blocks. */
  blockers: number;
  blockees: number;
  /** All that the new blocker waits for, directly or not; more than MAX_CHAINED of them are not listed. */
  chained: readonly number[];
};

const refused = (reason: string): Failure => new Failure('unprocessable', { base: [reason] });

/** Why the dependency is not made; undefined where it is. */
export function refuseBlock(candidates: BlockCandidates): Failure | undefined {
  const { blockingId, blockedId, exists, blockers, blockees, chained } = candidates;
  if (blockingId === blockedId) return refused('A merge request cannot block itself');
  if (exists) return conflict('The blocking merge request already exists');
  if (blockers >= MAX_BLOCKS) return refused(`A merge request has at most ${MAX_BLOCKS} dependencies`);
  if (blockees >= MAX_BLOCKS)
    return refused(`A merge request blocks at most ${MAX_BLOCKS} others of one project`);
  if (chained.includes(blockedId)) return refused('Merge requests cannot block each other in a circle');
  if (chained.length > MAX_CHAINED)
    return refused(`A merge request waits for at most ${MAX_CHAINED} others in all`);
  return undefined;
}
