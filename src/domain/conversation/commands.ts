/** Quick actions in notes: what they come to, and their carrying out. */
import { applyEffects } from '../../core/work/command-effects.ts';
import { isDeparture } from '../../core/work/command-terms.ts';
import type { Interpretation } from '../../core/work/commands.ts';
import { findEpic } from '../../core/work/epic-find.ts';
import { updateEpic } from '../../core/work/epic-writes.ts';
import { findIssue } from '../../core/work/issue-find.ts';
import { updateIssue } from '../../core/work/issue-writes.ts';
import { atCreation, readCommands, stageOf } from '../../core/work/read-commands.ts';
import type { Target } from '../../core/work/targets.ts';
import type { WriteContext } from '../../core/work/write-context.ts';
import { badRequest } from '../../platform/failure.ts';

/** How the target stands, for the commands that depend on it. */
async function stateOf({ db, actor }: WriteContext, { kind, project, group, iid = 0, locked }: Target) {
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

/** What the note says without its commands, and what they come to; undefined without any. */
export async function understand(
  context: WriteContext,
  target: Target,
  body: string,
): Promise<Interpretation | undefined> {
  // Most notes have none, and then nothing is looked up.
  if (!/^\s{0,3}\/\w/m.test(body)) return undefined;
  const { kind, project, group, authorId } = target;
  const now = await stateOf(context, target);
  return readCommands(context, { kind, project, group, authorId, now }, body);
}

/** Whether any of it can be done. */
export const isAnything = ({ changes, effects }: Interpretation): boolean =>
  effects.length > 0 || Object.keys(changes).length > 0;

/** 400 that names the commands which came to nothing. */
export const nothingDone = ({ refused }: Interpretation) =>
  badRequest(`Could not apply ${refused.join(', ')} command${refused.length === 1 ? '' : 's'}.`);

/** Carries the commands out, as the actor's own changes; all but what takes the target elsewhere. */
export async function carryOut(
  context: WriteContext,
  target: Target,
  { changes, effects }: Interpretation,
): Promise<void> {
  const { db, actor } = context;
  const { project, group, iid = 0 } = target;
  if (Object.keys(changes).length > 0) {
    if (target.kind === 'issue' && project)
      await updateIssue(context, project, await findIssue(db, project, actor, iid), changes);
    if (target.kind === 'epic' && group) {
      const { title, state_event, labels, add_labels, remove_labels, confidential } = changes;
      const ofEpic = { title, state_event, labels, add_labels, remove_labels, confidential };
      await updateEpic(context, group, await findEpic(db, group, actor, iid), ofEpic);
    }
  }
  await applyEffects(
    context,
    target,
    effects.filter((effect) => !isDeparture(effect)),
  );
}

/** Carries out what takes the target elsewhere: when the note is written, which goes along. */
export const depart = (context: WriteContext, target: Target, { effects }: Interpretation): Promise<void> =>
  applyEffects(context, target, effects.filter(isDeparture));
