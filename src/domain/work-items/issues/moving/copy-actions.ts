/** Copies notes, awards, time and subscriptions of an issue to its new issue or epic. */
import { sql } from 'kysely';
import { isProject, type ResourceParent } from '../../../../kernel/access/resource-parents.ts';
import type { Needs } from '../../../../kernel/services.ts';
import { now } from '../../../../platform/clock.ts';
import { ahead, type Db } from '../../../../platform/db/database.ts';
import { runAsOne } from '../../../../platform/db/run-as-one.ts';
import { insertResourceEvents } from '../../resource-events/actions.ts';
import type { IssueRow } from '../records/issue-rows.ts';
import { issueFollowUps } from '../writing/issue-follow-ups.ts';
import type { MoveTexts } from './text-actions.ts';

/** The new issue or epic and its parent. */
export type Fresh = { kind: 'issue' | 'epic'; id: number; place: ResourceParent };

/** Notes rewritten at once, as each may be long. */
const BATCH = 20;

/** Texts that may have a reference or an upload. */
const NAMES_SOMETHING = '[#&$%~!]|/uploads/';

/** Copies the notes with their awards, and rewrites their references. Threads stay, under new ids. */
export async function copyNotes(tx: Db, issueId: number, fresh: Fresh, moveTexts: MoveTexts): Promise<void> {
  const { kind, id, place: parent } = fresh;
  const [issue, epic] = kind === 'issue' ? [id, null] : [null, id];
  const [project, group] = isProject(parent) ? [parent.id, null] : [null, parent.id];
  await sql`with copied as materialized (
      select nextval(pg_get_serial_sequence('notes', 'id')) as copy_id, old.*
      from (select * from notes where issue_id = ${issueId} order by created_at, id) old),
    made as (insert into notes (id, project_id, namespace_id, issue_id, epic_id, author_id, body, discussion_id, in_thread,
        system_action, mentioned_in_issue_id, mentioned_in_merge_request_id, mentioned_in_epic_id, mentioned_in_snippet_id,
        mentioned_in_project_id, mentioned_in_commit,
        internal, resolved_at, resolved_by_id, last_edited_at, created_at, updated_at)
      select copy_id, ${project}::bigint, ${group}::bigint, ${issue}::bigint, ${epic}::bigint, author_id, body,
        left(encode(sha256((discussion_id || ' ' || ${`${kind} ${id}`}::text)::bytea), 'hex'), 40), in_thread,
        system_action, mentioned_in_issue_id, mentioned_in_merge_request_id, mentioned_in_epic_id, mentioned_in_snippet_id,
        mentioned_in_project_id, mentioned_in_commit,
        internal, resolved_at, resolved_by_id, last_edited_at, created_at, updated_at from copied)
    insert into award_emoji (name, user_id, note_id, created_at, updated_at)
      select a.name, a.user_id, copied.copy_id, a.created_at, a.updated_at
      from award_emoji a join copied on copied.id = a.note_id order by a.id`.execute(ahead(tx));
  await rewriteNotes(tx, fresh, moveTexts);
}

async function rewriteNotes(tx: Db, { kind, id }: Fresh, moveTexts: MoveTexts): Promise<void> {
  const naming = await tx
    .selectFrom('notes')
    .select('id')
    .where(`${kind}_id`, '=', id)
    .where('body', '~', NAMES_SOMETHING)
    .execute();
  for (let start = 0; start < naming.length; start += BATCH) {
    const ids = naming.slice(start, start + BATCH).map((note) => note.id);
    const notes = await tx.selectFrom('notes').select(['id', 'body']).where('id', 'in', ids).execute();
    const bodies = await moveTexts(notes.map(({ body }) => body));
    const changed = notes.flatMap((note, at) => {
      const body = bodies[at] ?? note.body;
      return body === note.body ? [] : [{ id: note.id, body }];
    });
    if (changed.length === 0) continue;
    await sql`update notes n set body = x.body
      from unnest(${changed.map((note) => note.id)}::bigint[], ${changed.map(({ body }) => body)}::text[]) x(id, body)
      where n.id = x.id`.execute(ahead(tx));
  }
}

/** Copies the awards and subscriptions. */
export async function copyInterest(
  tx: Db,
  issueId: number,
  { kind, id }: Omit<Fresh, 'place'>,
): Promise<void> {
  const column = sql.ref(`${kind}_id`);
  await sql`insert into award_emoji (name, user_id, ${column}, created_at, updated_at)
    select name, user_id, ${id}, created_at, updated_at from award_emoji where issue_id = ${issueId} order by id`.execute(
    ahead(tx),
  );
  await sql`insert into subscriptions (user_id, ${column}, subscribed, created_at, updated_at)
    select user_id, ${id}, subscribed, created_at, updated_at from subscriptions where issue_id = ${issueId}
    on conflict do nothing`.execute(ahead(tx));
}

/** Copies awards, time and subscriptions; and links, which both issues have from then on. */
export async function takeAlong(tx: Db, from: number, to: number): Promise<void> {
  await copyInterest(tx, from, { kind: 'issue', id: to });
  await sql`insert into timelogs (issue_id, user_id, seconds, summary, spent_at, created_at)
    select ${to}, user_id, seconds, summary, spent_at, created_at from timelogs where issue_id = ${from} order by id`.execute(
    ahead(tx),
  );
  await sql`insert into issue_links (source_id, target_id, link_type, created_at, updated_at)
    select case source_id when ${from} then ${to}::bigint else source_id end,
      case target_id when ${from} then ${to}::bigint else target_id end, link_type, created_at, updated_at
    from issue_links where source_id = ${from} or target_id = ${from} order by id`.execute(ahead(tx));
}

/** Closes the old issue, which now refers to the new one. */
export async function closeForGood(
  { services, actor }: { services: Needs<'registered'>; actor: { id: number } },
  tx: Db,
  old: IssueRow,
  became: { moved_to_id: number } | { promoted_to_epic_id: number },
): Promise<void> {
  const time = now();
  const closed = { state: 'closed', closed_at: time, closed_by_id: actor.id };
  const isOpen = old.state !== 'closed';
  const event = isOpen
    ? insertResourceEvents(tx, { issue_id: old.id }, actor.id, [{ kind: 'state', action: 'closed' }])
    : undefined;
  const update = tx
    .updateTable('issues')
    .set({ ...(isOpen && closed), ...became, updated_at: time })
    .where('id', '=', old.id);
  await runAsOne(tx, { statements: [event, update] });
  if (!isOpen) return;
  for (const followUp of issueFollowUps.all(services)) await followUp.closed(tx, actor, old);
}
