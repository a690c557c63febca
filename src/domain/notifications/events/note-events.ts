/** The fact of a note, on whatever subject. */
import type { Needs } from '../../../kernel/services.ts';
import { noteableKinds } from '../../conversation/index.ts';
import { type NotificationFact, notificationEvent } from './events.ts';

type NoteFact = {
  project_id?: number;
  namespace_id?: number | null;
  noteable_type: string;
  noteable_id: number | null;
  commit_id?: string;
  note_id: number;
  user_id: number;
  in_review?: boolean;
};

/** The kind of subjects, which is a part of ids and links, where no space may stand. */
const kindOf = (services: Needs<'registered'>, noteableType: string): string =>
  (noteableKinds(services).find(({ type }) => type === noteableType)?.name ?? '').replaceAll(' ', '_');

/** Alerts send no mail for notes, as they are no subject of mails; mentioned users have to-dos. */
export const noteFact = (services: Needs<'registered'>): NotificationFact => ({
  name: 'note_created',
  eventsOf: (fact: NoteFact) => {
    // The review has a fact of its own.
    if (fact.in_review) return [];
    return [
      notificationEvent('new_note', {
        actorId: fact.user_id,
        projectId: fact.project_id,
        groupId: fact.namespace_id ?? undefined,
        subject: {
          kind: kindOf(services, fact.noteable_type),
          ...(fact.commit_id === undefined ? { id: fact.noteable_id ?? 0 } : { sha: fact.commit_id }),
        },
        noteId: fact.note_id,
      }),
    ];
  },
});
