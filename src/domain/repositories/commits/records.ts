/** Commit records (facts: Resource entities, Commit). */
import Type, { type Static } from 'typebox';
import { commitDate, shortSha, titleOf } from '../../../platform/git/commit-texts.ts';
import type { Commit } from '../../../platform/git/parse.ts';
import { nullable } from '../../../platform/http/parameters/schema.ts';

export const CommitRecord = Type.Object({
  id: Type.String(),
  short_id: Type.String(),
  created_at: Type.String(),
  parent_ids: Type.Array(Type.String()),
  title: Type.String(),
  message: Type.String(),
  author_name: Type.String(),
  author_email: Type.String(),
  authored_date: Type.String(),
  committer_name: Type.String(),
  committer_email: Type.String(),
  committed_date: Type.String(),
  trailers: Type.Unsafe<Record<string, string>>({ type: 'object', additionalProperties: { type: 'string' } }),
  extended_trailers: Type.Unsafe<Record<string, string[]>>({
    type: 'object',
    additionalProperties: { type: 'array', items: { type: 'string' } },
  }),
  web_url: Type.String(),
});
export type CommitRecord = Static<typeof CommitRecord>;

/** Characters of its texts by users. */
export const lengthOfRecord = (commit: CommitRecord): number =>
  commit.message.length +
  commit.author_name.length +
  commit.author_email.length +
  commit.committer_name.length +
  commit.committer_email.length;

export const NullableCommit = nullable(CommitRecord);

const trailerKey = /^[A-Za-z0-9][\w-]*$/;
/** A paragraph with more lines is not read as trailers. */
const MAX_TRAILERS = 100;

/**
 * The lines of a message's last paragraph; none if it is the only one, or too long. Read from the end, as
 * messages may be huge.
 */
function lastParagraph(message: string): string[] {
  const text = message.trim();
  const lines: string[] = [];
  for (let end = text.length; lines.length <= MAX_TRAILERS; ) {
    const start = text.lastIndexOf('\n', end - 1);
    if (start < 0) return [];
    const line = text.slice(start + 1, end).trim();
    if (line === '') return lines.reverse();
    lines.push(line);
    end = start;
  }
  return [];
}

/** The trailers (`Key: value`) of a message's last paragraph; none where one of its lines is no trailer. */
export function trailersOf(message: string): Record<string, string[]> {
  const found = new Map<string, string[]>();
  for (const line of lastParagraph(message)) {
    const colon = Math.max(0, line.indexOf(':'));
    const key = line.slice(0, colon).trimEnd();
    if (!trailerKey.test(key)) return {};
    const values = found.get(key) ?? [];
    values.push(line.slice(colon + 1).trimStart());
    found.set(key, values);
  }
  return Object.fromEntries(found);
}

/** `projectUrl` is the project's web address. */
export function presentCommit(projectUrl: string, commit: Commit, withTrailers = false): CommitRecord {
  const trailers = withTrailers ? trailersOf(commit.message) : {};
  return {
    id: commit.oid,
    short_id: shortSha(commit.oid),
    created_at: commitDate(commit.committer),
    parent_ids: commit.parents,
    title: titleOf(commit.message),
    message: commit.message,
    author_name: commit.author.name,
    author_email: commit.author.email,
    authored_date: commitDate(commit.author),
    committer_name: commit.committer.name,
    committer_email: commit.committer.email,
    committed_date: commitDate(commit.committer),
    trailers: Object.fromEntries(Object.entries(trailers).map(([key, values]) => [key, values.at(-1) ?? ''])),
    extended_trailers: trailers,
    web_url: `${projectUrl}/-/commit/${commit.oid}`,
  };
}
