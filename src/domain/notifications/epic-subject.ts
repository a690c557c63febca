/** Epics as subjects of notification events. */

import { epicNoteable } from '../../core/work/epic-noteable.ts';
import { epicWebUrl } from '../../core/work/epic-rows.ts';
import type { Happening } from './mails/inputs.ts';
import { groupOf } from './notification-context.ts';
import {
  descriptionFor,
  type Loading,
  labelTitles,
  noteSubject,
  type Subject,
  type Talked,
} from './subjects.ts';

type EpicTarget = Extract<Happening, { event: 'new_epic' }>['target'];

/** Loads the epic, or the note on it. */
export async function loadEpic(loading: Loading): Promise<Subject | undefined> {
  const { services, context, job } = loading;
  const { name: event, subject } = job.event;
  const db = services.database.background;
  const epic = await db
    .selectFrom('epics')
    .selectAll()
    .where('id', '=', subject.id ?? 0)
    .where('namespace_id', '=', context.id)
    .executeTakeFirst();
  if (!epic) return undefined;
  const thing: Talked<EpicTarget> = {
    authorId: epic.author_id,
    assigneeIds: [],
    targetFor: (visitor) => epicNoteable(groupOf(visitor), epic),
    describe: async () => ({
      kind: 'epic',
      id: epic.id,
      iid: epic.iid,
      title: epic.title,
      url: epicWebUrl(services.baseUrl(), context.fullPath, epic.iid),
      state: epic.state === 'closed' ? 'closed' : 'opened',
      confidential: epic.confidential,
      labels: await labelTitles(db, 'epic_id', epic.id),
      startDate: epic.start_date_fixed,
      dueDate: epic.due_date_fixed,
    }),
  };
  if (event === 'new_note') return noteSubject(loading, thing);
  const { describe, ...known } = thing;
  return {
    ...known,
    reviewerIds: [],
    said: epic.description,
    internal: false,
    at: epic.created_at,
    tell: async (visitor) => ({
      event: 'new_epic',
      target: await describe(visitor),
      description: await descriptionFor(services, visitor, epic.description),
    }),
  };
}
