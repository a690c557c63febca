/** Parses and applies quick actions in notes. */
import { applyEffects } from '../../core/work/command-effects.ts';
import { isMoveAction } from '../../core/work/command-terms.ts';
import type { Interpretation } from '../../core/work/commands.ts';
import { findEpic } from '../../core/work/epic-find.ts';
import { updateEpic } from '../../core/work/epic-writes.ts';
import { findIssue } from '../../core/work/issue-find.ts';
import { updateIssue } from '../../core/work/issue-writes.ts';
import type { Noteable } from '../../core/work/noteables.ts';
import { atCreation, readCommands, stageOf } from '../../core/work/read-commands.ts';
import type { WriteContext } from '../../core/work/write-context.ts';
import { badRequest } from '../../platform/failure.ts';

/** The noteable's state, on which some quick actions depend. */
async function stateOf({ db, actor }: WriteContext, { kind, project, group, iid = 0, locked }: Noteable) {
  if (kind === 'epic' && group)
    return { ...atCreation, state: (await findEpic(db, group, actor, iid)).state };
  if (kind !== 'issue' || !project) return atCreation;
  const issue = await findIssue(db, project, actor, iid);
  const assignees = await db
    .selectFrom('issue_assignees')
    .select('user_id')
    .where('issue_id', '=', issue.id)
    .execute();
  return {
    state: issue.state,
    confidential: issue.confidential,
    locked,
    assigneeIds: assignees.map(({ user_id }) => user_id),
    issueType: issue.issue_type,
    stage: stageOf(issue),
  };
}

/** The note without its quick actions, and their meaning; undefined without any. */
export async function parseQuickActions(
  context: WriteContext,
  noteable: Noteable,
  body: string,
): Promise<Interpretation | undefined> {
  // Most notes have none, and then no query is made.
  if (!/^\s{0,3}\/\w/m.test(body)) return undefined;
  const { kind, project, group, authorId } = noteable;
  const now = await stateOf(context, noteable);
  return readCommands(context, { kind, project, group, authorId, now }, body);
}

/** Whether any quick action can be applied. */
export const isAnything = ({ changes, effects }: Interpretation): boolean =>
  effects.length > 0 || Object.keys(changes).length > 0;

/** 400 that names the quick actions without effect. */
export const nothingDone = ({ refused }: Interpretation) =>
  badRequest(`Could not apply ${refused.join(', ')} command${refused.length === 1 ? '' : 's'}.`);

/** Applies quick actions as the actor's changes, except move actions. */
export async function applyQuickActions(
  context: WriteContext,
  noteable: Noteable,
  { changes, effects }: Interpretation,
): Promise<void> {
  const { db, actor } = context;
  const { project, group, iid = 0 } = noteable;
  if (Object.keys(changes).length > 0) {
    if (noteable.kind === 'issue' && project)
      await updateIssue(context, project, await findIssue(db, project, actor, iid), changes);
    if (noteable.kind === 'epic' && group) {
      const { title, state_event, labels, add_labels, remove_labels, confidential } = changes;
      const ofEpic = { title, state_event, labels, add_labels, remove_labels, confidential };
      await updateEpic(context, group, await findEpic(db, group, actor, iid), ofEpic);
    }
  }
  await applyEffects(
    context,
    noteable,
    effects.filter((effect) => !isMoveAction(effect)),
  );
}

/** Applies move actions, after the note is written, so that it moves along. */
export const applyMoveActions = (
  context: WriteContext,
  noteable: Noteable,
  { effects }: Interpretation,
): Promise<void> => applyEffects(context, noteable, effects.filter(isMoveAction));
