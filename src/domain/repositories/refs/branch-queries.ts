/** Queries about branches beyond git's refs and our rows. */
import { sql } from 'kysely';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import { Failure } from '../../../platform/failure.ts';
import { fullRef } from '../../../platform/git/names.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import { textInTime } from '../../../platform/git/program/long-runs.ts';
import { listRefs, type Ref } from '../../../platform/git/refs.ts';

/** Milliseconds; a slower expression is an attack. */
const REGEX_TIMEOUT_MS = 2_000;

/**
 * The refs whose names match. PostgreSQL matches them: its expressions, unlike ours, do not run away, and
 * other requests need not wait meanwhile. 400 for no regular expression.
 */
export async function matchingRegex(db: Db, refs: readonly Ref[], regex: string): Promise<Ref[]> {
  const names = refs.map(({ name }) => name);
  try {
    const found = await inTransaction(db, async (tx) => {
      await sql`select set_config('statement_timeout', ${String(REGEX_TIMEOUT_MS)}, true)`.execute(tx);
      const { rows } = await sql<{ name: string }>`
        select name from unnest(${names}::text[]) name where name ~ ${regex}`.execute(tx);
      return new Set(rows.map((row) => row.name));
    });
    return refs.filter(({ name }) => found.has(name));
  } catch (error) {
    // 2201B: no regular expression, or one that is too complex.
    if ((error as { code?: unknown }).code === '2201B') throw new Failure('bad_request', 'Regex is invalid');
    throw error;
  }
}

/** Whether a commit contains another: what was found out once stays true. */
const contains = new Map<string, boolean>();
const MAX_KNOWN = 20_000;

function remember(pair: string, contained: boolean): void {
  contains.set(pair, contained);
  if (contains.size <= MAX_KNOWN) return;
  const [oldest = ''] = contains.keys();
  contains.delete(oldest);
}

/** The branches that are merged into the commit: it contains theirs, and is not theirs itself. */
export async function mergedBranches(
  git: GitFolder,
  target: string | undefined,
  branches: readonly Ref[],
): Promise<Set<string>> {
  if (target === undefined) return new Set();
  const pair = ({ oid }: Ref): string => `${target} ${oid}`;
  const others = branches.filter(({ oid }) => oid !== target);
  const merged = new Set(others.filter((ref) => contains.get(pair(ref))).map(({ name }) => name));
  const unknown = others.filter((ref) => !contains.has(pair(ref)));
  if (unknown.length === 0) return merged;
  const named = unknown.map(({ name }) => fullRef('branch', name));
  const found = await mergedRefs(git, target, named);
  // A branch that is not among them may have moved before git looked.
  const after = new Map((await listRefs(git, 'branch')).map(({ name, oid }) => [name, oid]));
  for (const ref of found) remember(pair(ref), true);
  const known = new Set(found.map(({ name }) => name));
  for (const ref of unknown) {
    if (known.has(ref.name)) merged.add(ref.name);
    else if (after.get(ref.name) === ref.oid) remember(pair(ref), false);
  }
  return merged;
}

/** Every branch that is merged into the commit, which may be a hundred thousand. */
export async function allMergedBranches(git: GitFolder, target: string): Promise<Ref[]> {
  const all = await mergedRefs(git, target, [fullRef('branch', '')]);
  return all.filter(({ oid }) => oid !== target);
}

/** The branches among these whose commits the target contains, as they are when git looks. */
async function mergedRefs(git: GitFolder, target: string, refs: readonly string[]): Promise<Ref[]> {
  const format = '--format=%(objectname) %(refname:lstrip=2)';
  const lines = await textInTime(['for-each-ref', `--merged=${target}`, format, ...refs], {
    folder: git.folder,
  });
  return lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => ({ oid: line.slice(0, line.indexOf(' ')), name: line.slice(line.indexOf(' ') + 1) }));
}
