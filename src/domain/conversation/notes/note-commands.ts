/** Quick actions in notes, which the kind of the noteable gives their meaning. */

import { badRequest } from '../../../platform/failure.ts';
import type { Noteable } from '../noteables/noteables.ts';
import type { WriteContext } from '../noteables/write-context.ts';
import { definitionOf, type QuickActions } from './noteable-registry.ts';

/** The note without its quick actions, and their meaning; undefined without any. */
export async function parseQuickActions(
  context: WriteContext,
  noteable: Noteable,
  body: string,
  seenHead?: string,
): Promise<QuickActions | undefined> {
  // Most notes have none, and then no query is made.
  if (!/^\s{0,3}\/\w/m.test(body)) return undefined;
  return definitionOf(context.services, noteable.kind)?.quickActions(context, noteable, body, seenHead);
}

/** Whether any quick action can be applied. */
export const isAnything = ({ changes, effects }: QuickActions): boolean =>
  effects.length > 0 || Object.keys(changes).length > 0;

/** 400 that names the quick actions without effect. */
export const nothingDone = ({ refused }: QuickActions) =>
  badRequest(`Could not apply ${refused.join(', ')} command${refused.length === 1 ? '' : 's'}.`);
