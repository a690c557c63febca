/** Reads a commit that the caller has found before. */
import type { GitFolder } from '../objects.ts';
import { type Commit, parseCommit } from '../parse.ts';

/** The commit with its content; throws where it has gone meanwhile. */
export async function readKnownCommit(
  git: GitFolder,
  oid: string,
): Promise<{ commit: Commit; content: Buffer }> {
  const object = await git.read(oid);
  if (object?.type !== 'commit') throw new Error(`${oid} is no commit that can be read`);
  return { commit: parseCommit(oid, object.content), content: object.content };
}
