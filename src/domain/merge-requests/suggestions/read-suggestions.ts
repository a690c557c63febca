/** Reads what a note suggests for the lines that it is on. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { NotePosition } from '../../conversation/index.ts';
import { projectRepository } from '../../repositories/index.ts';
import { readFileLines } from '../review/file-lines.ts';
import { parseSuggestions, type Suggestion, suggestionsOf } from '../review/suggestions.ts';

/** None where the lines cannot be read. */
export async function readSuggestions(
  { services }: { services: Needs<'repositories'> },
  project: AuthorizedProject,
  position: NotePosition | undefined,
  text: string,
): Promise<Suggestion[]> {
  if (position?.position_type !== 'text' || !position.new_line || position.new_path === null) return [];
  const written = parseSuggestions(text);
  if (written.length === 0) return [];
  const { head_sha, new_path } = position;
  const file = await services.repositories.read(
    projectRepository(project.id),
    project.row.repository_storage,
    (git) => readFileLines(git, head_sha, new_path),
  );
  return file ? suggestionsOf(written, position, file) : [];
}
