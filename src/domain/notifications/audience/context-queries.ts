/** The project or group of a notification event, and the access of recipients to it. */
import { sql } from 'kysely';
import { authorizeGroup, authorizeProject } from '../../../kernel/access/find.ts';
import { type ActorColumns, toActor } from '../../../kernel/actor.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { Db } from '../../../platform/db/database.ts';
import { Failure } from '../../../platform/failure.ts';
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
  note: (Omit<Note, 'created_at'> & { created_at: string }) | null;
};

export type Note = Pick<NoteRow, 'id' | 'body' | 'internal' | 'discussion_id' | 'created_at'> & {
  reply: boolean;
};

const sendsNone = (settings: string) => sql<boolean>`${sql.ref(settings)} @> '{"emails_enabled": false}'`;
const silentAround = sql<boolean>`
  exists (select from namespaces a where a.id = any(n.ancestor_ids) and ${sendsNone('a.settings')})`;

/** The note as JSON; null where it is deleted, or there is none. */
const noteJson = (id: number | undefined) => sql`(
  select jsonb_build_object('id', m.id, 'body', m.body, 'internal', m.internal, 'discussion_id', m.discussion_id,
    'created_at', m.created_at,
    'reply', exists (select from notes e where e.discussion_id = m.discussion_id and e.id < m.id))
  from notes m where m.id = ${id ?? null}::bigint) as note`;

const projectRow = (id: number, noteId: number | undefined) => sql<ContainerRow>`
  select p.id, p.name, n.full_name || ' / ' || p.name as full_name, n.full_path || '/' || p.path as full_path, n.ancestor_ids,
    (${sendsNone('p.settings')} or ${silentAround}) as silent, ${noteJson(noteId)}
  from projects p join namespaces n on n.id = p.namespace_id where p.id = ${id} and not p.deleting`;
const groupRow = (id: number, noteId: number | undefined) => sql<ContainerRow>`
  select n.id, n.name, n.full_name, n.full_path, n.ancestor_ids, ${silentAround} as silent, ${noteJson(noteId)}
  from namespaces n where n.id = ${id} and n.kind = 'group' and not n.deleting`;

/** Loads the project or group of the event, and its note; undefined where one of them is gone. */
export async function loadNotificationContext(
  db: Db,
  { projectId, groupId, noteId }: Pick<NotificationEvent, 'projectId' | 'groupId' | 'noteId'>,
): Promise<{ context: NotificationContext; note: Note | undefined } | undefined> {
  const statement = projectId === undefined ? groupRow(groupId ?? 0, noteId) : projectRow(projectId, noteId);
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
  return { context, note: row.note ? { ...row.note, created_at: new Date(row.note.created_at) } : undefined };
}

/** The user's access to the project or group; undefined without any. */
export async function findVisitor(
  { database: { points } }: Needs<'database'>,
  { kind, id }: Pick<NotificationContext, 'kind' | 'id'>,
  person: ActorColumns,
): Promise<Visitor | undefined> {
  const actor = toActor(person, { via: 'password' });
  try {
    return kind === 'project'
      ? { actor, project: await authorizeProject(points, actor, 'read_project', id), group: undefined }
      : { actor, project: undefined, group: await authorizeGroup(points, actor, 'read_group', id) };
  } catch (error) {
    if (error instanceof Failure && error.kind !== 'unavailable') return undefined;
    throw error;
  }
}
