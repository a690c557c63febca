/** Activity events with their targets as they are now; deleted targets are missing. */
import { sql } from 'kysely';
import type { Db } from '../../platform/db/database.ts';
import type { Json } from '../../platform/db/rows.ts';
import type { Caller } from '../identity/actor.ts';
import type { UserBasicRow } from '../identity/records.ts';

export type EventIssue = {
  id: number;
  iid: number;
  title: string;
  confidential: boolean;
  author_id: number;
  /** Whether the caller is an assignee. */
  assigned: boolean;
};

/** The part of a note that decides its visibility and type. */
export type EventNote = {
  id: number;
  internal: boolean;
  in_thread: boolean;
  positioned: boolean;
  system_action: string | null;
  issue_id: number | null;
  epic_id: number | null;
  snippet_id: number | null;
  alert_id: number | null;
};

export type EventRow = {
  id: number;
  project_id: number;
  action: string;
  target_type: string | null;
  target_id: number | null;
  details: Json | null;
  created_at: Date;
  author: UserBasicRow;
  /** The issue of the event, or of its note. */
  issue: EventIssue | null;
  note: EventNote | null;
  /** The snippet of the note. */
  snippet: { visibility: number; title: string } | null;
  milestone: { iid: number; title: string } | null;
  wiki_page: { title: string } | null;
};

export const noteTypes = ['Note', 'DiscussionNote', 'DiffNote'] as const;

/**
 * The events of projects with these ids, in their order, by one statement; without those of deleted authors.
 * Targets that are in another project now count as deleted: their visibility there was not decided.
 */
export async function selectEventRows(db: Db, caller: Caller, ids: readonly number[]): Promise<EventRow[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<EventRow>`
    select e.id, e.project_id, e.action, e.target_type, e.target_id, e.details, e.created_at,
      jsonb_build_object('id', u.id, 'username', u.username, 'name', u.name, 'state', u.state, 'avatar', u.avatar,
        'public_email', u.public_email, 'locked', u.locked_at is not null, 'email', u.email) as author,
      case when i.id is not null then jsonb_build_object('id', i.id, 'iid', i.iid, 'title', i.title,
        'confidential', i.confidential, 'author_id', i.author_id, 'assigned', exists (
          select from issue_assignees a where a.issue_id = i.id and a.user_id = ${caller?.id ?? 0})) end as issue,
      case when n.id is not null then jsonb_build_object('id', n.id, 'internal', n.internal,
        'in_thread', n.in_thread, 'positioned', n.position is not null, 'system_action', n.system_action,
        'issue_id', n.issue_id, 'epic_id', n.epic_id, 'snippet_id', n.snippet_id, 'alert_id', n.alert_id) end as note,
      case when s.id is not null then jsonb_build_object('visibility', s.visibility, 'title', s.title) end as snippet,
      case when m.id is not null then jsonb_build_object('iid', m.iid, 'title', m.title) end as milestone,
      case when w.id is not null then jsonb_build_object('title', w.title) end as wiki_page
    from activity_events e join users u on u.id = e.author_id
      left join notes n on n.id = case when e.target_type in (${sql.join(noteTypes.map(sql.lit))}) then e.target_id end
        and n.project_id = e.project_id
      left join issues i on i.id = case e.target_type when 'Issue' then e.target_id else n.issue_id end
        and i.project_id = e.project_id
      left join snippets s on s.id = n.snippet_id and s.project_id = e.project_id
      left join milestones m on m.id = case e.target_type when 'Milestone' then e.target_id end
        and m.project_id = e.project_id
      left join wiki_pages w on w.id = case e.target_type when 'WikiPage::Meta' then e.target_id end
        and w.project_id = e.project_id
    where e.id = any(${[...ids]}::bigint[]) and e.project_id is not null`.execute(db);
  const rowsById = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => rowsById.get(id) ?? []);
}
