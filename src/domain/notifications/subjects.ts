/** Subjects of notification events, loaded anew for each mail: involved users, access, and contents. */
import { renderMarkdown } from '../../core/markdown/render.ts';
import type { NotificationEvent } from '../../core/notifications/events.ts';
import type { Services } from '../../core/services.ts';
import type { Noteable } from '../../core/work/noteables.ts';
import type { NoteRow } from '../../core/work/notes.ts';
import type { Db } from '../../platform/db/database.ts';
import type { Json } from '../../platform/db/rows.ts';
import { cutBody } from './mails/bodies.ts';
import type { Body, Happening } from './mails/inputs.ts';
import type { NotificationContext, Visitor } from './notification-context.ts';

/** A notification event in the payload of a job. */
export type NotificationJob = {
  /** Part of job keys and mail ids: letters, digits and hyphens. */
  name: string;
  event: NotificationEvent;
  /** The fact, as it was announced. */
  payload: Readonly<Record<string, Json>>;
  /** When it was announced, in ISO 8601. */
  at: string;
};

export type Subject = {
  authorId: number | undefined;
  assigneeIds: readonly number[];
  reviewerIds: readonly number[];
  /** The text of the event: a description or a note. */
  said: string | null;
  /** Whether the text is internal. */
  internal: boolean;
  /**
   * The noteable that recipients must be able to read; undefined where access to the project or group
   * suffices.
   */
  targetFor: ((visitor: Visitor) => Noteable) | undefined;
  /** When it happened, where the subject has a time. */
  at: Date | undefined;
  /** The contents of the mail for this visitor. */
  tell(visitor: Visitor): Promise<Happening>;
};

export type Loading = { services: Services; context: NotificationContext; job: NotificationJob };

/** Loads a subject; undefined when it is gone, or the event is out of date. */
export type SubjectSource = (loading: Loading) => Promise<Subject | undefined>;
export type SubjectSources = Readonly<Record<string, SubjectSource>>;

/** The text rendered for the visitor. */
export async function bodyFor(services: Services, visitor: Visitor, whole: string): Promise<Body> {
  const { text, cut } = cutBody(whole);
  const { actor: reader, project } = visitor;
  return { text, html: await renderMarkdown(text, { gfm: true }, { services, reader, project }), cut };
}

/** The description, if there is any. */
export const descriptionFor = async (
  services: Services,
  visitor: Visitor,
  description: string | null,
): Promise<Body | undefined> =>
  description === null || description === '' ? undefined : bodyFor(services, visitor, description);

/** A subject of notes, as a mail describes it. */
type Noted = Extract<Happening, { event: 'new_note' }>['target'];
export type Talked<T extends Noted> = Pick<Subject, 'authorId' | 'assigneeIds' | 'targetFor'> & {
  describe(visitor: Visitor): Promise<T>;
};

type FoundNote = Pick<NoteRow, 'id' | 'body' | 'internal' | 'discussion_id' | 'created_at'> & {
  reply: boolean;
};

/** The note; undefined where it is deleted. */
async function loadNote(db: Db, id: number): Promise<FoundNote | undefined> {
  const note = await db
    .selectFrom('notes')
    .select(['id', 'body', 'internal', 'discussion_id', 'created_at'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (!note) return undefined;
  const earlier = await db
    .selectFrom('notes')
    .select('id')
    .where('discussion_id', '=', note.discussion_id)
    .where('id', '<', note.id)
    .limit(1)
    .executeTakeFirst();
  return { ...note, reply: earlier !== undefined };
}

/** A note as a subject. */
export async function noteSubject<T extends Noted>(
  { services, job }: Loading,
  { describe, ...thing }: Talked<T>,
): Promise<Subject | undefined> {
  const note = await loadNote(services.database.background, job.event.noteId ?? 0);
  if (!note) return undefined;
  return {
    ...thing,
    reviewerIds: [],
    said: note.body,
    internal: note.internal,
    at: note.created_at,
    async tell(visitor) {
      const target = await describe(visitor);
      const told = {
        url: `${target.url}#note_${note.id}`,
        reply: note.reply,
        internal: note.internal,
        discussionId: note.discussion_id,
        body: await bodyFor(services, visitor, note.body),
      };
      return { event: 'new_note', target, note: told };
    },
  };
}

/** Sorted titles of the labels. */
export async function labelTitles(
  db: Db,
  column: 'issue_id' | 'epic_id',
  id: number,
): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('label_links')
    .innerJoin('labels', 'labels.id', 'label_links.label_id')
    .select('labels.name')
    .where(column, '=', id)
    .orderBy('labels.name')
    .execute();
  return rows.map(({ name }) => name);
}
