/** Branches and tags as records. */
import type { Static } from 'typebox';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { commitDate } from '../../../platform/git/commit-texts.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import { type Commit, parseTag } from '../../../platform/git/parse.ts';
import { peelToCommit, type Ref } from '../../../platform/git/refs.ts';
import { presentCommit } from '../commits/records.ts';
import type { RefGuard } from '../protection/protection.ts';
import type { BranchRecord } from './branch-schema.ts';
import type { TagRecord } from './tag-schema.ts';

export const committedAt = ({ committer }: Commit): Date => new Date(committer.time * 1_000);

/** The context in which a caller sees the refs of a project. */
export type RefView = { project: AuthorizedProject; url: string; guard: RefGuard };

/** What is published at tags, by their names. */
export type PublishedAt = ReadonlyMap<string, { name: string; description: string | null }>;

export const presentBranch = (
  { project, url, guard }: RefView,
  name: string,
  commit: Commit,
  merged: boolean,
): Static<typeof BranchRecord> => ({
  name,
  commit: presentCommit(url, commit),
  merged,
  protected: guard.isProtected(name),
  developers_can_push: guard.developersMay(name, 'push'),
  developers_can_merge: guard.developersMay(name, 'merge'),
  can_push: project.may('push_code') && guard.mayPush(name),
  default: name === project.row.default_branch,
  web_url: `${url}/-/tree/${name.split('/').map(encodeURIComponent).join('/')}`,
});

/** A tag; one without an object of its own has no message and no time. */
export async function presentTag(
  { url, guard }: RefView,
  git: GitFolder,
  { name, oid }: Ref,
  published: PublishedAt,
): Promise<Static<typeof TagRecord>> {
  const object = await git.read(oid);
  const tag = object?.type === 'tag' ? parseTag(oid, object.content) : undefined;
  const commit = await peelToCommit(git, oid);
  const release = published.get(name);
  return {
    name,
    message: tag ? tag.message.replace(/\n$/, '') : null,
    target: oid,
    commit: commit ? presentCommit(url, commit) : null,
    release: release ? { tag_name: name, description: release.description } : null,
    protected: guard.isProtectedTag(name),
    created_at: tag?.tagger ? commitDate(tag.tagger) : null,
  };
}
