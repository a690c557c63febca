/** Carries out what quick actions ask for beside changing properties. */
import { inTransaction } from '../../platform/db/database.ts';
import { Failure } from '../../platform/failure.ts';
import { emojiName, toggleAward } from './awards.ts';
import type { Effect } from './commands.ts';
import { findIssueById } from './issue-find.ts';
import { type LinkType, linkIssues } from './issue-links.ts';
import { resetSpentTime, spendTime } from './issue-times.ts';
import { setSubscription } from './subscriptions.ts';
import { type Target, targetKey } from './targets.ts';
import { addTodos, completeTodos } from './todo-writes.ts';
import type { WriteContext } from './write-context.ts';

type Scene = Pick<WriteContext, 'db' | 'services' | 'actor'>;

/** The target as an issue of the actor's, for what only issues have. */
const issueOf = ({ db, services, actor }: Scene, { kind, id }: Target) =>
  kind === 'issue' && id !== undefined ? findIssueById(db, services.database.points, actor, id) : undefined;

async function award({ db, actor }: Scene, target: Target, text: string): Promise<void> {
  const name = await emojiName(text);
  const key = targetKey(target);
  if (name === undefined || key.column === 'commit_sha') return;
  await inTransaction(db, (tx) => toggleAward(tx, key, actor.id, name));
}

async function link(scene: Scene, target: Target, issueId: number, type: LinkType): Promise<void> {
  const { db, services, actor } = scene;
  const from = await issueOf(scene, target);
  if (!from || from.issue.id === issueId) return;
  const to = await findIssueById(db, services.database.points, actor, issueId);
  await linkIssues(scene, from, to, type).catch((error) => {
    // That they are linked already is what was asked for; where it may not be, the command means nothing.
    if (!(error instanceof Failure && ['conflict', 'forbidden'].includes(error.kind))) throw error;
  });
}

async function apply(scene: Scene, target: Target, effect: Effect): Promise<void> {
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
    case 'reset_spent': {
      const on = await issueOf(scene, target);
      if (on) await resetSpentTime(db, actor, on.project, on.issue);
      return;
    }
  }
}

/** Does what the commands ask for, in their order, to a target that is there. Whoever understood them decided who may. */
export async function applyEffects(scene: Scene, target: Target, effects: readonly Effect[]): Promise<void> {
  for (const effect of effects) await apply(scene, target, effect);
}
