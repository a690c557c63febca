/** What a change of an issue, epic or merge request writes beside its row, for the statement that changes the row. */
import type { Announcement } from '../../../kernel/activity/announce-actions.ts';
import { announcementParts } from '../../../kernel/activity/announce-actions.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { StatementParts } from '../../../platform/db/run-as-one.ts';
import { completionOfTodos, insertSystemNotes, type Noteable } from '../../conversation/index.ts';
import { type EventColumn, type EventTarget, insertResourceEvents } from '../resource-events/actions.ts';
import { resourceEvents, type WorkChange } from './issue-changes.ts';
import type { SystemNote } from './system-notes.ts';

/** System notes, resource events, labels, the actor's to-dos that are done by it, and the announcement. */
export function followingChanges(
  tx: Db,
  actor: { id: number },
  noteable: Noteable,
  { changes, notes }: { changes: readonly WorkChange[]; notes: readonly SystemNote[] },
  announcement: Announcement,
): StatementParts {
  const target = { [noteable.kind.column]: noteable.id } as EventTarget;
  return {
    statements: [
      insertSystemNotes(tx, noteable, actor, notes),
      insertResourceEvents(tx, target, actor.id, resourceEvents(changes)),
      completionOfTodos(tx, actor.id, noteable),
      ...labelStatements(tx, target, changes),
    ],
    parts: announcementParts([announcement]),
  };
}

/** Statements that write added and removed labels. */
const labelStatements = (tx: Db, target: EventTarget, changes: readonly WorkChange[]) =>
  changes.flatMap((change) => {
    if (change.what !== 'labels') return [];
    const removed = change.removed.map(({ id }) => id);
    const [[column, id]] = Object.entries(target) as [[EventColumn, number]];
    return [
      removed.length > 0
        ? tx.deleteFrom('label_links').where(column, '=', id).where('label_id', 'in', removed)
        : undefined,
      change.added.length > 0
        ? tx
            .insertInto('label_links')
            .values(change.added.map((label) => ({ ...target, label_id: label.id })))
            .onConflict((taken) => taken.doNothing())
        : undefined,
    ];
  });
