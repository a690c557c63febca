/** Whether a merge request is merged on request: now, later by itself, or not (facts-merge-requests: 4.1). Pure. */
import { conflict, Failure, unauthenticated } from '../../../platform/failure.ts';
import { type FailedCheck, failedChecks, isMergeable, type MergeConditions } from '../mergeability/checks.ts';

export type MergeDemand = {
  /** Whether the caller may merge into the target branch. */
  mayMerge: boolean;
  /** To merge as soon as every check passes. */
  auto: boolean;
  /** The commit that the caller has seen as the newest. */
  sha?: string | null | undefined;
};

/** A refusal is one that the caller is to read; else what is to be done. */
export type MergeDecision = 'merge' | 'wait' | Failure;

const notAllowed = (): Failure => new Failure('method_not_allowed', '405 Method Not Allowed');

/** What git says no to, whatever people do. */
const ofGit: ReadonlySet<FailedCheck> = new Set(['conflict', 'need_rebase']);
/** What no waiting changes. */
const isFinal: ReadonlySet<FailedCheck> = new Set([...ofGit, 'not_open', 'commits_status']);

/**
 * Decides `PUT …/merge` for a merge request that the caller can read, whose newest commit is `headSha`. The branches should have
 * been checked: while it is not known that they merge, they do not. With `auto`, one with nothing to wait for is merged at once.
 */
export function decideMerge(
  { mayMerge, auto, sha }: MergeDemand,
  merging: Omit<MergeConditions, 'isAutoMerge'>,
  headSha: string,
): MergeDecision {
  if (!mayMerge) return unauthenticated();
  const conditions = { ...merging, isAutoMerge: auto };
  const failed = failedChecks(conditions);
  const isReady = isMergeable(conditions);
  const waits = auto && !isReady && !failed.some((check) => isFinal.has(check));
  if (!waits && failed.some((check) => !ofGit.has(check))) return notAllowed();
  if (!waits && !isReady) return new Failure('unprocessable', 'Branch cannot be merged');
  if (sha != null && sha !== headSha) return conflict(`SHA does not match HEAD of source branch: ${headSha}`);
  return waits ? 'wait' : 'merge';
}

/** Why an automatic merge is not cancelled; undefined where it is. Its author may, and who may merge. */
export function refuseCancel(
  caller: { mayMerge: boolean; isAuthor: boolean },
  { state, isAutoMerge }: Pick<MergeConditions, 'state' | 'isAutoMerge'>,
): Failure | undefined {
  if (!caller.mayMerge && !caller.isAuthor) return unauthenticated();
  if (state === 'merged' || state === 'closed') return notAllowed();
  if (isAutoMerge) return undefined;
  return new Failure('not_acceptable', "Can't cancel the automatic merge", {
    fields: { status: 'error', http_status: 406 },
  });
}
