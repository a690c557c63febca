/** The message and the author of a commit that applies suggestions (facts-merge-requests: 7.5). Pure. */

/** A user as commits name them. */
export type CommitUser = { id: number; username: string; name: string; email: string };

export type SuggestionCommit = {
  branch: string;
  project: { name: string; path: string };
  /** The path of each suggestion's file. */
  paths: readonly string[];
  /** The author of each suggestion's note. */
  authors: readonly CommitUser[];
  /** Applies them, and commits. */
  applier: CommitUser;
};

const DEFAULT_MESSAGE =
  'Apply %{suggestions_count} suggestion(s) to %{files_count} file(s)\n\n%{co_authored_by}';

const distinct = (users: readonly CommitUser[]): CommitUser[] => [
  ...new Map(users.map((user) => [user.id, user])).values(),
];

const values: Readonly<Record<string, (commit: SuggestionCommit) => string>> = {
  branch_name: ({ branch }) => branch,
  files_count: ({ paths }) => String(new Set(paths).size),
  file_paths: ({ paths }) => [...new Set(paths)].sort().join(', '),
  project_name: ({ project }) => project.name,
  project_path: ({ project }) => project.path,
  user_full_name: ({ applier }) => applier.name,
  username: ({ applier }) => applier.username,
  suggestions_count: ({ paths }) => String(paths.length),
  co_authored_by: ({ authors, applier }) =>
    distinct(authors)
      .filter(({ id }) => id !== applier.id)
      .map(({ name, email }) => `Co-authored-by: ${name} <${email}>`)
      .join('\n'),
};

/** What variables add to a message at most: one can be written very often. */
const MAX_ADDED_LENGTH = 65_536;

/**
 * The message by its template: the client's, or else the project's; the default where it is blank. Variables that are unknown, or
 * would make the message very long, stay as they were written.
 */
export function suggestionMessage(template: string | null | undefined, commit: SuggestionCommit): string {
  const written = template?.trim() ? template.replaceAll('\r\n', '\n') : DEFAULT_MESSAGE;
  let left = MAX_ADDED_LENGTH;
  const rendered = written.replace(/%\{([a-z_]{1,32})\}/g, (variable, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name]?.(commit) : undefined;
    if (value === undefined || value.length > left) return variable;
    left -= value.length;
    return value;
  });
  return rendered.trimEnd();
}

/** Who wrote the change: the suggestions' author where they have one, else the user who applies them. */
export function suggestionAuthor({
  authors,
  applier,
}: Pick<SuggestionCommit, 'authors' | 'applier'>): CommitUser {
  const [author, ...others] = distinct(authors);
  return author && others.length === 0 ? author : applier;
}
