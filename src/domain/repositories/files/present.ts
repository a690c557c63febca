/** Files and blamed lines as records and headers. Pure. */

import { commitDate } from '../../../platform/git/commit-texts.ts';
import type { Commit } from '../../../platform/git/parse.ts';
import type { BlameRecord, FileDescription } from './schema.ts';

/** A text that a header can carry: UTF-8 bytes as they are, control characters percent-encoded. */
export const headerText = (text: string): string =>
  Buffer.from(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is replaced.
    text.replace(/[\x00-\x1f\x7f]/g, (letter) => encodeURIComponent(letter)),
  ).toString('latin1');

/** `X-Gitlab-File-Name` and so on: the record without its content. */
export const fileHeaders = (description: FileDescription): Record<string, string> =>
  Object.fromEntries(
    Object.entries(description).map(([name, value]) => [
      `x-gitlab-${name.replaceAll('_', '-')}`,
      headerText(String(value)),
    ]),
  );

export const presentBlamed = (commit: Commit, lines: string[]): BlameRecord => ({
  commit: {
    id: commit.oid,
    parent_ids: commit.parents,
    message: commit.message,
    authored_date: commitDate(commit.author),
    author_name: commit.author.name,
    author_email: commit.author.email,
    committed_date: commitDate(commit.committer),
    committer_name: commit.committer.name,
    committer_email: commit.committer.email,
  },
  lines,
});
