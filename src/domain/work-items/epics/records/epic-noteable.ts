/** Epics as noteables. */
import { type RawBuilder, sql } from 'kysely';
import type { AuthorizedGroup } from '../../../../kernel/access/find.ts';
import { PUBLIC } from '../../../../kernel/policy/roles.ts';
import type { Noteable, NoteableKind } from '../../../conversation/index.ts';
import type { EpicRow } from './epic-rows.ts';
import { seesEpic } from './epic-visibility.ts';

/** Authors, assignees, commenters and mentioned users, internal notes aside, as rows of target and user_id. */
export const epicParticipants = (ids: RawBuilder<unknown>): RawBuilder<unknown> => sql`
    select id as target, author_id as user_id from epics where id = any(${ids})
    union select epic_id, author_id from notes where epic_id = any(${ids}) and system_action is null and not internal
    union select t.epic_id, t.user_id from todos t left join notes n on n.id = t.note_id
      where t.epic_id = any(${ids}) and t.action in ('mentioned', 'directly_addressed') and n.internal is not true`;

export const epicKind: NoteableKind = {
  name: 'epic',
  type: 'Epic',
  column: 'epic_id',
  numberedIn: 'epics',
  countedIn: 'epics',
  awardColumn: 'epic_id',
  isResolvable: true,
  hasTodos: true,
  subscriptions: {
    column: 'epic_id',
    participants: epicParticipants,
  },
  isPublic: ({ group, confidential }) => !confidential && group?.row.visibility === PUBLIC,
  readers:
    async (_db, epic) =>
    (_person, { group }) =>
      group !== undefined && seesEpic(group, epic),
};

export const epicNoteable = (group: AuthorizedGroup, epic: EpicRow): Noteable => ({
  kind: epicKind,
  id: epic.id,
  sha: undefined,
  iid: epic.iid,
  title: epic.title,
  authorId: epic.author_id,
  confidential: epic.confidential,
  locked: false,
  project: undefined,
  group,
});
