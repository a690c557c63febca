/** Writes where notes on lines are in a new version, and what is said in the threads of those that are outdated. */
import { sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { projectSettings } from '../../../kernel/namespaces/project-settings.ts';
import type { Needs } from '../../../kernel/services.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { addJobs } from '../../../platform/jobs/jobs.ts';
import {
  insertSystemNotes,
  type Noteable,
  type NotePosition,
  setResolved,
} from '../../conversation/index.ts';
import type { SystemNote } from '../../work-items/index.ts';

export const TRACE_NOTES = 'merge_requests.trace_notes';

/** Lets a job look where notes on lines are in the newest version. */
export const askToTrace = (db: Db, { id }: { id: number }, actor: Pick<Actor, 'id'>): Promise<void> =>
  addJobs(db, [
    {
      task: TRACE_NOTES,
      payload: { merge_request_id: id, user_id: actor.id },
      key: `${TRACE_NOTES} ${id}`,
    },
  ]);

/** A thread that was followed into the newest version: its new position, or what is said where it has none. */
export type TracedThread = {
  discussionId: string;
  /** What its notes had. */
  before: NotePosition;
} & ({ position: NotePosition; lineCode: string | null } | { said: SystemNote });

/** The notes that still stand where they did; `updated_at` tells of people's changes alone. */
async function writePositions(
  tx: Db,
  { id = 0 }: Noteable,
  traced: readonly TracedThread[],
): Promise<ReadonlySet<string>> {
  const rows = traced.map((thread) => ({
    discussion_id: thread.discussionId,
    head: thread.before.head_sha,
    base: thread.before.base_sha,
    position: 'position' in thread ? thread.position : null,
    line_code: 'position' in thread ? thread.lineCode : null,
  }));
  const { rows: changed } = await sql<{ discussion_id: string }>`
    update notes n set position = coalesce(g.position, n.position), line_code = coalesce(g.line_code, n.line_code),
      outdated = g.position is null
    from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb)
      as g (discussion_id text, head text, base text, position jsonb, line_code text)
    where n.discussion_id = g.discussion_id and n.merge_request_id = ${id} and n.position is not null and not n.outdated
      and n.position ->> 'head_sha' = g.head and n.position ->> 'base_sha' = g.base
    returning n.discussion_id`.execute(tx);
  return new Set(changed.map(({ discussion_id }) => discussion_id));
}

/** Outdated threads are resolved where the project wants that; in the actor's name, whose push it was. `suggestions` are outdated. */
export const writeTraced = (
  context: { db: Db; services: Needs<'registered'>; actor: Actor },
  project: AuthorizedProject,
  noteable: Noteable,
  { threads: traced, suggestions }: { threads: readonly TracedThread[]; suggestions: readonly number[] },
): Promise<void> =>
  inTransaction(context.db, async (tx) => {
    const changed = await writePositions(tx, noteable, traced);
    if (suggestions.length > 0)
      await ahead(tx)
        .updateTable('suggestions')
        .set({ outdated: true })
        .where('id', 'in', suggestions)
        .execute();
    const outdated = traced.flatMap((thread) =>
      'said' in thread && changed.has(thread.discussionId)
        ? [{ ...thread.said, discussionId: thread.discussionId }]
        : [],
    );
    if (outdated.length === 0) return;
    await insertSystemNotes(ahead(tx), noteable, context.actor, outdated)?.execute();
    if (!projectSettings(project.row).resolve_outdated_diff_discussions) return;
    const threads = await tx
      .selectFrom('notes')
      .selectAll()
      .where('merge_request_id', '=', noteable.id ?? 0)
      .where(
        'discussion_id',
        'in',
        outdated.map(({ discussionId }) => discussionId),
      )
      .execute();
    await setResolved(tx, context, noteable, threads, true);
  });
