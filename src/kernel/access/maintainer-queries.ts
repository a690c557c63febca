/** The maintainers of a project who get mails about it. */
import { sql } from 'kysely';
import { now } from '../../platform/clock.ts';
import type { Db } from '../../platform/db/database.ts';
import { MAINTAINER } from '../policy/roles.ts';
import { directProjectLevel, memberIds, namespaceLevel, sharedProjectLevel } from './membership-queries.ts';

/** Recipients of one page. */
export const PAGE = 500;

export type MailProject = {
  id: number;
  name: string;
  full_name: string;
  full_path: string;
  ancestor_ids: number[];
};

/** The project; undefined where it is gone, or mail is disabled for it or an ancestor. */
export async function findMailProject(db: Db, id: number): Promise<MailProject | undefined> {
  const silent = (settings: string) => sql`${sql.ref(settings)} @> '{"emails_enabled": false}'`;
  const { rows } = await sql<MailProject>`
    select p.id, p.name, n.full_name || ' / ' || p.name as full_name, n.full_path || '/' || p.path as full_path,
      n.ancestor_ids
    from projects p join namespaces n on n.id = p.namespace_id
    where p.id = ${id} and not p.deleting and not ${silent('p.settings')} and not exists (
      select from namespaces a where a.id = any(n.ancestor_ids) and ${silent('a.settings')})`.execute(db);
  return rows[0];
}

type Reader = { id: number; address: string; language: string; timezone: string | null };

/** Active Maintainers and Owners with a confirmed address: those after an id, or one of them. */
export async function selectReaders(
  db: Db,
  place: MailProject,
  which: { after: number } | { userId: number },
): Promise<Reader[]> {
  const today = `'${now().toISOString().slice(0, 10)}'::date`;
  const [ids, only] =
    'userId' in which
      ? [sql`select ${which.userId}::bigint`, sql`true`]
      : [memberIds({ projectId: place.id, ancestorIds: place.ancestor_ids }), sql`u.id > ${which.after}`];
  const level = (of: (user: string, date: string) => string) => sql.raw(of('u.id', today));
  const inGroups = level((user, date) => namespaceLevel(user, date, 'contents'));
  const { rows } = await sql<Reader>`
    select u.id, coalesce(u.notification_email, u.email) as address, u.preferred_language as language, u.timezone
    from users u, projects p join namespaces n on n.id = p.namespace_id
    where p.id = ${place.id} and u.id in (${ids}) and ${only}
      and u.kind = 'human' and u.state = 'active' and u.deletion is null and u.confirmed_at is not null
      and greatest(${level(directProjectLevel)}, ${inGroups}, ${level(sharedProjectLevel)}) >= ${MAINTAINER}
    order by u.id limit ${PAGE}`.execute(db);
  return rows;
}
