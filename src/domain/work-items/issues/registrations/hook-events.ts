/** Issues, as hooks are told of them (facts-merge-requests: 10.5). */
import type { UserBasic } from '../../../../kernel/users/records.ts';
import {
  type FactChanges,
  goneIds,
  type HookContext,
  type HookEvent,
  type HookNoteable,
  type HookSample,
  type HookServices,
  hookChanges,
  hookLabel,
  hookProject,
  hookRepository,
  hookSource,
  hookText,
  hookTime,
  hookTimeOrNull,
  hookUser,
  type LabelPartRow,
  readContext,
  readUsers,
  selectLabelParts,
  stateIds,
} from '../../../hooks/index.ts';
import { humanDuration } from '../../changes/durations.ts';
import { type IssueRow, issueWebUrl } from '../records/issue-rows.ts';
import { selectAssigneeIds } from '../records/noteable-queries.ts';
import { selectNewestIssue, selectSpentSeconds } from './hook-queries.ts';
import { selectIssueRows } from './queries.ts';

type IssueFact = {
  project_id: number;
  user_id: number;
  issue_id: number;
  changes?: FactChanges;
};

/** An issue with what its payload shows beside the row. */
type ShownIssue = {
  row: IssueRow;
  description: string | null;
  url: string;
  labels: readonly LabelPartRow[];
  goneLabels: readonly LabelPartRow[];
  assignees: readonly UserBasic[];
  users: ReadonlyMap<number, UserBasic>;
  spent: number;
};

async function readIssue(
  services: HookServices,
  { around, project }: HookContext,
  id: number,
  changes: FactChanges = {},
): Promise<ShownIssue | undefined> {
  const db = services.database.background;
  const gone = goneIds(changes);
  const [[row], { labels, goneLabels }, assigned, spent] = await Promise.all([
    selectIssueRows(db, [id]),
    selectLabelParts(db, { issue_id: id }, gone.labels),
    selectAssigneeIds(db, id),
    selectSpentSeconds(db, id),
  ]);
  if (!row || row.project_id !== project.id) return undefined;
  const ids = assigned.map(({ user_id }) => user_id);
  const users = await readUsers(services, around, [...ids, ...gone.users]);
  const assignees = ids.flatMap((each) => users.get(each) ?? []);
  const url = issueWebUrl(around.baseUrl, `${project.namespace_full_path}/${project.path}`, row.iid);
  const description = hookText(around, project, row.description);
  return { row, description, url, labels, goneLabels, assignees, users, spent };
}

const typeNames: Readonly<Record<string, string>> = {
  issue: 'Issue',
  incident: 'Incident',
  test_case: 'Test Case',
  requirement: 'Requirement',
  task: 'Task',
  ticket: 'Ticket',
};

const typeName = (type: string): string => typeNames[type] ?? 'Issue';

/** How attributes show values that the row has otherwise: changes show them in the same way. */
const shown: Readonly<Record<string, (value: string) => string>> = {
  issue_type: typeName,
  severity: (severity) => severity.toLowerCase(),
};
const asShown = (changes: FactChanges): FactChanges =>
  Object.fromEntries(
    Object.entries(changes).map(([what, change]) => {
      const show = shown[what];
      return [what, show ? { from: show(String(change.from)), to: show(String(change.to)) } : change];
    }),
  );

/** The attributes, without what happened. */
const attributesOf = ({ row, description, url, labels, assignees, spent }: ShownIssue) => ({
  author_id: row.author_id,
  closed_at: hookTimeOrNull(row.closed_at),
  confidential: row.confidential,
  created_at: hookTime(row.created_at),
  description,
  discussion_locked: row.discussion_locked,
  due_date: row.due_date,
  id: row.id,
  iid: row.iid,
  last_edited_at: hookTimeOrNull(row.last_edited_at),
  last_edited_by_id: null,
  milestone_id: row.milestone_id,
  moved_to_id: row.moved_to_id,
  duplicated_to_id: row.duplicated_to_id,
  project_id: row.project_id,
  relative_position: row.relative_position,
  state_id: row.state === 'closed' ? stateIds.closed : stateIds.opened,
  time_estimate: row.time_estimate,
  title: row.title,
  updated_at: hookTime(row.updated_at),
  updated_by_id: null,
  type: typeName(row.issue_type),
  url,
  total_time_spent: spent,
  time_change: 0,
  human_total_time_spent: humanDuration(spent),
  human_time_change: null,
  human_time_estimate: humanDuration(row.time_estimate),
  assignee_ids: assignees.map(({ id }) => id),
  assignee_id: assignees[0]?.id ?? null,
  labels: labels.map(hookLabel),
  state: row.state,
  severity: row.severity.toLowerCase(),
  customer_relations_contacts: [],
  weight: row.weight,
  health_status: row.health_status,
});

type IssueAction = 'open' | 'close' | 'reopen' | 'update';

const stateChanges: Partial<Record<IssueAction, object>> = {
  close: { state_id: { previous: stateIds.opened, current: stateIds.closed } },
  reopen: { state_id: { previous: stateIds.closed, current: stateIds.opened } },
};

function issueEvent(
  context: HookContext,
  issue: ShownIssue,
  action: IssueAction,
  changes: FactChanges = {},
): HookEvent {
  const { row, labels, assignees } = issue;
  const project = hookProject(context.around, context.project);
  const people = assignees.map(hookUser);
  const isIssue = row.issue_type === 'issue' || row.issue_type === 'incident';
  return {
    flag: row.confidential ? 'confidential_issues_events' : 'issues_events',
    body: {
      object_kind: isIssue ? 'issue' : 'work_item',
      event_type: row.confidential ? 'confidential_issue' : 'issue',
      user: context.user && hookUser(context.user),
      project,
      object_attributes: { ...attributesOf(issue), action },
      labels: labels.map(hookLabel),
      changes: {
        ...hookChanges(asShown(changes), { ...issue, people: { assignees } }),
        ...stateChanges[action],
      },
      repository: hookRepository(project),
      assignees: people,
      ...(people[0] && { assignee: people[0] }),
    },
  };
}

const sourceOf = (fact: string, action: IssueAction) =>
  hookSource<IssueFact>({
    fact,
    flags: ['issues_events', 'confidential_issues_events'],
    async eventsOf(services, { project_id, user_id, issue_id, changes }) {
      const context = await readContext(services, project_id, user_id);
      const issue = context && (await readIssue(services, context, issue_id, changes));
      return issue ? [issueEvent(context, issue, action, changes)] : [];
    },
  });

export const issueHooks = [
  sourceOf('issue_created', 'open'),
  sourceOf('issue_updated', 'update'),
  sourceOf('issue_closed', 'close'),
  sourceOf('issue_reopened', 'reopen'),
];

export const issueOfNotes: HookNoteable = {
  type: 'Issue',
  field: 'issue',
  async partOf(services, context, id) {
    const issue = await readIssue(services, context, Number(id));
    return issue && { part: attributesOf(issue), url: issue.url, isConfidential: issue.row.confidential };
  },
};

const sampleOf = (isConfidential: boolean): HookSample => ({
  flag: isConfidential ? 'confidential_issues_events' : 'issues_events',
  async eventFor(services, { projectId, userId }) {
    const missing = { missing: 'Ensure the project has issues.' };
    const context = await readContext(services, projectId, userId);
    if (!context) return missing;
    const newest = await selectNewestIssue(services.database.background, context.project.id, isConfidential);
    const issue = newest && (await readIssue(services, context, newest.id));
    return issue ? issueEvent(context, issue, 'update') : missing;
  },
});

export const issueSamples = [sampleOf(false), sampleOf(true)];
