/** Looks which suggestions of threads that moved along are for lines that are others now. */
import type { Db } from '../../../platform/db/database.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import { decode } from '../../../platform/git/parse.ts';
import { digest } from '../../../platform/secret.ts';
import type { NotePosition } from '../../conversation/index.ts';
import { readFileLines } from '../review/file-lines.ts';
import { bytesOf, rangeOf } from '../review/suggestions.ts';
import { selectOpenSuggestions } from './queries.ts';

/** The ids of those; the threads stand at one version. */
export async function outdatedSuggestions(
  db: Db,
  git: GitFolder,
  mergeRequestId: number,
  threads: readonly { discussionId: string; position: NotePosition }[],
): Promise<number[]> {
  const positions = new Map(threads.map(({ discussionId, position }) => [discussionId, position]));
  if (positions.size === 0) return [];
  const open = await selectOpenSuggestions(db, mergeRequestId, [...positions.keys()]);
  const placed = open.flatMap((row) => {
    const position = positions.get(row.discussion_id);
    return position ? { row, path: position.new_path ?? '', position } : [];
  });
  const outdated: number[] = [];
  for (const [path, ofFile] of Map.groupBy(placed, (each) => each.path)) {
    // One file after the other is in memory.
    const file = await readFileLines(git, ofFile[0]?.position.head_sha ?? '', path);
    for (const { row, position } of ofFile) {
      const { from_line, to_line } = rangeOf(position, row);
      const lines = file && digest(decode(bytesOf(file, from_line, to_line)));
      if (!lines?.equals(row.digest)) outdated.push(row.id);
    }
  }
  return outdated;
}
