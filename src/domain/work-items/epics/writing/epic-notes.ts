/** System notes on epics about other epics and issues: only if all readers of the note may see those. */

import type { AuthorizedProject } from '../../../../kernel/access/find.ts';
import { PUBLIC } from '../../../../kernel/policy/roles.ts';
import { ahead, type Db } from '../../../../platform/db/database.ts';
import { insertSystemNotes } from '../../../conversation/index.ts';
import { epicNoteable } from '../records/epic-noteable.ts';
import type { FoundEpic } from '../records/find-queries.ts';

/** The visibility of an epic or issue. */
export type Standing = { visibility: number; ancestorIds: readonly number[]; confidential: boolean };

/**
 * Whether all readers of the epic `told` see the other record too: it is public, or in the epic's group and
 * no less visible, and not confidential unless the epic is. Pure.
 */
export function mayMention(told: Standing & { groupId: number }, named: Standing): boolean {
  const inside = named.ancestorIds.includes(told.groupId);
  if (named.confidential && !(told.confidential && inside)) return false;
  return named.visibility === PUBLIC || (inside && named.visibility >= told.visibility);
}

const standingOf = ({ epic, group }: FoundEpic): Standing & { groupId: number } => ({
  groupId: group.id,
  visibility: group.row.visibility,
  ancestorIds: group.row.ancestor_ids,
  confidential: epic.confidential,
});

const referenceFrom = (reader: FoundEpic, { epic, group }: FoundEpic): string =>
  group.id === reader.group.id ? `&${epic.iid}` : `${group.row.full_path}&${epic.iid}`;

type SystemNoteText = { action: string; body: string };

/** Adds a system note on one epic about another; `note` takes the reference to the other. */
export async function addSystemNoteOfEpic(
  tx: Db,
  author: { id: number },
  told: FoundEpic,
  named: FoundEpic,
  note: (reference: string) => SystemNoteText,
): Promise<void> {
  if (!mayMention(standingOf(told), standingOf(named))) return;
  const noteable = epicNoteable(told.group, told.epic);
  await insertSystemNotes(ahead(tx), noteable, author, [note(referenceFrom(told, named))])?.execute();
}

/** Adds a system note on an epic about an issue that was added or removed. */
export async function addSystemNoteOfIssue(
  tx: Db,
  author: { id: number },
  told: FoundEpic,
  { issue, project }: { issue: { iid: number; confidential: boolean }; project: AuthorizedProject },
  verb: 'added' | 'removed',
): Promise<void> {
  const { visibility, ancestor_ids: ancestorIds } = project.row;
  if (!mayMention(standingOf(told), { visibility, ancestorIds, confidential: issue.confidential })) return;
  await insertSystemNotes(ahead(tx), epicNoteable(told.group, told.epic), author, [
    { action: `epic_issue_${verb}`, body: `${verb} issue ${project.fullPath}#${issue.iid}` },
  ])?.execute();
}
