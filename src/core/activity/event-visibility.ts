/**
 * Visibility of events in a visible project (facts: Activity events): once for one event, once as SQL, so
 * that pages and totals match.
 */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { AuthorizedProject } from '../access/find.ts';
import type { ProjectAbility } from '../access/policy.ts';
import { mayInProjects } from '../access/policy-sql.ts';
import { GUEST, INTERNAL, PUBLIC } from '../access/roles.ts';
import { seesInProject } from '../access/snippets.ts';
import type { Caller } from '../identity/actor.ts';
import { seesIssue } from '../work/issue-visibility.ts';
import { type EventRow, noteTypes } from './event-rows.ts';

/** The part of an event that decides its visibility. */
export type JudgedEvent = Pick<
  EventRow,
  'action' | 'target_type' | 'issue' | 'note' | 'snippet' | 'milestone' | 'wiki_page'
>;

type Standing = Pick<AuthorizedProject, 'may' | 'role'>;
type Judge = (project: Standing, caller: Caller, event: JudgedEvent) => boolean;

const seesTheIssue: Judge = (project, caller, { issue }) =>
  issue !== null &&
  project.may('read_issues') &&
  seesIssue(project, caller, issue, caller && issue.assigned ? [caller.id] : []);

const seesNote: Judge = (project, caller, event) => {
  const { note, snippet } = event;
  if (!note || (note.internal && !project.may('read_internal_notes'))) return false;
  if (note.issue_id !== null) return seesTheIssue(project, caller, event);
  if (note.snippet_id !== null)
    return (
      snippet !== null && project.may('read_project_snippets') && seesInProject(caller, snippet, project.role)
    );
  if (note.alert_id !== null) return project.may('read_alerts');
  return note.epic_id === null && project.may('read_code');
};

/** The event of a destruction is visible without its target. */
const withAbility =
  (ability: ProjectAbility, target: 'milestone' | 'wiki_page'): Judge =>
  (project, _caller, event) =>
    (event[target] !== null || event.action === 'destroyed') && project.may(ability);

const byTarget: ReadonlyMap<string, Judge> = new Map(
  Object.entries({
    Issue: seesTheIssue,
    Note: seesNote,
    DiscussionNote: seesNote,
    DiffNote: seesNote,
    Milestone: withAbility('read_planning', 'milestone'),
    'WikiPage::Meta': withAbility('read_wiki', 'wiki_page'),
  }),
);

/** Abilities for events without a target: of the code, and of the project itself. */
const byAction: ReadonlyMap<string, ProjectAbility> = new Map(
  Object.entries({
    pushed: 'read_code',
    created: 'read_project',
    joined: 'read_project',
    left: 'read_project',
    expired: 'read_project',
  } as const),
);

/** Whether a caller who sees the project sees this event. Events of unknown types are hidden. */
export function seesEvent(project: Standing, caller: Caller, event: JudgedEvent): boolean {
  if (event.target_type !== null) return byTarget.get(event.target_type)?.(project, caller, event) ?? false;
  const ability = byAction.get(event.action);
  return ability !== undefined && project.may(ability);
}

/** The deciding abilities, by the columns that visibleEvents() reads. */
const deciding = {
  code: 'read_code',
  issues: 'read_issues',
  confidential: 'read_confidential_issues',
  internal: 'read_internal_notes',
  snippets: 'read_project_snippets',
  alerts: 'read_alerts',
  planning: 'read_planning',
  wiki: 'read_wiki',
} as const satisfies Record<string, ProjectAbility>;

const columns = (value: (ability: ProjectAbility) => RawBuilder<unknown>, member: RawBuilder<unknown>) =>
  sql.join([
    ...Object.entries(deciding).map(([name, ability]) => sql`${value(ability)} as ${sql.ref(name)}`),
    sql`${member} as member`,
  ]);

/** Columns of the caller's visibility in one project, by its receipt. */
export const seenOf = (project: AuthorizedProject, caller: Caller): RawBuilder<unknown> =>
  columns(
    (ability) => sql.lit(project.may(ability)),
    sql.lit(project.role >= GUEST || (caller?.auditor ?? false)),
  );

/** The same for each project `p` that the caller sees, with the caller's role `level` on it. */
export const seenIn = (caller: Caller, level: RawBuilder<unknown>): RawBuilder<unknown> =>
  columns(
    (ability) => mayInProjects(ability, caller, level),
    caller?.admin || caller?.auditor ? sql`true` : sql`${level} >= ${sql.lit(GUEST)}`,
  );

/** seesEvent() over `activity_events e join places v`, where `places` has the columns of one of the above. */
export function visibleEvents(caller: Caller): RawBuilder<SqlBool> {
  const own = sql`(i.author_id = ${caller?.id ?? 0} or exists (
    select from issue_assignees a where a.issue_id = i.id and a.user_id = ${caller?.id ?? 0}))`;
  const seesIssueOf = (id: RawBuilder<unknown>) => sql`(v.issues and exists (
    select from issues i where i.id = ${id} and i.project_id = e.project_id
      and (not i.confidential or v.confidential or ${own})))`;
  const open = sql.lit(caller && !caller.external ? INTERNAL : PUBLIC);
  const theNote = sql`exists (
    select from notes n where n.id = e.target_id and n.project_id = e.project_id
      and (not n.internal or v.internal)
      and case
        when n.issue_id is not null then ${seesIssueOf(sql`n.issue_id`)}
        when n.snippet_id is not null then v.snippets and exists (
          select from snippets s where s.id = n.snippet_id and s.project_id = e.project_id
            and (v.member or s.visibility >= ${open}))
        when n.alert_id is not null then v.alerts
        else n.epic_id is null and v.code end)`;
  const isThere = (table: 'milestones' | 'wiki_pages') => sql`(e.action = 'destroyed' or exists (
    select from ${sql.table(table)} t where t.id = e.target_id and t.project_id = e.project_id))`;
  return sql`(case
    when e.target_type is null then
      case when e.action = 'pushed' then v.code else e.action in ('created', 'joined', 'left', 'expired') end
    when e.target_type = 'Issue' then ${seesIssueOf(sql`e.target_id`)}
    when e.target_type in (${sql.join(noteTypes.map(sql.lit))}) then ${theNote}
    when e.target_type = 'Milestone' then v.planning and ${isThere('milestones')}
    when e.target_type = 'WikiPage::Meta' then v.wiki and ${isThere('wiki_pages')}
    else false end
    and exists (select from users u where u.id = e.author_id))`;
}
