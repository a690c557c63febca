/** Rules of mirrors: which refs move, when the next run is, and what comes of a run (facts: packages §5). Pure. */
import { NO_OBJECT, shortRef } from '../../platform/git/names.ts';
import type { RemoteUpdate } from '../../platform/git/remotes/remotes.ts';
import type { RefUpdate } from '../../platform/git/write.ts';

export const statuses = [
  'none',
  'to_retry',
  'scheduled',
  'started',
  'finished',
  'failed',
  'canceled',
] as const;
export type Status = (typeof statuses)[number];

export type Refs = ReadonlyMap<string, string>;
/** Whether a branch of this name is mirrored; tags always are. */
export type BranchFilter = (branch: string) => boolean;

const isMirrored = (ref: string, filter: BranchFilter): boolean => {
  const short = shortRef(ref);
  return short !== undefined && (short.kind === 'tag' || filter(short.name));
};

/** What a pull would move here: the remote's refs that are missing or different. It deletes none. */
export const pulledUpdates = (local: Refs, remote: Refs, filter: BranchFilter): RefUpdate[] =>
  [...remote]
    .filter(([ref, oid]) => isMirrored(ref, filter) && local.get(ref) !== oid)
    .map(([ref, after]) => ({ ref, before: local.get(ref) ?? NO_OBJECT, after }));

/** Whether what was there before must be behind the new commit: of branches, where they are not overwritten. */
export const mustFollow = ({ ref, before }: RefUpdate, overwrites: boolean): boolean =>
  before !== NO_OBJECT && shortRef(ref)?.kind === 'branch' && !overwrites;

/**
 * What a push would move there. What is missing here is deleted there, unless nothing at all is here. `behind` says whether
 * the remote's commit is behind ours, or behind any of our branches where ours is undefined; it is asked where the remote's refs
 * that went other ways are kept: they are `divergent`.
 */
export async function pushedUpdates(
  local: Refs,
  remote: Refs,
  filter: BranchFilter,
  behind: ((oid: string, ours: string | undefined) => Promise<boolean>) | undefined,
): Promise<{ updates: RemoteUpdate[]; divergent: string[] }> {
  const updates: RemoteUpdate[] = [];
  const divergent: string[] = [];
  const hasBranches = [...local.keys()].some((ref) => shortRef(ref)?.kind === 'branch');
  if (!hasBranches) return { updates, divergent };
  for (const [ref, after] of local) {
    const there = remote.get(ref);
    if (!isMirrored(ref, filter) || there === after) continue;
    if (there !== undefined && behind && !(await behind(there, after))) divergent.push(ref);
    else updates.push({ ref, after });
  }
  for (const [ref, oid] of remote) {
    if (local.has(ref) || !isMirrored(ref, filter)) continue;
    if (behind && !(await behind(oid, undefined))) divergent.push(ref);
    else updates.push({ ref, after: undefined });
  }
  return { updates, divergent };
}

const MINUTE_MS = 60_000;
const PULL_INTERVAL_MS = 30 * MINUTE_MS;
/** Between pulls that somebody asks for. */
const REQUESTED_INTERVAL_MS = 5 * MINUTE_MS;
const FIRST_RETRY_MS = 5 * MINUTE_MS;
/** So many failures of a pull, one after the other, and it is not tried again by itself. */
export const MAX_PULL_FAILURES = 14;
/** So many failures of a push, and the next push is waited for. */
const MAX_PUSH_TRIES = 3;

const later = (time: Date, milliseconds: number): Date => new Date(time.getTime() + milliseconds);

/** When a pull that somebody asks for runs: at once, if the last one was not a moment ago. */
export function requestedPullAt(startedAt: Date | null, time: Date): Date {
  const earliest = startedAt ? later(startedAt, REQUESTED_INTERVAL_MS) : time;
  return earliest > time ? earliest : time;
}

/** When a push mirror runs after a push to the project. */
export function pushAt(
  { startedAt, onlyProtected }: { startedAt: Date | null; onlyProtected: boolean },
  time: Date,
): Date {
  const earliest = startedAt ? later(startedAt, (onlyProtected ? 1 : 5) * MINUTE_MS) : time;
  return earliest > time ? earliest : time;
}

/** A failure with its words; a transient one may go better soon. */
export type Outcome = { failed?: { text: string; transient: boolean } };
export type Health = { failures: number; is_told: boolean };
export type After = {
  status: Status;
  last_error: string | null;
  failures: number;
  /** When the next run is, unless it was asked for meanwhile. */
  due_at: Date | null;
  is_told: boolean;
  /** Whether the maintainers get a mail. */
  tells: boolean;
};

const good = { status: 'finished', last_error: null, failures: 0, is_told: false, tells: false } as const;

/** What comes of a pull; one that is off was to bring the repository once. */
export function afterPull(
  { failures, is_told, enabled }: Health & { enabled: boolean },
  { failed }: Outcome,
  time: Date,
  maximumDelayMinutes: number,
): After {
  if (!failed) return { ...good, due_at: enabled ? later(time, PULL_INTERVAL_MS) : null };
  const count = failures + 1;
  const gaveUp = enabled && count >= MAX_PULL_FAILURES;
  const delay = Math.min(FIRST_RETRY_MS * 2 ** (count - 1), Math.max(1, maximumDelayMinutes) * MINUTE_MS);
  return {
    status: 'failed',
    last_error: failed.text,
    failures: count,
    due_at: enabled && !gaveUp ? later(time, delay) : null,
    is_told: is_told || gaveUp,
    tells: gaveUp && !is_told,
  };
}

/** What comes of a push. */
export function afterPush({ failures, is_told }: Health, { failed }: Outcome, time: Date): After {
  if (!failed) return { ...good, due_at: null };
  const count = failures + 1;
  const base = { last_error: failed.text, failures: count };
  if (failed.transient && count < MAX_PUSH_TRIES)
    return {
      ...base,
      status: 'to_retry',
      due_at: later(time, MINUTE_MS * 2 ** (count - 1)),
      is_told,
      tells: false,
    };
  return { ...base, status: 'failed', due_at: null, is_told: true, tells: !is_told };
}
