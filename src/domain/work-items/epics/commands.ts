/** Quick actions in an epic's description: the request with their changes, and their other effects. */
import type { AuthorizedGroup } from '../../../kernel/access/find.ts';
import { atCreation, readCommands } from '../quick-actions/read-commands.ts';
import type { WorkEffect } from '../quick-actions/work-command-terms.ts';
import type { EpicRow } from './records/epic-rows.ts';
import type { ActorContext } from './writing/actions.ts';
import type { EpicChanges } from './writing/epic-changes.ts';

/** The request without the quick actions, and with their changes; `epic` is undefined for a new one. */
export async function parseQuickActions<Changes extends EpicChanges>(
  context: ActorContext,
  group: AuthorizedGroup,
  epic: EpicRow | undefined,
  changes: Changes,
): Promise<{ changes: Changes; effects: readonly WorkEffect[] }> {
  const now = epic ? { ...atCreation, state: epic.state, confidential: epic.confidential } : atCreation;
  const authorId = epic?.author_id ?? context.actor.id;
  const spoken = { kind: 'epic', project: undefined, group, authorId, now } as const;
  const read = await readCommands(context, spoken, changes.description);
  if (!read) return { changes, effects: [] };
  const { title, state_event, labels, add_labels, remove_labels, confidential } = read.changes;
  return {
    effects: read.effects,
    changes: {
      ...changes,
      description: read.text,
      ...(title !== undefined && { title }),
      ...(state_event !== undefined && { state_event }),
      ...(confidential !== undefined && { confidential }),
      ...(labels !== undefined && { labels }),
      ...(add_labels !== undefined && { add_labels: [...(changes.add_labels ?? []), ...add_labels] }),
      ...(remove_labels !== undefined && {
        remove_labels: [...(changes.remove_labels ?? []), ...remove_labels],
      }),
    },
  };
}
