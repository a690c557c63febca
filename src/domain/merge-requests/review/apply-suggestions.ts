/** Applies suggestions to the files of their branch, or says why not (facts-merge-requests: 7.5). Pure. */
import { Failure } from '../../../platform/failure.ts';
import { decode } from '../../../platform/git/parse.ts';
import { bytesOf, encodeLike, type FileLines, lineCount, readLines } from './suggestions.ts';

export type Appliability = {
  from_line: number;
  to_line: number;
  from_content: string;
  to_content: string;
  /** Of the file in the source branch. */
  path: string;
  applied: boolean;
  state: 'opened' | 'closed' | 'merged' | 'locked';
  hasSourceBranch: boolean;
  /** Whether its note is outdated, or its lines were seen to have changed. */
  isOutdated: boolean;
};

const edited = (state: string): string =>
  `This merge request ${state}. To apply this suggestion, edit this file directly.`;

/** The reason why the suggestion can't be applied, by the public API's order; undefined where it can. */
export function whyNotAppliable(suggestion: Appliability): string | undefined {
  const { applied, state, hasSourceBranch, isOutdated, from_line, to_line, path } = suggestion;
  const lines = from_line === to_line ? 'this line was' : 'these lines were';
  if (applied) return "Can't apply this suggestion.";
  if (state === 'merged') return edited('was merged');
  if (state === 'closed') return edited('is closed');
  if (!hasSourceBranch) return "Can't apply as the source branch was deleted.";
  if (isOutdated) return `Can't apply as ${lines} changed in a more recent version.`;
  if (suggestion.from_content === suggestion.to_content)
    return 'This suggestion already matches its content.';
  if (path.endsWith('.ipynb'))
    return "This file was modified for readability, and can't accept suggestions. Edit it directly.";
  return undefined;
}

export type ChosenSuggestion = Appliability & {
  /** What tells source branches apart, of one project or several. */
  branch: string;
  /** Whether its note stands at the newest commit of that branch. */
  isAtHead: boolean;
};

const isAsBefore = (file: FileLines, { from_line, to_line, from_content }: Appliability): boolean =>
  from_line > 0 && to_line <= lineCount(file) && decode(bytesOf(file, from_line, to_line)) === from_content;

function refusalOf(
  suggestion: ChosenSuggestion,
  branch: string,
  file: FileLines | undefined,
): string | undefined {
  // The files are those of one branch.
  if (suggestion.branch !== branch) return 'Suggestions must all be on the same branch.';
  if (suggestion.hasSourceBranch && !file) return 'A file was not found.';
  const isOutdated = suggestion.isOutdated || (file !== undefined && !isAsBefore(file, suggestion));
  const reason = whyNotAppliable({ ...suggestion, isOutdated });
  if (reason !== undefined) return reason;
  return suggestion.isAtHead ? undefined : 'A file has been changed.';
}

const refused = (reason: string): Failure => new Failure('bad_request', reason);

/** The file with the lines of each suggestion replaced; undefined where two want the same lines. */
function applyToFile(file: FileLines, suggestions: readonly Appliability[]): Buffer | undefined {
  const parts: Buffer[] = [];
  let next = 1;
  for (const { from_line, to_line, to_content } of suggestions.toSorted(
    (one, two) => one.from_line - two.from_line,
  )) {
    if (from_line < next) return undefined;
    parts.push(bytesOf(file, next, from_line - 1), encodeLike(to_content, file));
    next = to_line + 1;
  }
  return Buffer.concat([...parts, bytesOf(file, next, lineCount(file))]);
}

/**
 * The new contents by path, for one commit with all suggestions or none. `files` are those at the newest commit of the branch.
 * 400 for the first suggestion that can't be applied, and for two that overlap.
 */
export function applySuggestions(
  suggestions: readonly ChosenSuggestion[],
  files: ReadonlyMap<string, Buffer>,
): Map<string, Buffer> {
  const read = new Map([...files].map(([path, content]) => [path, readLines(content)]));
  for (const suggestion of suggestions) {
    const reason = refusalOf(suggestion, suggestions[0]?.branch ?? '', read.get(suggestion.path));
    if (reason !== undefined) throw refused(reason);
  }
  const changed = new Map<string, Buffer>();
  for (const [path, ofFile] of Map.groupBy(suggestions, (each) => each.path)) {
    const file = read.get(path);
    const content = file && applyToFile(file, ofFile);
    if (!content) throw refused('Suggestions are not applicable as their lines cannot overlap.');
    changed.set(path, content);
  }
  return changed;
}
