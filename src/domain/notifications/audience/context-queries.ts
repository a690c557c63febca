/** The project or group of a notification event, and the access of recipients to it. */
import { type RawBuilder, sql } from 'kysely';
import { selectGroupForEach, selectProjectForEach } from '../../../kernel/access/find.ts';
import { type ActorColumns, toActor } from '../../../kernel/actor.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { NoteRow } from '../../conversation/index.ts';
import type { NotificationEvent } from '../events/events.ts';
import type { NotificationContext, Visitor } from '../events/subjects.ts';

type ContainerRow = {
  id: number;
  name: string;
  full_name: string;
  full_path: string;
  ancestor_ids: number[];
  silent: boolean;
  actor: Doer | null;
  subject: unknown;
  note: (Omit<Note, 'created_at'> & { created_at: string }) | null;
};

/** The user who did it. */
export type Doer = { name: string; username: string };

export type Note = Pick<NoteRow, 'id' | 'body' | 'internal' | 'discussion_id' | 'created_at'> & {
  reply: boolean;
};

const sendsNone = (settings: string) => sql<boolean>`${sql.ref(settings)} @> '{"emails_enabled": false}'`;
const silentAround = sql<boolean>`
  exists (select from namespaces a where a.id = any(n.ancestor_ids) and ${sendsNone('a.settings')})`;

/** Characters of each further note of a review. */
const MAX_FURTHER_LENGTH = 10_000;

/** The note as JSON, with the texts of further ones of its review; null where it is deleted, or there is none. */
const noteJson = (id: number | undefined, further: readonly number[]) => sql`(
  select jsonb_build_object('id', m.id, 'body', m.body || coalesce((
      select string_agg(E'\\n\\n***\\n\\n' || left(f.body, ${MAX_FURTHER_LENGTH}), '' order by f.id) from notes f
      where f.id = any(${[...further]}::bigint[]) and f.merge_request_id = m.merge_request_id), ''), 'internal', m.internal, 'discussion_id', m.discussion_id,
    'created_at', m.created_at,
    'reply', exists (select from notes e where e.discussion_id = m.discussion_id and e.id < m.id))
  from notes m where m.id = ${id ?? null}::bigint) as note`;

type Named = Pick<NotificationEvent, 'projectId' | 'groupId' | 'noteId' | 'furtherNoteIds' | 'actorId'> & {
  /** Selects the row of the subject. */
  subject: RawBuilder<unknown> | undefined;
};

/** The note, the row of the subject and who acted, as JSON. */
const around = ({
  noteId,
  furtherNoteIds = [],
  actorId,
  subject,
}: Named) => sql`${noteJson(noteId, furtherNoteIds)},
  (select to_jsonb(s) from (${subject ?? sql`select null where false`}) s) as subject, (
  select jsonb_build_object('name', u.name, 'username', u.username) from users u where u.id = ${actorId ?? null}::bigint) as actor`;

const projectRow = (id: number, named: Named) => sql<ContainerRow>`
  select p.id, p.name, n.full_name || ' / ' || p.name as full_name, n.full_path || '/' || p.path as full_path, n.ancestor_ids,
    (${sendsNone('p.settings')} or ${silentAround}) as silent, ${around(named)}
  from projects p join namespaces n on n.id = p.namespace_id where p.id = ${id} and not p.deleting`;
const groupRow = (id: number, named: Named) => sql<ContainerRow>`
  select n.id, n.name, n.full_name, n.full_path, n.ancestor_ids, ${silentAround} as silent, ${around(named)}
  from namespaces n where n.id = ${id} and n.kind = 'group' and not n.deleting`;

type LoadedContext = {
  context: NotificationContext;
  note: Note | undefined;
  row: unknown;
  doer: Doer | undefined;
};

/**
 * Loads the project or group of the event, its note, the row of its subject and its actor; undefined where one of the
 * first two is gone.
 */
export async function loadNotificationContext(db: Db, named: Named): Promise<LoadedContext | undefined> {
  const { projectId, groupId, noteId } = named;
  const statement = projectId === undefined ? groupRow(groupId ?? 0, named) : projectRow(projectId, named);
  const [row] = (await statement.execute(db)).rows;
  if (!row || (noteId !== undefined && !row.note)) return undefined;
  const context: NotificationContext = {
    kind: projectId === undefined ? 'group' : 'project',
    id: row.id,
    name: row.name,
    fullName: row.full_name,
    fullPath: row.full_path,
    ancestorIds: row.ancestor_ids,
    emailsDisabled: row.silent,
  };
  const note = row.note ? { ...row.note, created_at: new Date(row.note.created_at) } : undefined;
  return { context, note, row: row.subject, doer: row.actor ?? undefined };
}

/** The access of people to the project or group, by their ids; without those who have none. By one statement. */
export async function findVisitors(
  { database: { points } }: Needs<'database'>,
  { kind, id }: Pick<NotificationContext, 'kind' | 'id'>,
  people: readonly ActorColumns[],
): Promise<Map<number, Visitor>> {
  const actors = people.map((person) => toActor(person, { via: 'password' }));
  const isProject = kind === 'project';
  const projects = isProject ? await selectProjectForEach(points, actors, id) : [];
  const groups = isProject ? [] : await selectGroupForEach(points, actors, id);
  return new Map(
    actors.flatMap((actor, place) => {
      const [project, group] = [projects[place], groups[place]];
      return project || group ? [[actor.id, { actor, project, group }]] : [];
    }),
  );
}
