/** Epics as noteables: their notes over the API, quick actions, and references in system notes. */
import { sql } from 'kysely';
import { onGroup } from '../../../../kernel/access/access.ts';
import type { Caller } from '../../../../kernel/actor.ts';
import type { Db } from '../../../../platform/db/database.ts';
import { notFound } from '../../../../platform/failure.ts';
import { integerId } from '../../../../platform/http/parameters/schema.ts';
import {
  type CrossReference,
  conversationEndpoints,
  crossReferenceTable,
  groupOf,
  type NoteableDefinition,
} from '../../../conversation/index.ts';
import { atCreation, readCommands } from '../../quick-actions/read-commands.ts';
import { applyEffects } from '../../quick-actions/work-command-effects.ts';
import { findEpic } from '../records/epic-find.ts';
import { epicKind, epicNoteable } from '../records/epic-noteable.ts';
import { seesEpic, visibleEpics } from '../records/epic-visibility.ts';
import { updateEpic } from '../writing/epic-writes.ts';

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
    const epic = await db
      .selectFrom('epics')
      .selectAll()
      .where('id', '=', Number(named))
      .where('namespace_id', '=', group.id)
      .executeTakeFirst();
    if (!epic || !seesEpic(group, epic)) throw notFound();
    return epicNoteable(group, epic);
  },
});

type Reader = { db: Db; actor: Caller };

/** The keys of the epics that the reader may read. */
async function readableEpics({ db, actor }: Reader, named: readonly CrossReference[]) {
  const { rows } = await sql<{ key: string }>`with named(key, id, iid) as (
    select q.key, q.home, q.iid from ${crossReferenceTable(named)} where q.path is null
    union all
    select q.key, n.id, q.iid from ${crossReferenceTable(named)} join namespaces n on lower(n.full_path) collate "C" = q.path)
    select named.key from named join epics on epics.namespace_id = named.id and epics.iid = named.iid
    where ${visibleEpics(actor)}`.execute(db);
  return rows;
}

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
        async apply() {
          const { title, state_event, labels, add_labels, remove_labels, confidential } = read.changes;
          const changes = { title, state_event, labels, add_labels, remove_labels, confidential };
          if (Object.keys(read.changes).length > 0)
            await updateEpic(context, group, await findEpic(db, group, actor, iid), changes);
          await applyEffects(context, noteable, read.effects);
        },
        // Commands of epics make no other noteable.
        leave: async () => {},
      }
    );
  },
  crossReferences: { sign: '&', readable: readableEpics },
};
