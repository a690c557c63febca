/** Creating and deleting tags. */

import { notFound } from '../../../platform/failure.ts';
import { fullRef, isRefName, NO_OBJECT } from '../../../platform/git/names.ts';
import { readable, tagObject } from '../../../platform/git/parse.ts';
import { findCommit, peelToCommit, readRef } from '../../../platform/git/refs.ts';
import type { RefGuard } from '../protection/protection.ts';
import { authorOf, signatureOf } from '../pushes/commits.ts';
import { writeProject } from '../pushes/project-writes.ts';
import type { CommitContext } from '../write-commits/actions.ts';
import { refused } from '../write-commits/rules.ts';
import { committedAt } from './present.ts';

/**
 * Creates a tag at what `ref` names, with an object of its own when there is a message; 400 in the public API's words.
 * Returns the caller's permissions.
 */
export async function createTag(
  { services, settings, actor, subject }: CommitContext,
  wish: { tag_name: string; ref: string; message?: string },
): Promise<RefGuard> {
  const { tag_name: name, ref, message } = wish;
  return writeProject(services, settings, actor, subject, async (git, guard) => {
    if (!isRefName(name)) throw refused('Tag name invalid');
    const full = fullRef('tag', name);
    if ((await readRef(git, full)) !== undefined) throw refused(`Tag ${name} already exists`);
    const commit = await findCommit(git, ref);
    if (!commit) throw refused(`Target ${ref} is invalid`);
    if (!message) {
      const update = { ref: full, before: NO_OBJECT, after: commit.oid };
      return { objects: [], updates: [update], value: guard };
    }
    const text = message.endsWith('\n') ? message : `${message}\n`;
    const signature = signatureOf(authorOf(actor));
    const tag = readable(
      tagObject({ object: commit.oid, type: 'commit', name, tagger: signature, message: text }),
    );
    return {
      objects: [tag],
      updates: [{ ref: full, before: NO_OBJECT, after: tag.oid }],
      value: guard,
    };
  });
}

/** Deletes a tag; 404 without it, 403 for a protected one unless by a maintainer who may create it. */
export const deleteTag = (
  { services, settings, actor, subject }: CommitContext,
  name: string,
  unmodified: (updatedAt: Date) => void,
): Promise<void> =>
  writeProject(services, settings, actor, subject, async (git) => {
    const ref = fullRef('tag', name);
    const before = await readRef(git, ref);
    if (before === undefined) throw notFound('Tag');
    const commit = await peelToCommit(git, before);
    if (commit) unmodified(committedAt(commit));
    return { objects: [], updates: [{ ref, before, after: NO_OBJECT }], value: undefined };
  });
