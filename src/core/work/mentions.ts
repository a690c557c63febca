/** Users whom a text mentions, and which of them may see it. */
import { sql } from 'kysely';
import type { Db } from '../../platform/db/database.ts';
import type { Sql } from '../../platform/db/sql.ts';
import { Failure } from '../../platform/failure.ts';
import { authorizeGroup, authorizeProject } from '../access/find.ts';
import { PRIVATE } from '../access/roles.ts';
import { seesInProject } from '../access/snippets.ts';
import { type Actor, type ActorColumns, toActor } from '../identity/actor.ts';
import { outsideCode } from './code-spans.ts';
import { seesEpic } from './epic-visibility.ts';
import { seesIssue } from './issue-visibility.ts';
import type { Noteable } from './noteables.ts';

/** More names in one text are ignored: each costs a query. */
const MAX_NAMES = 100;
/** Characters at the start of a text in which addressed users are looked for. */
const MAX_ADDRESSED_LENGTH = 10_000;

const mention = /(?<![\w/@.`])@([a-z0-9_][\w.-]{0,254}(?:\/[\w.-]{1,255}){0,20})/gi;
const cleaned = (name: string): string => name.replace(/(?<![./-])[./-]+$/, '').toLowerCase();

/** Names after an `@` outside code, of users or paths of groups, in lower case, each once. */
export function mentionedNames(markdown: string | null | undefined): string[] {
  if (!markdown?.includes('@')) return [];
  // A repeated name is cleaned once, and the scan stops at the maximum.
  const written = new Set<string>();
  const names = new Set<string>();
  for (const [, name = ''] of outsideCode(markdown).matchAll(mention)) {
    if (names.size >= MAX_NAMES) break;
    if (written.has(name)) continue;
    written.add(name);
    const clean = cleaned(name);
    if (clean !== '') names.add(clean);
  }
  return [...names];
}

/** The names that the text begins with: it is addressed to them. */
export function addressedNames(markdown: string | null | undefined): string[] {
  const [beginning = ''] =
    /^\s*(?:@[\w./-]+[\s,]*(?:(?:and|&)\s+(?=@))?)+/i.exec(markdown?.slice(0, MAX_ADDRESSED_LENGTH) ?? '') ??
    [];
  return mentionedNames(beginning);
}

export type Person = ActorColumns;

/** Active users by lowercase username. */
export async function usersByName(db: Db, names: readonly string[]): Promise<Person[]> {
  if (names.length === 0) return [];
  const rows = await db
    .selectFrom('users')
    .select(['id', 'username', 'name', 'kind', 'admin', 'auditor', 'external'])
    .where(sql<string>`lower(username) collate "C"`, 'in', [...names])
    .where('deletion', 'is', null)
    .where('state', '=', 'active')
    .execute();
  // The table's check constraint admits these kinds only.
  return rows as Person[];
}

/** Active users by id. */
export async function usersByIds(db: Db, ids: readonly number[]): Promise<Person[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom('users')
    .select(['id', 'username', 'name', 'kind', 'admin', 'auditor', 'external'])
    .where('id', 'in', [...ids])
    .where('deletion', 'is', null)
    .where('state', '=', 'active')
    .execute();
  // As above.
  return rows as Person[];
}

/** Whether the user sees the noteable, or the internal notes on it. */
async function sees(
  points: Sql,
  noteable: Noteable,
  person: Actor,
  assigneeIds: readonly number[],
  internal: boolean,
): Promise<boolean> {
  try {
    if (noteable.group) {
      // Whether they read its epics seesEpic() asks.
      const group = await authorizeGroup(points, person, 'read_group', noteable.group.id);
      if (internal && !group.may('read_internal_epic_notes')) return false;
      return seesEpic(group, noteable);
    }
    const { id = 0 } = noteable.project ?? {};
    const project = await authorizeProject(points, person, 'read_project', id);
    if (internal && !project.may('read_internal_notes')) return false;
    if (noteable.kind === 'commit') return project.may('read_code');
    if (noteable.kind === 'alert') return project.may('read_alerts');
    if (noteable.kind === 'snippet')
      return (
        project.may('read_project_snippets') &&
        seesInProject(person, { visibility: noteable.visibility ?? PRIVATE }, project.role)
      );
    const issue = { confidential: noteable.confidential, author_id: noteable.authorId ?? 0 };
    return project.may('read_issues') && seesIssue(project, person, issue, assigneeIds);
  } catch (error) {
    if (error instanceof Failure) return false;
    throw error;
  }
}

/** Ids of the users who see the noteable, or the internal notes on it. */
export async function readersAmong(
  db: Db,
  points: Sql,
  noteable: Noteable,
  people: readonly Person[],
  internal = false,
): Promise<Set<number>> {
  if (people.length === 0) return new Set();
  const assignees =
    noteable.kind === 'issue' && noteable.confidential
      ? await db
          .selectFrom('issue_assignees')
          .select('user_id')
          .where('issue_id', '=', noteable.id ?? 0)
          .execute()
      : [];
  const assigneeIds = assignees.map(({ user_id }) => user_id);
  const seen = await Promise.all(
    people.map(async (person) => {
      const actor = toActor(person, { via: 'password' });
      return (await sees(points, noteable, actor, assigneeIds, internal)) ? [person.id] : [];
    }),
  );
  return new Set(seen.flat());
}
