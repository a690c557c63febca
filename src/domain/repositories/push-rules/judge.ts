/** Holds what is written to a project to its push rule: names at once, commits and files when git has the objects. */
import { extname } from 'node:path';
import type { Db } from '../../../platform/db/database.ts';
import type { ObjectFolder } from '../../../platform/git/history/history.ts';
import { NO_OBJECT, shortRef } from '../../../platform/git/names.ts';
import {
  largerThan,
  newCommitIds,
  newFilesOf,
  readNewCommits,
} from '../../../platform/git/pushed/new-commits.ts';
import type { RefUpdate } from '../../../platform/git/write.ts';
import { patternMatcher } from '../../../platform/patterns/pattern.ts';
import { createThreads } from '../../../platform/threads.ts';
import type { MatchAnswer } from './match-thread.ts';
import { selectAccountAddresses, selectPusher } from './queries.ts';
import {
  contentsRefusal,
  hasPatterns,
  type Judged,
  type Meets,
  nameRefusal,
  type PushRule,
  readsCommits,
  readsFiles,
  sizeRefusal,
  TOO_MUCH_FOR_RULE,
} from './rules.ts';

const threads = createThreads<Judged, MatchAnswer>({
  file: new URL(`./match-thread${extname(import.meta.url)}`, import.meta.url),
  share: {
    of: 'pushes held to push rules',
    places: 2,
    perCaller: 1,
    waitingPerCaller: 16,
    waiting: 200,
    timeoutMs: 10_000,
  },
  memoryMb: 128,
});
const MATCH_TIMEOUT_MS = 10_000;
/** Commits that are judged on the thread that answers requests. */
const MAX_JUDGED_AT_ONCE = 100;

/** Characters of names of branches that one push has held to a pattern, on the thread that answers requests. */
const MAX_NAMES_LENGTH = 100_000;

/** Characters of a refusal: addresses and paths may be of any length. */
const MAX_REFUSAL_LENGTH = 2_000;

const MEBIBYTE = 1_048_576;

export type RuleJudge = {
  /** Why the ref may not be made, moved or deleted. */
  nameRefusal(update: RefUpdate): string | undefined;
  /** Whether the update is judged by what it brings. */
  readsContents(update: RefUpdate): boolean;
  /** Why what the updates bring is refused; `made` are commits that the program made itself of a request. */
  contentsRefusal(
    place: ObjectFolder,
    updates: readonly RefUpdate[],
    made?: ReadonlySet<string>,
  ): Promise<string | undefined>;
};

/** The judge of one push to a project; undefined without a rule. `pusherId` is undefined for a deploy token. */
export async function judgeByRule(
  db: Db,
  rule: PushRule | undefined,
  defaultBranch: string,
  pusherId: number | undefined,
): Promise<RuleJudge | undefined> {
  if (!rule) return undefined;
  const matches = await patternMatcher([rule.branch_name_regex]);
  let looked = 0;
  const meets: Meets = (pattern, name) => {
    looked += name.length;
    return looked <= MAX_NAMES_LENGTH && matches(pattern, name);
  };
  const readsContents = ({ ref, after }: RefUpdate) =>
    after !== NO_OBJECT && shortRef(ref) !== undefined && (readsCommits(rule) || readsFiles(rule));
  return {
    nameRefusal(update) {
      const refusal = nameRefusal(rule, defaultBranch, update, meets);
      return refusal !== undefined && looked > MAX_NAMES_LENGTH ? TOO_MUCH_FOR_RULE : refusal;
    },
    readsContents,
    contentsRefusal: (place, updates, made = new Set()) =>
      refuseContents(db, rule, place, updates.filter(readsContents), pusherId, made).then((refusal) =>
        refusal?.slice(0, MAX_REFUSAL_LENGTH),
      ),
  };
}

async function refuseContents(
  db: Db,
  rule: PushRule,
  place: ObjectFolder,
  updates: readonly RefUpdate[],
  pusherId: number | undefined,
  made: ReadonlySet<string>,
): Promise<string | undefined> {
  if (updates.length === 0) return undefined;
  // A tag's commits are judged, too: once it has them, they are not new to a branch.
  const { ids, isComplete } = await newCommitIds(
    place,
    updates.map(({ after }) => after),
  );
  if (!isComplete) return TOO_MUCH_FOR_RULE;
  if (ids.length === 0) return undefined;
  const commits = readsCommits(rule) ? await readNewCommits(place, ids) : [];
  const files = readsFiles(rule) ? await newFilesOf(place, ids) : [];
  if (!commits || !files) return TOO_MUCH_FOR_RULE;
  const judged: Judged = {
    rule,
    commits: commits.map(({ oid, message, author, committer, signature }) => ({
      message,
      author: { name: author.name, email: author.email },
      committer: { name: committer.name, email: committer.email },
      isSigned: signature !== undefined,
      isMade: made.has(oid),
    })),
    known: rule.member_check
      ? await selectAccountAddresses(
          db,
          commits.flatMap(({ author, committer }) => [author.email, committer.email]),
        )
      : new Set(),
    pusher:
      pusherId !== undefined && (rule.commit_committer_check || rule.commit_committer_name_check)
        ? await selectPusher(db, pusherId)
        : undefined,
    newPaths: files.filter(({ isNew }) => isNew).map(({ path }) => path),
  };
  const refusal = await runPatterns(judged);
  if (refusal !== undefined || rule.max_file_size === 0) return refusal;
  const large = await largerThan(place, new Set(files.map(({ oid }) => oid)), rule.max_file_size * MEBIBYTE);
  const tooLarge = files.find(({ oid }) => large.has(oid));
  return tooLarge && sizeRefusal(tooLarge.path, rule);
}

/** In a thread where there are patterns, or many commits: texts are as long as their authors like. */
async function runPatterns(judged: Judged): Promise<string | undefined> {
  if (!hasPatterns(judged.rule) && judged.commits.length <= MAX_JUDGED_AT_ONCE)
    return contentsRefusal(judged, () => true);
  const answer = await threads.ask(judged, MATCH_TIMEOUT_MS);
  return answer ? answer.refusal : TOO_MUCH_FOR_RULE;
}
