/** Compares commits of a project, or of two that are forks of the same. */

import { sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { Db } from '../../../platform/db/database.ts';
import { Failure, notFound } from '../../../platform/failure.ts';
import { readDiff } from '../../../platform/git/history/diff.ts';
import {
  commitsBetween,
  mergeBase,
  type ObjectFolder,
  objectsOf,
} from '../../../platform/git/history/history.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import type { Commit } from '../../../platform/git/parse.ts';
import { findCommit, peelToCommit } from '../../../platform/git/refs.ts';
import { type ArrivingDiff, arrivingDiff } from '../commits/arriving-diff.ts';
import { readRepository } from '../commits/queries.ts';
import type { CompareInput } from './schema.ts';

/** Whether both come from the same project, however many forks are between. */
export async function areRelated(db: Db, left: number, right: number): Promise<boolean> {
  const { rows } = await sql<{ related: boolean }>`
    with recursive line (id, forked_from_id, depth) as (
      select id, forked_from_id, 0 from projects where id in (${left}, ${right})
      union all
      select p.id, p.forked_from_id, depth + 1 from projects p join line on p.id = line.forked_from_id
      where depth < 50)
    select count(distinct id) = 1 as related from line where forked_from_id is null`.execute(db);
  return rows[0]?.related ?? false;
}

export type Comparison = {
  from: Commit;
  to: Commit;
  /** The commit from which changes are counted. */
  base: string;
  /** Oldest first. */
  commits: Commit[];
  diff: ArrivingDiff;
  /** Whether commits are left out. */
  more: boolean;
};

const MAX_COMMITS = 5_000;

/** `from` of the target beside `to` of the source; `404 Ref Not Found` when there is no such commit. */
export async function compareCommits(
  services: Needs<'repositories'>,
  { source, target }: { source: AuthorizedProject; target: AuthorizedProject },
  input: CompareInput,
  signal: AbortSignal,
): Promise<Comparison> {
  const isOne = source.id === target.id;
  /** Work in both repositories, with the objects of both. */
  const read = <T>(work: (git: GitFolder, other: GitFolder, place: ObjectFolder) => Promise<T>) =>
    readRepository(services, source, (git) =>
      isOne
        ? work(git, git, git)
        : readRepository(services, target, (other) => work(git, other, bothOf(git, other))),
    );
  const compared = await read(async (git, other, place) => {
    const [from, to] = await Promise.all([findCommit(other, input.from), findCommit(git, input.to)]);
    if (!from || !to) throw notFound('Ref');
    const common = input.straight ? from.oid : await mergeBase(place, [from.oid, to.oid]);
    const base = common ?? from.oid;
    const commits = await commitsBetween(git, place, from.oid, to.oid, MAX_COMMITS + 1);
    const more = commits.length > MAX_COMMITS;
    return { from, to, base, commits: commits.slice(-MAX_COMMITS), more };
  });
  const { base, to, ...others } = found(compared, 'Ref');
  const diff = arrivingDiff(({ give }) =>
    read((git, _, place) =>
      readDiff(git, { from: base, to: to.oid }, { unidiff: input.unidiff, place, give, signal }),
    ),
  );
  return { ...others, base, to, diff };
}

/** For programs that need objects of either. */
const bothOf = (git: GitFolder, other: GitFolder): ObjectFolder => ({
  folder: git.folder,
  environment: objectsOf(other.folder),
});

/** The best common ancestor of the first revision and the others; 400 for unknown ones, 404 where there is none. */
export async function findMergeBase(
  services: Needs<'repositories'>,
  project: AuthorizedProject,
  revisions: readonly string[],
): Promise<Commit> {
  if (revisions.length < 2) throw new Failure('bad_request', 'Provide at least 2 refs');
  const base = await readRepository(services, project, async (git) => {
    const commits = await Promise.all(revisions.map((revision) => findCommit(git, revision)));
    refuseUnknown(revisions.filter((_, index) => commits[index] === undefined));
    const oid = await mergeBase(
      git,
      commits.flatMap((commit) => commit?.oid ?? []),
    );
    return oid === undefined ? undefined : peelToCommit(git, oid);
  });
  if (project.row.empty_repo) refuseUnknown(revisions);
  return found(base, 'Merge Base');
}

function refuseUnknown(unknown: readonly string[]): void {
  if (unknown.length === 0) return;
  const word = unknown.length === 1 ? 'ref' : 'refs';
  throw new Failure('bad_request', `Could not find ${word}: ${unknown.join(', ')}`);
}
