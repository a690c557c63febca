/** Epics as noteables: their notes over the API, quick actions, and references in system notes. */

import { onGroup } from '../../../../kernel/access/access.ts';
import { notFound } from '../../../../platform/failure.ts';
import { integerId } from '../../../../platform/http/parameters/schema.ts';
import { conversationEndpoints, groupOf, type NoteableDefinition } from '../../../conversation/index.ts';
import { atCreation, readCommands } from '../../quick-actions/read-commands.ts';
import { applyEffects } from '../../quick-actions/work-command-effects.ts';
import { epicKind, epicNoteable } from '../records/epic-noteable.ts';
import { findEpic } from '../records/find-queries.ts';
import { seesEpic } from '../records/visibility-queries.ts';
import { updateEpic } from '../writing/actions.ts';
import { readableEpics, readsMentioningEpic, selectInGroup } from './queries.ts';
import { findNamedEpics } from './references.ts';

export const epicConversation = conversationEndpoints({
  path: '/groups/:id/epics/:noteable_id',
  noun: 'an epic',
  noteable: integerId({ description: 'The id of the epic.' }),
  tier: 'premium',
  read: onGroup('read_epics'),
  write: onGroup('create_epic_notes'),
  notes: true,
  awards: {
    noteable: integerId({ description: 'The number of the epic in the group.' }),
    find: async ({ db, actor }, home, named) => {
      const group = groupOf(home);
      return epicNoteable(group, await findEpic(db, group, actor, Number(named)));
    },
  },
  internal: true,
  resolvable: true,
  positioned: false,
  find: async ({ db }, home, named) => {
    const group = groupOf(home);
    const epic = await selectInGroup(db, group.id, Number(named));
    if (!epic || !seesEpic(group, epic)) throw notFound();
    return epicNoteable(group, epic);
  },
});

export const epicDefinition: NoteableDefinition = {
  kind: epicKind,
  async quickActions(context, noteable, text) {
    const { db, actor } = context;
    const { project, group, authorId, iid = 0 } = noteable;
    if (!group) return undefined;
    const now = { ...atCreation, state: (await findEpic(db, group, actor, iid)).state };
    const read = await readCommands(context, { kind: 'epic', project, group, authorId, now }, text);
    return (
      read && {
        ...read,
        async apply(tx) {
          const within = { ...context, db: tx };
          const { title, state_event, labels, add_labels, remove_labels, confidential } = read.changes;
          const changes = { title, state_event, labels, add_labels, remove_labels, confidential };
          if (Object.keys(read.changes).length > 0)
            await updateEpic(within, group, await findEpic(tx, group, actor, iid), changes);
          await applyEffects(within, noteable, read.effects);
        },
        // Commands of epics make no other noteable.
        leave: async () => {},
      }
    );
  },
  crossReferences: { sign: '&', readable: readableEpics },
  mentions: { column: 'mentioned_in_epic_id', isReadable: readsMentioningEpic },
  named: {
    kind: 'epic',
    async find({ db, services, actor }, home, named) {
      const { points } = services.database;
      const path = home.group?.row.full_path ?? home.project?.row.namespace_full_path;
      const found = await findNamedEpics({ db, points }, actor, path, named);
      const open = found.filter(({ group }) => group.may('create_epic_notes'));
      return open.map(({ group, epic }) => epicNoteable(group, epic));
    },
  },
};
