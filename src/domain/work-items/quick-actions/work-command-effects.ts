/** Runs the effects of quick actions on issues and epics that are not changes of properties. */

import { type ActorContext, applyOwnEffect, leaves, type Noteable, stays } from '../../conversation/index.ts';
import type { WorkEffect } from './work-command-terms.ts';
import { workKinds } from './work-kinds.ts';

async function apply(context: ActorContext, noteable: Noteable, effect: WorkEffect): Promise<void> {
  switch (effect.do) {
    case 'link':
    case 'spend':
    case 'reset_spent':
    case 'move':
    case 'clone':
    case 'promote':
      return workKinds
        .all(context.services)
        .find(({ kind }) => kind === noteable.kind)
        ?.apply?.(context, noteable, effect);
    default:
      return applyOwnEffect(context, noteable, effect);
  }
}

/** Runs the effects in their order, move actions last. parseQuickActions() decided the permissions. */
export async function applyEffects(
  context: ActorContext,
  noteable: Noteable,
  effects: readonly WorkEffect[],
): Promise<void> {
  for (const effect of [...effects.filter(stays), ...effects.filter(leaves)])
    await apply(context, noteable, effect);
}
