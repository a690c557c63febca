/** Runs the effects of quick actions that need nothing but a noteable and a user. */
import { announce } from '../../../kernel/activity/announce-actions.ts';
import { inTransaction } from '../../../platform/db/database.ts';
import { toggleAward } from '../noteables/award-actions.ts';
import { awardAnnouncement } from '../noteables/award-announcement.ts';
import { awardableOf, emojiName } from '../noteables/awards.ts';
import type { Noteable } from '../noteables/noteables.ts';
import { setSubscription } from '../noteables/subscription-actions.ts';
import { addTodos, completeTodos } from '../noteables/todo-actions.ts';
import type { ActorContext } from '../noteables/write-context.ts';
import type { OwnEffect } from './command-rules.ts';

async function award({ db, actor }: ActorContext, noteable: Noteable, text: string): Promise<void> {
  const name = await emojiName(text);
  const awardable = awardableOf(noteable);
  if (name === undefined || !awardable) return;
  await inTransaction(db, async (tx) => {
    const change = await toggleAward(tx, awardable, actor.id, name);
    if (change) await announce(tx, awardAnnouncement(actor, noteable, change));
  });
}

export async function applyOwnEffect(
  context: ActorContext,
  noteable: Noteable,
  effect: OwnEffect,
): Promise<void> {
  const { db, actor } = context;
  switch (effect.do) {
    case 'subscribe':
    case 'unsubscribe': {
      const { subscriptions } = noteable.kind;
      if (!subscriptions || noteable.id === undefined) return;
      const what = { column: subscriptions.column, id: noteable.id };
      return setSubscription(db, actor.id, what, effect.do === 'subscribe');
    }
    case 'todo':
      await inTransaction(db, (tx) =>
        addTodos(tx, { author: actor, target: noteable }, [{ userId: actor.id, action: 'marked' }]),
      );
      return;
    case 'done':
      return completeTodos(db, actor.id, noteable);
    case 'award':
      return award(context, noteable, effect.name);
  }
}
