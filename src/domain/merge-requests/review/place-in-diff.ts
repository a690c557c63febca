/** Places a note on the diff of a version, which git makes. */
import type { Needs } from '../../../kernel/services.ts';
import type { Db } from '../../../platform/db/database.ts';
import { readDiff } from '../../../platform/git/history/diff.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import type { Noteable, PositionInput } from '../../conversation/index.ts';
import { projectRepository } from '../../repositories/index.ts';
import { readFileLines } from './file-lines.ts';
import { fileOf, type PlacedNote, placeNote, requireKnownCommits } from './positions.ts';
import { selectKnownCommits } from './queries.ts';
import { lineCount } from './suggestions.ts';

/** Lines of the new version; only unchanged lines between the hunks depend on it. */
async function countNewLines(
  git: GitFolder,
  { head_sha, position_type, new_line, old_line }: PositionInput,
  path: string | undefined,
): Promise<number> {
  if (position_type !== 'text' || !new_line || !old_line || path === undefined) return 0;
  const file = await readFileLines(git, head_sha, path);
  return file ? lineCount(file) : 0;
}

/** 400 for a position that is in no diff of the merge request's versions. */
export async function placeInDiff(
  { db, services }: { db: Db; services: Needs<'repositories'> },
  { id = 0, project }: Pick<Noteable, 'id' | 'project'>,
  sent: PositionInput,
): Promise<PlacedNote> {
  const { base_sha, start_sha, head_sha } = sent;
  requireKnownCommits(sent, await selectKnownCommits(db, id, [base_sha, start_sha, head_sha]));
  const placed =
    project &&
    (await services.repositories.read(
      projectRepository(project.id),
      project.row.repository_storage,
      async (git) => {
        const { files } = await readDiff(git, { from: base_sha, to: head_sha });
        const file = fileOf(sent, files);
        return placeNote(sent, file, await countNewLines(git, sent, file?.new_path));
      },
    ));
  return placed ?? placeNote(sent, undefined, 0);
}
