/** Epics as what mentions others in its texts (facts: References and closing). */
import type { Listener } from '../../../../platform/outbox/outbox.ts';
import {
  changesTexts,
  commentListeners,
  findUserOfGroup,
  type MentioningKind,
  mayName,
  type UserOfGroup,
  writtenTexts,
} from '../../../conversation/index.ts';
import { epicKind } from '../records/epic-noteable.ts';
import type { EpicRow } from '../records/epic-rows.ts';
import { seesEpic } from '../records/visibility-queries.ts';
import { selectEpicRows } from '../registrations/queries.ts';

export const MENTION_NAMED = 'epics.mention_named';

export const mentioningEpics: MentioningKind<EpicRow, UserOfGroup> = {
  type: 'Epic',
  id: 'epic_id',
  find: async (db, id) => (await selectEpicRows(db, [id]))[0],
  writer: (services, fact) =>
    findUserOfGroup(services, Number(fact.group_id ?? fact.namespace_id), Number(fact.user_id), fact),
  reads: async (_services, { group }, epic) => epic.namespace_id === group.id && seesEpic(group, epic),
  texts: async (_services, _writer, epic, fact) => writtenTexts(epic, fact),
  source: async (_services, { group }, { id, iid }) => ({
    home: { project: undefined, group },
    columns: { mentioned_in_epic_id: id },
    noteOn: (noteable) => {
      // In a project, `&1` is an epic of the project's group.
      const home = noteable.group?.id ?? noteable.project?.row.namespace_id;
      const path = home === group.id ? '' : group.row.full_path;
      return { action: 'cross_reference', body: `mentioned in epic ${path}&${iid}` };
    },
    has: (noteable) => noteable.kind === epicKind && noteable.id === id,
  }),
};

/** Facts after which an epic may name something new. */
export const mentionListeners: readonly Listener[] = [
  { fact: 'epic_created', task: MENTION_NAMED, when: mayName },
  { fact: 'epic_updated', task: MENTION_NAMED, when: changesTexts },
  ...commentListeners(mentioningEpics, MENTION_NAMED),
];
