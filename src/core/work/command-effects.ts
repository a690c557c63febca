/** Carries out what quick actions ask for beside changing properties. */
import { inTransaction } from '../../platform/db/database.ts';
import { Failure, type FailureKind } from '../../platform/failure.ts';
import { authorizeGroup, authorizeProject } from '../access/find.ts';
import { emojiName, toggleAward } from './awards.ts';
import { type Departure, isDeparture } from './command-terms.ts';
import type { Effect } from './commands.ts';
import { findIssueById } from './issue-find.ts';
import { type LinkType, linkIssues } from './issue-links.ts';
import { cloneIssue, moveIssue } from './issue-moves.ts';
import { promoteIssue } from './issue-promotion.ts';
import { resetSpentTime, spendTime } from './issue-times.ts';
import { setSubscription } from './subscriptions.ts';
import { type Target, targetKey } from './targets.ts';
import { addTodos, completeTodos } from './todo-writes.ts';
import type { Writing } from './write-context.ts';

/** The target as an issue of the actor's, for what only issues have. */
const issueOf = ({ db, services, actor }: Writing, { kind, id }: Target) =>
  kind === 'issue' && id !== undefined ? findIssueById(db, services.database.points, actor, id) : undefined;

async function award({ db, actor }: Writing, target: Target, text: string): Promise<void> {
  const name = await emojiName(text);
  const key = targetKey(target);
  if (name === undefined || key.column === 'commit_sha' || key.column === 'alert_id') return;
  await inTransaction(db, (tx) => toggleAward(tx, key, actor.id, name));
}

async function link(scene: Writing, target: Target, issueId: number, type: LinkType): Promise<void> {
  const { db, services, actor } = scene;
  const from = await issueOf(scene, target);
  if (!from || from.issue.id === issueId) return;
  const to = await findIssueById(db, services.database.points, actor, issueId);
  // That they are linked already is what was asked for; where it may not be, the command means nothing.
  await linkIssues(scene, from, to, type).catch(unless('conflict', 'forbidden'));
}

/** Lets failures of these kinds pass. */
const unless =
  (...kinds: FailureKind[]) =>
  (error: unknown): void => {
    if (!(error instanceof Failure && kinds.includes(error.kind))) throw error;
  };

async function depart(scene: Writing, target: Target, departure: Departure): Promise<unknown> {
  const { services, actor } = scene;
  const { points } = services.database;
  const from = await issueOf(scene, target);
  if (!from) return undefined;
  const { issue, project } = from;
  if (departure.do === 'promote') {
    const group = await authorizeGroup(points, actor, 'create_epics', project.row.namespace_id);
    return promoteIssue(scene, project, issue, group);
  }
  const to = await authorizeProject(points, actor, 'read_project', departure.projectId);
  return departure.do === 'move'
    ? moveIssue(scene, project, issue, to)
    : cloneIssue(scene, project, issue, to, departure.withNotes);
}

async function apply(scene: Writing, target: Target, effect: Effect): Promise<void> {
  const { db, actor } = scene;
  switch (effect.do) {
    case 'subscribe':
    case 'unsubscribe':
      return setSubscription(db, actor.id, target, effect.do === 'subscribe');
    case 'todo':
      await inTransaction(db, (tx) =>
        addTodos(tx, { users: [actor.id], author: actor, target, action: 'marked' }),
      );
      return;
    case 'done':
      return completeTodos(db, actor.id, target);
    case 'award':
      return award(scene, target, effect.name);
    case 'link':
      return link(scene, target, effect.issueId, effect.type);
    case 'spend': {
      const on = await issueOf(scene, target);
      const spentAt = effect.spentOn === undefined ? undefined : new Date(`${effect.spentOn}T00:00:00Z`);
      if (on) await spendTime(db, actor, on.project, on.issue, { seconds: effect.seconds, spentAt });
      return;
    }
    case 'move':
    case 'clone':
    case 'promote':
      // Somebody was quicker, or what it takes has just been taken away.
      await depart(scene, target, effect).catch(unless('bad_request', 'conflict', 'forbidden', 'not_found'));
      return;
    case 'reset_spent': {
      const on = await issueOf(scene, target);
      if (on) await resetSpentTime(db, actor, on.project, on.issue);
      return;
    }
  }
}

/**
 * Does what the commands ask for, in their order, to a target that is there; what takes it elsewhere is done last. Whoever
 * understood them decided who may.
 */
export async function applyEffects(
  scene: Writing,
  target: Target,
  effects: readonly Effect[],
): Promise<void> {
  const departures = effects.filter(isDeparture);
  const others = effects.filter((effect) => !isDeparture(effect));
  for (const effect of [...others, ...departures]) await apply(scene, target, effect);
}
