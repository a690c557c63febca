/** Commits, as every record that has one shows them (facts: Resource entities, Commit). */
import Type, { type Static } from 'typebox';
import type { Commit, Signature } from '../../platform/git/parse.ts';
import { nullable } from '../../platform/http/schema.ts';
import { titleOf } from './pushes.ts';

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

/** Where there may be no commit. */
export const NullableCommit = nullable(CommitRecord);

/** A list shows the same commits again and again. */
const dates = new WeakMap<Signature, string>();

/** `2012-09-20T11:50:22.000+03:00`: in the zone of whoever signed. */
export function commitDate(signature: Signature): string {
  const known = dates.get(signature);
  if (known !== undefined) return known;
  const date = dateOf(signature);
  dates.set(signature, date);
  return date;
}

function dateOf({ time, zone }: Signature): string {
  const [, sign = '+', hours = '00', minutes = '00'] = /^([+-])(\d\d)(\d\d)$/.exec(zone) ?? [];
  const offset = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
  const local = new Date(time * 1_000 + offset);
  return Number.isNaN(local.getTime())
    ? new Date(0).toISOString()
    : local.toISOString().replace('Z', `${sign}${hours}:${minutes}`);
}

const trailer = /^([A-Za-z0-9][\w-]*)\s*:\s*(.*)$/;

/** The `Key: value` lines of a message's last paragraph; none where one of its lines is none. */
export function trailersOf(message: string): Record<string, string[]> {
  const paragraphs = message.trimEnd().split(/\n\s*\n/);
  const last = paragraphs.length > 1 ? paragraphs.at(-1) : undefined;
  const found = new Map<string, string[]>();
  for (const line of last?.split('\n') ?? []) {
    const [, key = '', value = ''] = trailer.exec(line) ?? [];
    if (key === '') return {};
    found.set(key, [...(found.get(key) ?? []), value]);
  }
  return Object.fromEntries(found);
}

/** `projectUrl` is the project's web address. */
export function presentCommit(projectUrl: string, commit: Commit, withTrailers = false): CommitRecord {
  const trailers = withTrailers ? trailersOf(commit.message) : {};
  return {
    id: commit.oid,
    short_id: commit.oid.slice(0, 8),
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
