/** The rules that a code owners file makes for a merge request (facts: merge requests §6.4). */
import { changedFiles } from '../../../platform/git/history/changed-files.ts';
import type { DiffEnds } from '../../../platform/git/history/diff-runs.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import {
  type CodeOwnersEntry,
  findCodeOwners,
  type NamedOwners,
  namedOwners,
} from '../../repositories/index.ts';

/** A rule as it is stored, with the owners as the file names them: who that is may change. */
export type OwnerRule = NamedOwners & {
  name: string;
  /** Null for the file as a whole: it is too much to tell who owns what, and nobody can approve that. */
  section: string | null;
  /** None where its section is optional. */
  approvals_required: number;
};

/** What any rule may ask for. */
const MAX_APPROVALS = 100;
/** Characters of all rules of a merge request: each of them is held against it wherever it is shown. */
const MAX_RULES_LENGTH = 32_768;

const closedRule = (path: string): OwnerRule => ({
  name: path,
  section: null,
  approvals_required: 1,
  owner_names: [],
  owner_emails: [],
  owner_roles: [],
});

/** The rules by the entries of the file at the path; undefined are such as could not be found. Pure. */
export function rulesOfEntries(path: string, entries: readonly CodeOwnersEntry[] | undefined): OwnerRule[] {
  const rules = entries?.map(
    ({ pattern, section, isOptional, approvalsRequired, owners }): OwnerRule => ({
      name: pattern,
      section,
      approvals_required: isOptional ? 0 : Math.min(MAX_APPROVALS, approvalsRequired),
      ...namedOwners(owners),
    }),
  );
  return rules && JSON.stringify(rules).length <= MAX_RULES_LENGTH ? rules : [closedRule(path)];
}

/** The code owners in a target branch. */
export type TargetOwners = {
  /** The id of the file's contents; empty where there is none. */
  sha: string;
  /** The rules for a change between these commits. */
  rulesOf(ends: DiffEnds): Promise<OwnerRule[]>;
  /** The rules for a change of these files. */
  rulesOfPaths(paths: readonly string[]): Promise<OwnerRule[]>;
};

const without: TargetOwners = { sha: '', rulesOf: async () => [], rulesOfPaths: async () => [] };

/** As they are in the commit. */
export async function targetOwners(git: GitFolder, commit: string): Promise<TargetOwners> {
  const file = await findCodeOwners(git, commit);
  if (!file) return without;
  const rulesOfPaths = async (paths: readonly string[] | undefined) =>
    rulesOfEntries(file.path, paths && (await file.owning(paths)));
  return {
    sha: file.oid,
    async rulesOf(ends) {
      if (ends.from === ends.to) return [];
      const { files, isComplete } = await changedFiles(git, ends);
      return rulesOfPaths(isComplete ? [...files.keys()] : undefined);
    },
    rulesOfPaths,
  };
}

/** Code owners that a merge request was judged by; without rules, where they are as they were. */
export type JudgedOwners = { sha: string; rules: readonly OwnerRule[] | undefined };

/** Those of a new version. */
export async function ownersOfVersion(
  git: GitFolder,
  { base, start, head }: { base: string; start: string; head: string },
): Promise<JudgedOwners> {
  const { sha, rulesOf } = await targetOwners(git, start);
  return { sha, rules: await rulesOf({ from: base, to: head }) };
}
