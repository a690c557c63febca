/** Relates epics, and separates them. */

import { now } from '../../../platform/clock.ts';
import { inTransaction } from '../../../platform/db/database.ts';
import { conflict, Failure } from '../../../platform/failure.ts';
import { systemNote } from '../changes/system-notes.ts';
import type { LinkRow } from './queries.ts';
import type { FoundEpic } from './records/find-queries.ts';
import type { LinkType } from './schema.ts';
import type { ActorContext } from './writing/actions.ts';
import { addSystemNoteOfEpic } from './writing/epic-notes.ts';

/** Links the epics, with system notes on both. 409 when they are linked, 422 for an epic and itself. */
export async function relate(
  { db, actor }: ActorContext,
  from: FoundEpic,
  to: FoundEpic,
  type: LinkType,
): Promise<LinkRow> {
  if (from.epic.id === to.epic.id) throw new Failure('unprocessable', 'Epic cannot be related to itself');
  const [source, target] = type === 'is_blocked_by' ? [to, from] : [from, to];
  const time = now();
  return inTransaction(db, async (tx) => {
    const link = await tx
      .insertInto('related_epic_links')
      .values({
        source_id: source.epic.id,
        target_id: target.epic.id,
        link_type: type === 'relates_to' ? type : 'blocks',
        created_at: time,
        updated_at: time,
      })
      .onConflict((linked) => linked.doNothing())
      .returningAll()
      .executeTakeFirst();
    if (!link) throw conflict('Epic(s) already assigned');
    const what =
      type === 'relates_to' ? (['related', 'related'] as const) : (['blocking', 'blocked_by'] as const);
    await addSystemNoteOfEpic(tx, actor, source, target, (reference) =>
      systemNote({ what: what[0], reference }, 'epic'),
    );
    await addSystemNoteOfEpic(tx, actor, target, source, (reference) =>
      systemNote({ what: what[1], reference }, 'epic'),
    );
    return link;
  });
}

/** Removes the link, with system notes on both. */
export const separate = (
  { db, actor }: ActorContext,
  link: { id: number },
  one: FoundEpic,
  other: FoundEpic,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const gone = await tx.deleteFrom('related_epic_links').where('id', '=', link.id).executeTakeFirst();
    if (gone.numDeletedRows === 0n) return;
    const told = (reference: string) => systemNote({ what: 'unrelated', reference }, 'epic');
    await addSystemNoteOfEpic(tx, actor, one, other, told);
    await addSystemNoteOfEpic(tx, actor, other, one, told);
  });
