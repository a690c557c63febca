/** Epics as noteables. */
import type { AuthorizedGroup } from '../../../../kernel/access/find.ts';
import { PUBLIC } from '../../../../kernel/policy/roles.ts';
import type { Noteable, NoteableKind } from '../../../conversation/index.ts';
import type { EpicRow } from './epic-rows.ts';
import { epicParticipants } from './queries.ts';
import { seesEpic } from './visibility-queries.ts';

export const epicSubscriptions = { column: 'epic_id', participants: epicParticipants } as const;

export const epicKind: NoteableKind = {
  name: 'epic',
  type: 'Epic',
  column: 'epic_id',
  numberedIn: 'epics',
  countedIn: 'epics',
  awardColumn: 'epic_id',
  isResolvable: true,
  hasTodos: true,
  subscriptions: epicSubscriptions,
  isPublic: ({ group, confidential }) => !confidential && group?.row.visibility === PUBLIC,
  readers:
    async (_db, epic) =>
    (_person, { group }) =>
      group !== undefined && seesEpic(group, epic),
};

export const epicNoteable = (
  group: AuthorizedGroup,
  epic: Pick<EpicRow, 'id' | 'iid' | 'title' | 'confidential' | 'author_id'>,
): Noteable => ({
  ...newEpicNoteable(group, { confidential: epic.confidential, authorId: epic.author_id }),
  id: epic.id,
  iid: epic.iid,
  title: epic.title,
});

/** An epic without a number yet, to decide who would see it. */
export const newEpicNoteable = (
  group: AuthorizedGroup,
  epic: { confidential: boolean; authorId: number },
): Noteable => ({
  kind: epicKind,
  id: undefined,
  sha: undefined,
  iid: undefined,
  title: '',
  ...epic,
  locked: false,
  project: undefined,
  group,
});
