/** Reads comments and awards for the payloads of hooks. */
import { type Selectable, sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import type { AwardEmojiTable, NotesTable } from '../../../platform/db/rows.ts';

export type HookNoteRow = Selectable<NotesTable>;

export const selectHookNote = (db: Db, id: number): Promise<HookNoteRow | undefined> =>
  db.selectFrom('notes').selectAll().where('id', '=', id).executeTakeFirst();

/** The newest comment of the project that hooks of this kind would be told of. */
export const selectNewestNote = (
  db: Db,
  projectId: number,
  isInternal: boolean,
): Promise<HookNoteRow | undefined> =>
  db
    .selectFrom('notes')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('system_action', 'is', null)
    .where('alert_id', 'is', null)
    .where('internal', '=', isInternal)
    .orderBy('id', 'desc')
    .executeTakeFirst();

/** An award with what it is on, or what its comment is on. */
export type HookAwardRow = Pick<
  Selectable<AwardEmojiTable>,
  'id' | 'name' | 'user_id' | 'note_id' | 'created_at' | 'updated_at'
> & { noteable_type: string; noteable_id: number | null; commit_sha: string | null };

/** The newest award of the project, but for those on what is confidential. */
export async function selectNewestAward(db: Db, projectId: number): Promise<HookAwardRow | undefined> {
  const { rows } = await sql<HookAwardRow>`
    select a.id, a.name, a.user_id, a.note_id, a.created_at, a.updated_at, o.noteable_type, o.noteable_id, o.commit_sha
    from (
      select a.id as award_id, 'Issue' as noteable_type, i.id as noteable_id, null::text as commit_sha
      from issues i join award_emoji a on a.issue_id = i.id where i.project_id = ${projectId} and not i.confidential
      union all select a.id, 'MergeRequest', m.id, null
      from merge_requests m join award_emoji a on a.merge_request_id = m.id where m.project_id = ${projectId}
      union all select a.id, 'Snippet', s.id, null
      from snippets s join award_emoji a on a.snippet_id = s.id where s.project_id = ${projectId}
      union all select a.id, case when n.issue_id is not null then 'Issue' when n.merge_request_id is not null
          then 'MergeRequest' when n.snippet_id is not null then 'Snippet' else 'Commit' end,
        coalesce(n.issue_id, n.merge_request_id, n.snippet_id), n.commit_sha
      from notes n join award_emoji a on a.note_id = n.id left join issues i on i.id = n.issue_id
      where n.project_id = ${projectId} and not n.internal and i.confidential is not true and n.alert_id is null
    ) o join award_emoji a on a.id = o.award_id order by a.id desc limit 1`.execute(db);
  return rows[0];
}
