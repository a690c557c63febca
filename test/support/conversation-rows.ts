/** The notes of the world's users: on its first issue, epic, snippet and alert, and on its last commit. */
import type { SampleIds } from './inventory.ts';

/** The first of the project's. */
export const SNIPPET = 3;

const kinds = ['issues', 'epics', 'snippets', 'commits', 'alert_management_alerts'] as const;

/** Ids of notes and threads in the world, by a path: on each noteable the first user's note, and a thread. */
export function conversationAt(path: string): Record<string, string | number> {
  const nth = 1 + kinds.findIndex((kind) => path.includes(`/${kind}/`));
  if (nth === 0) return {};
  const noteable_id = path.includes('/snippets/') ? SNIPPET : 1;
  // Notes on commits are written later.
  const note_id = nth === 5 ? 4 : nth;
  return { noteable_id, note_id, discussion_id: String(nth).repeat(40) };
}

/**
 * By each user a note for itself and one in a thread on each noteable, and awards to noteables and first
 * notes.
 */
export const conversation = ({ group, project }: SampleIds): string => `
  insert into notes (project_id, namespace_id, issue_id, epic_id, snippet_id, alert_id, author_id, body, discussion_id, in_thread, created_at, updated_at)
    select t.project, t."group", t.issue, t.epic, t.snippet, t.alert, u.id, u.username,
      case when x.thread then repeat(t.nth::text, 40) else encode(sha256((t.nth || ' ' || u.id)::bytea), 'hex')::char(40) end,
      x.thread, now(), now()
    from users u, (values (false), (true)) x(thread), (values
      (1, ${project}, null::bigint, (select id from issues where project_id = ${project} and iid = 1), null::bigint, null::bigint, null::bigint),
      (2, null, ${group}, null, (select id from epics where iid = 1), null, null),
      (3, ${project}, null, null, null, ${SNIPPET}, null),
      (5, ${project}, null, null, null, null, (select id from alerts where iid = 1))) t(nth, project, "group", issue, epic, snippet, alert)
    where u.username like 'person-%' order by x.thread, u.id, t.nth;
  insert into award_emoji (name, user_id, issue_id, epic_id, snippet_id, note_id, created_at, updated_at)
    select 'tada', u.id, case x when 1 then n.issue_id end, case x when 1 then n.epic_id end, case x when 1 then n.snippet_id end,
      case x when 2 then n.id end, now(), now()
    from users u, notes n, generate_series(1, 2) x where u.username like 'person-%' and n.id <= 3;`;

/** The same on a commit: comments, and a thread. */
export const comments = ({ project }: SampleIds, sha: string): string => `
  insert into notes (project_id, commit_sha, author_id, body, discussion_id, in_thread, created_at, updated_at)
    select ${project}, '${sha}', id, case when thread then 'Hello ' else 'Goodbye ' end || id,
      case when thread then repeat('4', 40) else encode(sha256(('4 ' || id)::bytea), 'hex')::char(40) end, thread, now(), now()
    from users, (values (false), (true)) x(thread) where username like 'person-%' order by thread, id;`;
