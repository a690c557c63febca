/** Who sees which event of a project that they see (facts: Activity events). Pure. */
import type { AuthorizedProject } from '../access/find.ts';
import type { ProjectAbility } from '../access/policy.ts';
import { seesInProject } from '../access/snippets.ts';
import type { Caller } from '../identity/actor.ts';
import { seesIssue } from '../work/issue-visibility.ts';
import type { EventRow } from './event-rows.ts';

/** What is looked at of an event. */
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

/** That something was destroyed can be told of what is not there any more. */
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

/** Events without a target: of the code, and of the project itself. */
const byAction: ReadonlyMap<string, ProjectAbility> = new Map(
  Object.entries({
    pushed: 'read_code',
    created: 'read_project',
    joined: 'read_project',
    left: 'read_project',
    expired: 'read_project',
  } as const),
);

/** Whether somebody who sees the project sees this event of it. What nobody knows how to judge, nobody sees. */
export function seesEvent(project: Standing, caller: Caller, event: JudgedEvent): boolean {
  if (event.target_type !== null) return byTarget.get(event.target_type)?.(project, caller, event) ?? false;
  const ability = byAction.get(event.action);
  return ability !== undefined && project.may(ability);
}
