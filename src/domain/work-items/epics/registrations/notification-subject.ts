/** Epics as subjects of notification events. */

import { sql } from 'kysely';
import { setSubscription } from '../../../conversation/index.ts';
import {
  groupOf,
  type LoadedSubject,
  type Loading,
  type NotificationSubject,
} from '../../../notifications/index.ts';
import { labelsOf } from '../../../planning/index.ts';
import { epicNoteable } from '../records/epic-noteable.ts';
import { type EpicRow, epicWebUrl } from '../records/epic-rows.ts';
import { epicParticipants } from '../records/queries.ts';
import { epicMail } from './notification-mails.ts';
import { keepEpic, selectOfEvent } from './queries.ts';

async function load({ services, context, job, row }: Loading): Promise<LoadedSubject | undefined> {
  const { name: event } = job.event;
  const db = services.database.background;
  // That of selectOfEvent(), whose other times are not read.
  const found = row as EpicRow | null;
  if (!found) return undefined;
  const epic = { ...found, created_at: new Date(found.created_at) };
  const description = event === 'new_epic' ? epic.description : null;
  return {
    authorId: epic.author_id,
    assigneeIds: [],
    reviewerIds: [],
    said: description,
    targetFor: (visitor) => epicNoteable(groupOf(visitor), epic),
    at: epic.created_at,
    async contents() {
      // Other mails show none.
      const labels = event === 'new_epic' ? (await labelsOf(db, 'epic', [epic.id])).get(epic.id) : [];
      const described = {
        id: epic.id,
        iid: epic.iid,
        title: epic.title,
        url: epicWebUrl(services.baseUrl(), context.fullPath, epic.iid),
        state: epic.state === 'closed' ? ('closed' as const) : ('opened' as const),
        confidential: epic.confidential,
        labels: (labels ?? []).map(({ name }) => name),
        startDate: epic.start_date_fixed,
        dueDate: epic.due_date_fixed,
      };
      return { ...epicMail(event, described), description };
    },
  };
}

export const epicSubject: NotificationSubject = {
  kind: 'epic',
  select: ({ groupId = 0, subject }) => selectOfEvent(groupId, subject.id ?? 0),
  load,
  participants: ({ subject }) => epicParticipants(sql`${[subject.id ?? 0]}::bigint[]`),
  subscription: {
    column: 'epic_id',
    async end(tx, userId, id) {
      const epic = await keepEpic(tx, id);
      if (epic) await setSubscription(tx, userId, { column: 'epic_id', id }, false);
    },
    name: 'this epic',
    still: 'You still get one when somebody mentions you there.',
  },
};
