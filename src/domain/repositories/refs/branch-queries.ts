/** Queries about branches beyond git's refs and our rows. */
import { sql } from 'kysely';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import { Failure } from '../../../platform/failure.ts';
import { fullRef } from '../../../platform/git/names.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import { textInTime } from '../../../platform/git/program/long-runs.ts';
import type { Ref } from '../../../platform/git/refs.ts';

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

/** The branches that are merged into the commit: it contains theirs, and is not theirs itself. */
export async function mergedBranches(
  git: GitFolder,
  target: string | undefined,
  branches: readonly Ref[],
): Promise<Set<string>> {
  const requested = branches.filter(({ oid }) => oid !== target);
  if (target === undefined || requested.length === 0) return new Set();
  const patterns = requested.map(({ name }) => fullRef('branch', name));
  const args = ['for-each-ref', `--merged=${target}`, '--format=%(refname:lstrip=2)', ...patterns];
  const text = await textInTime(args, { folder: git.folder });
  return new Set(text.split('\n').filter((name) => name !== ''));
}

/** Every branch that is merged into the commit, which may be a hundred thousand. */
export async function allMergedBranches(git: GitFolder, target: string): Promise<Ref[]> {
  const format = '--format=%(objectname) %(refname:lstrip=2)';
  const args = ['for-each-ref', `--merged=${target}`, format, fullRef('branch', '')];
  const lines = (await textInTime(args, { folder: git.folder })).split('\n');
  return lines
    .map((line) => ({ oid: line.slice(0, line.indexOf(' ')), name: line.slice(line.indexOf(' ') + 1) }))
    .filter(({ oid }) => oid !== '' && oid !== target);
}
