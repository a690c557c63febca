/** Changes of owned files that go straight into a branch whose code owners are asked (facts: merge requests §6.4). */
import type { Actor } from '../../../kernel/actor.ts';
import type { Db } from '../../../platform/db/database.ts';
import { changedFiles } from '../../../platform/git/history/changed-files.ts';
import type { ObjectFolder } from '../../../platform/git/history/history.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import type { RefUpdate } from '../../../platform/git/write.ts';
import type { CodeOwnersEntry } from './code-owners.ts';
import { namedOwners } from './named-owners.ts';
import { selectForeign } from './owner-queries.ts';
import { findCodeOwners } from './read-code-owners.ts';

/** Patterns that a refusal names. */
const MAX_NAMED = 5;

const refusal = (patterns: readonly string[]): string => {
  const more = patterns.length - MAX_NAMED;
  const named = patterns.slice(0, MAX_NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '');
  return `You are no code owner of files that this changes (${named}). Open a merge request, which their owners approve.`;
};

/** Entries by their owners: of those alike one is asked. */
const byOwners = (entries: readonly CodeOwnersEntry[]) => [
  ...Map.groupBy(entries, ({ owners }) => JSON.stringify(namedOwners(owners))).values(),
];

/**
 * Why the caller may not make the change; undefined where they own all of it, or nobody does. The file is the branch's as it was
 * before; the objects of the change are in `place`.
 */
export async function refuseOwned(
  db: Db,
  { git, place }: { git: GitFolder; place: ObjectFolder },
  project: { id: number },
  actor: Pick<Actor, 'id'> | undefined,
  { before, after }: RefUpdate,
): Promise<string | undefined> {
  const file = await findCodeOwners(git, before);
  if (!file) return undefined;
  const { files, isComplete } = await changedFiles(place, { from: before, to: after });
  const entries = isComplete ? await file.owning([...files.keys()]) : undefined;
  if (!entries) return `${file.path} is too long, or too much is changed, to tell who owns it.`;
  const groups = byOwners(entries);
  const owners = groups.map(([first]) => namedOwners(first?.owners ?? []));
  const foreign = await selectForeign(db, project.id, actor?.id, owners);
  if (foreign.length === 0) return undefined;
  return refusal(foreign.flatMap((place) => groups[place]?.map(({ pattern }) => pattern) ?? []));
}
