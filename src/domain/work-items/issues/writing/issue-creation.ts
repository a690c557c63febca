/** Creates issues: prepares the request, inserts the issue and runs its quick actions. */

import type { AuthorizedProject } from '../../../../kernel/access/find.ts';
import type { UserBasicRow } from '../../../../kernel/users/records.ts';
import { now } from '../../../../platform/clock.ts';
import { type Db, inTransaction } from '../../../../platform/db/database.ts';
import type { ActorContext, MentionTodo, WriteContext } from '../../../conversation/index.ts';
import type { LabelRow } from '../../../planning/index.ts';
import {
  checkDates,
  checkTexts,
  labelsAfter,
  type NewIssue,
  permitted,
} from '../../changes/issue-changes.ts';
import { withNewLabels } from '../../changes/named-references.ts';
import { atCreation } from '../../quick-actions/read-commands.ts';
import { applyEffects } from '../../quick-actions/work-command-effects.ts';
import { issueNoteable } from '../records/issue-noteable.ts';
import type { IssueRow } from '../records/issue-rows.ts';
import type { IssueRelations } from '../records/relation-queries.ts';
import { closeIssue, readIssue } from './actions.ts';
import {
  type InsertedIssue,
  type IssueInsert,
  insertIssue,
  insertIssueInBatch,
  type PreparedIssue,
} from './insert-actions.ts';
import { parseQuickActions } from './issue-commands.ts';
import { creationRights } from './issue-rights.ts';
import { checkIssueSpam } from './issue-spam.ts';
import { scoped } from './issue-state.ts';
import {
  checkEpic,
  findMentioned,
  type ResolvedReferences,
  resolveReferences,
} from './resolve-references.ts';

/** Puts a description into a template after its quick actions were parsed. */
type DescriptionTemplate = (description: string | null) => string | null;
const bare: DescriptionTemplate = (description) => description;

export type IssuePlan = {
  prepared: PreparedIssue;
  labels: readonly LabelRow[];
  quickActions: Awaited<ReturnType<typeof parseQuickActions<NewIssue>>>;
  /** The issue that it duplicates. */
  original: ResolvedReferences['original'];
  /** Present where labels are missing: creates them in the transaction of the insert. */
  createLabels?(tx: Db): Promise<Pick<IssuePlan, 'prepared' | 'labels'>>;
};

/** Prepares an issue. 400 for a wrong title, description, date or milestone. */
export async function prepareIssue(
  context: ActorContext,
  project: AuthorizedProject,
  input: NewIssue,
  frame: DescriptionTemplate = bare,
): Promise<IssuePlan> {
  const { services, actor } = context;
  const rights = creationRights(services, project);
  const said = await parseQuickActions(context, project, atCreation, input);
  const requested = { ...permitted(said.changes, rights), title: said.changes.title ?? input.title };
  const { confidential = false, start_date = null, due_date = null } = requested;
  const description = frame(requested.description ?? null);
  checkTexts({ ...requested, description });
  checkDates({ start_date, due_date });
  const [references, mentioned] = await Promise.all([
    resolveReferences(context, project, requested),
    findMentioned(context, project, description, { confidential, author_id: actor.id }),
  ]);
  checkEpic(references.epic, confidential);
  const labelsOf = ({ labels, addLabels: add, removeLabels: remove }: ResolvedReferences): LabelRow[] =>
    scoped(rights.premium, labelsAfter<LabelRow>([], { labels, add, remove }));
  const labels = labelsOf(references);
  const assigneeIds = (references.assignees ?? []).map(({ id }) => id);
  const assigned = assigneeIds.map((userId): MentionTodo => ({ userId, action: 'assigned' }));
  const prepared: PreparedIssue = {
    iid: requested.iid ?? null,
    authorId: actor.id,
    title: requested.title,
    description,
    issueType: requested.issue_type ?? 'issue',
    severity: requested.severity ?? 'UNKNOWN',
    confidential,
    discussionLocked: requested.discussion_locked ?? null,
    milestoneId: references.milestone?.id ?? null,
    startDate: start_date,
    dueDate: due_date,
    weight: requested.weight ?? null,
    healthStatus: requested.health_status ?? null,
    timeEstimate: requested.time_estimate ?? 0,
    userAgent: null,
    address: null,
    createdAt: requested.created_at ?? now(),
    assigneeIds,
    labelIds: labels.map(({ id }) => id),
    epicId: references.epic?.id ?? null,
    todos: [...assigned, ...mentioned],
  };
  const plan: IssuePlan = { prepared, labels, quickActions: said, original: references.original };
  if (!references.lacksLabels) return plan;
  return {
    ...plan,
    async createLabels(tx) {
      const all = labelsOf(await withNewLabels(tx, actor, project, requested, references));
      return { prepared: { ...prepared, labelIds: all.map(({ id }) => id) }, labels: all };
    },
  };
}

/**
 * A new issue of the project, without the properties that the caller may not set; 400 for a wrong title,
 * description, date or milestone, 409 for a number that is taken. The plan is made first; one statement inserts
 * the issue, and what its quick actions do besides is of the same transaction.
 */
export async function createIssue(
  context: WriteContext,
  project: AuthorizedProject,
  input: NewIssue,
): Promise<CreatedIssue> {
  const { db, actor, request } = context;
  const plan = await prepareIssue(context, project, input);
  const { title, description, confidential } = plan.prepared;
  await checkIssueSpam(context, project, { write: 'create', title, description, confidential });
  const userAgent = request.headers['user-agent'];
  const sent = { userAgent: typeof userAgent === 'string' ? userAgent : null, address: request.address };
  const insert = ({ prepared }: Pick<IssuePlan, 'prepared'>): IssueInsert => ({
    actor,
    project,
    issue: { ...prepared, ...sent },
  });
  if (isOneStatement(plan)) {
    return created(project, await insertIssueInBatch(db, insert(plan)), plan);
  }
  return inTransaction(db, async (tx) => {
    const labelled = (await plan.createLabels?.(tx)) ?? plan;
    const { issue } = await insertIssue(tx, insert(labelled));
    return { issue: await runQuickActions({ ...context, db: tx }, project, issue, plan) };
  });
}

const isOneStatement = ({ createLabels, quickActions }: IssuePlan): boolean =>
  createLabels === undefined && quickActions.effects.length === 0 && !quickActions.changes.state_event;

/** The issue after what its quick actions do besides setting properties. */
async function runQuickActions(
  context: ActorContext,
  project: AuthorizedProject,
  issue: IssueRow,
  { quickActions, original }: IssuePlan,
): Promise<IssueRow> {
  const { db } = context;
  await applyEffects(context, issueNoteable(project, issue), quickActions.effects);
  if (quickActions.changes.state_event) return closeIssue(context, db, project, issue.id, { original });
  return quickActions.effects.length === 0 ? issue : ((await readIssue(db, issue.id)) ?? issue);
}

/** The new row, and its relations where they are known without a query. */
export type CreatedIssue = { issue: IssueRow; relations?: IssueRelations };

/** The inserted issue of the plan. */
export function created(
  project: AuthorizedProject,
  { issue, author }: InsertedIssue,
  { prepared, labels }: Pick<IssuePlan, 'prepared' | 'labels'>,
): CreatedIssue {
  const { assigneeIds, milestoneId, epicId } = prepared;
  const isBare = assigneeIds.length === 0 && milestoneId === null && epicId === null;
  return { issue, ...(isBare && { relations: relationsOfNew(project, issue, author, labels) }) };
}

/** Relations of an issue with labels only: no notes, time or links yet, and its author is subscribed. */
const relationsOfNew = (
  project: AuthorizedProject,
  issue: IssueRow,
  author: UserBasicRow,
  labels: readonly LabelRow[],
): IssueRelations => ({
  people: new Map([[author.id, author]]),
  assignees: new Map(),
  paths: new Map([[project.id, project.fullPath]]),
  labels: new Map([[issue.id, labels.toSorted((a, b) => (a.name < b.name ? -1 : 1))]]),
  milestones: new Map(),
  counts: new Map(),
  closing: new Map(),
  epics: new Map(),
  originals: new Map(),
  subscribed: true,
});
