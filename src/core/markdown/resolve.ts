/**
 * Resolves references with the reader's permissions, by one statement for each kind. Hidden records are not
 * found, so that a text does not reveal them.
 */
import { sql } from 'kysely';
import type { Db } from '../../platform/db/database.ts';
import { selectGroups, selectProjects } from '../access/find.ts';
import { seesInProject } from '../access/snippets.ts';
import { groupWebUrl } from '../namespaces/records.ts';
import type { EpicRow } from '../work/epic-rows.ts';
import { epicWebUrl } from '../work/epic-rows.ts';
import { seesEpic } from '../work/epic-visibility.ts';
import { type IssueRow, issueWebUrl } from '../work/issue-rows.ts';
import { seesIssue } from '../work/issue-visibility.ts';
import { findCommits } from './commits.ts';
import { link } from './links.ts';
import { findLabels, findMilestones } from './planning.ts';
import type { Reference, ReferenceKind } from './references.ts';
import { type Link, projectPrefix, type RenderContext, type ResolvedReference } from './render-context.ts';

/** Distinct references of one text that are resolved; others stay text. */
const MAX_REFERENCES = 500;

const keyOf = ({ kind, path, name, address }: Reference): string =>
  JSON.stringify([kind, path?.toLowerCase(), name, address ?? false]);

/** The full path of a short one: a project beside that of the text. */
function fullPathOf(path: string, context: RenderContext): string {
  if (path.includes('/') || !context.project) return path;
  return `${context.project.row.namespace_full_path}/${path}`;
}

/** The HTML of each reference that resolves. */
export async function resolveReferences(
  context: RenderContext,
  references: readonly Reference[],
): Promise<Map<Reference, string>> {
  const distinct = new Map<string, Reference>();
  for (const reference of references) {
    const key = keyOf(reference);
    if (distinct.size < MAX_REFERENCES && !distinct.has(key)) distinct.set(key, reference);
  }
  const wanted = Map.groupBy(distinct.values(), ({ kind }) => kind);
  const of = (kind: ReferenceKind): Reference[] => wanted.get(kind) ?? [];
  const placed = await resolveProjects(context, [...distinct.values()]);
  const placedOf = (kind: ReferenceKind): ResolvedReference[] =>
    placed.filter(({ reference }) => reference.kind === kind);
  const found = await Promise.all([
    findIssues(context, placedOf('issue')),
    findSnippets(context, placedOf('snippet')),
    findMilestones(context, placedOf('milestone')),
    findLabels(context, placedOf('label')),
    findCommits(context, placedOf('commit')),
    findEpics(context, of('epic')),
    findPeople(context, of('user')),
  ]);
  const html = new Map(found.flat().map(([reference, text]) => [keyOf(reference), text]));
  return new Map(
    references.flatMap((reference) => {
      const text = html.get(keyOf(reference));
      return text === undefined ? [] : [[reference, text]];
    }),
  );
}

/** Each reference with its project, if the reader sees it. */
async function resolveProjects(
  context: RenderContext,
  references: readonly Reference[],
): Promise<ResolvedReference[]> {
  const inside = references.filter(({ kind }) => kind !== 'epic' && kind !== 'user');
  const paths = new Set(
    inside.flatMap(({ path }) => (path === undefined ? [] : fullPathOf(path, context).toLowerCase())),
  );
  const projects = await selectProjects(context.services.database.sql, context.reader, 'read_project', [
    ...paths,
  ]);
  return inside.flatMap((reference) => {
    const { path } = reference;
    const project =
      path === undefined ? context.project : projects.get(fullPathOf(path, context).toLowerCase());
    return project ? { reference, project } : [];
  });
}

/** Pairs of a parent's id and a number in it, as a table. */
const pairs = (rows: readonly (readonly [container: number, number: number])[]) =>
  sql`(select * from unnest(${rows.map(([id]) => id)}::bigint[], ${rows.map(([, number]) => number)}::bigint[]))`;

const closedMark = (state: string): string => (state === 'closed' ? ' (closed)' : '');

async function findIssues(context: RenderContext, placed: readonly ResolvedReference[]): Promise<Link[]> {
  const { services, reader } = context;
  const readable = placed.filter(({ project }) => project.may('read_issues'));
  if (readable.length === 0) return [];
  const numbers = readable.map(({ project, reference }) => [project.id, Number(reference.name)] as const);
  const { rows } = await sql<
    Pick<IssueRow, 'project_id' | 'iid' | 'title' | 'state' | 'confidential' | 'author_id'> & {
      assigned: boolean;
    }
  >`
    select project_id, iid, title, state, confidential, author_id, exists (
      select from issue_assignees a where a.issue_id = issues.id and a.user_id = ${reader?.id ?? 0}) as assigned
    from issues where (project_id, iid) in ${pairs(numbers)}`.execute(services.database.db);
  return readable.flatMap(({ project, reference }) => {
    const issue = rows.find((row) => row.project_id === project.id && row.iid === Number(reference.name));
    if (!issue || !seesIssue(project, reader, issue, issue.assigned && reader ? [reader.id] : [])) return [];
    const shown = reference.address ? `${projectPrefix(project, context)}#${issue.iid}` : reference.text;
    const href = issueWebUrl(services.baseUrl(), project.fullPath, issue.iid);
    return [
      [reference, link({ href, kind: 'issue', title: issue.title, text: shown + closedMark(issue.state) })],
    ];
  });
}

async function findSnippets(context: RenderContext, placed: readonly ResolvedReference[]): Promise<Link[]> {
  const { services, reader } = context;
  const readable = placed.filter(({ project }) => project.may('read_project_snippets'));
  if (readable.length === 0) return [];
  const numbers = readable.map(({ project, reference }) => [project.id, Number(reference.name)] as const);
  const { rows } = await sql<{ id: number; project_id: number; title: string; visibility: number }>`
    select id, project_id, title, visibility from snippets
    where ready and (project_id, id) in ${pairs(numbers)}`.execute(services.database.db);
  return readable.flatMap(({ project, reference }) => {
    const snippet = rows.find((row) => row.project_id === project.id && row.id === Number(reference.name));
    if (!snippet || !seesInProject(reader, snippet, project.role)) return [];
    const shown = reference.address ? `${projectPrefix(project, context)}$${snippet.id}` : reference.text;
    const href = `${services.baseUrl()}/${project.fullPath}/-/snippets/${snippet.id}`;
    return [[reference, link({ href, kind: 'snippet', title: snippet.title, text: shown })]];
  });
}

/** `&1` is an epic of the project's group. */
async function findEpics(context: RenderContext, references: readonly Reference[]): Promise<Link[]> {
  const { services, reader, project } = context;
  const home = project?.row.namespace_full_path;
  const pathOf = ({ path }: Reference): string | undefined => (path ?? home)?.toLowerCase();
  const paths = new Set(references.flatMap((reference) => pathOf(reference) ?? []));
  const groups = await selectGroups(services.database.sql, reader, 'read_epics', [...paths]);
  const placed = references.flatMap((reference) => {
    const group = groups.get(pathOf(reference) ?? '');
    return group ? { reference, group } : [];
  });
  if (placed.length === 0) return [];
  const numbers = placed.map(({ group, reference }) => [group.id, Number(reference.name)] as const);
  const { rows } = await sql<Pick<EpicRow, 'namespace_id' | 'iid' | 'title' | 'state' | 'confidential'>>`
    select namespace_id, iid, title, state, confidential from epics
    where (namespace_id, iid) in ${pairs(numbers)}`.execute(services.database.db);
  return placed.flatMap(({ group, reference }) => {
    const epic = rows.find((row) => row.namespace_id === group.id && row.iid === Number(reference.name));
    if (!epic || !seesEpic(group, epic)) return [];
    const path = group.row.full_path;
    const shown = reference.address ? `${path === home ? '' : path}&${epic.iid}` : reference.text;
    const href = epicWebUrl(services.baseUrl(), path, epic.iid);
    return [
      [reference, link({ href, kind: 'epic', title: epic.title, text: shown + closedMark(epic.state) })],
    ];
  });
}

const selectPeople = (db: Db, names: readonly string[]) =>
  db
    .selectFrom('users')
    .select(['username', 'name'])
    .where(sql<boolean>`lower(username) collate "C" = any(${[...names]}::text[])`)
    .where('deletion', 'is', null)
    .execute();

/** `@name` is a user or a group. */
async function findPeople(context: RenderContext, references: readonly Reference[]): Promise<Link[]> {
  if (references.length === 0) return [];
  const { services, reader } = context;
  const { db, sql: driver } = services.database;
  const names = [...new Set(references.map(({ name }) => name.toLowerCase()))];
  const [people, groups] = await Promise.all([
    selectPeople(db, names),
    selectGroups(driver, reader, 'read_group', names),
  ]);
  const baseUrl = services.baseUrl();
  const byName = new Map(people.map((person) => [person.username.toLowerCase(), person]));
  return references.flatMap((reference) => {
    const { text } = reference;
    const person = byName.get(reference.name.toLowerCase());
    if (person) {
      const href = `${baseUrl}/${person.username}`;
      return [[reference, link({ href, kind: 'user', title: person.name, text })]];
    }
    const group = groups.get(reference.name.toLowerCase());
    if (!group) return [];
    const href = groupWebUrl({ baseUrl }, group.row.full_path);
    return [[reference, link({ href, kind: 'user', title: group.row.name, text })]];
  });
}
