/** New issues: what is asked for, what of it the caller may have, and all that comes with it. */
import { now } from '../../platform/clock.ts';
import { type Db, inTransaction } from '../../platform/db/database.ts';
import type { AuthorizedProject } from '../access/find.ts';
import type { UserBasicRow } from '../identity/records.ts';
import { applyEffects } from './command-effects.ts';
import { checkDates, checkTexts, labelsAfter, type NewIssue, permitted } from './issue-changes.ts';
import { understand } from './issue-commands.ts';
import { type Birth, type BornIssue, bearIssue, insertIssue } from './issue-insert.ts';
import {
  checkEpic,
  findMentioned,
  findSides,
  type Reminder,
  type Sides,
  withNewLabels,
} from './issue-named.ts';
import { creationRights } from './issue-rights.ts';
import type { IssueRow } from './issue-rows.ts';
import type { IssueSides } from './issue-sides.ts';
import { checkIssueSpam } from './issue-spam.ts';
import { scoped, updateIssue } from './issue-writes.ts';
import type { LabelRow } from './label-records.ts';
import { atCreation } from './read-commands.ts';
import { issueTarget } from './targets.ts';
import type { WriteContext, Writing } from './write-context.ts';

/** Puts a description into a frame of words in which nothing is a command. */
type Frame = (description: string | null) => string | null;
const bare: Frame = (description) => description;

export type Conceived = {
  newborn: BornIssue;
  labels: readonly LabelRow[];
  said: Awaited<ReturnType<typeof understand<NewIssue>>>;
  /** Where labels are missing: makes them in the transaction that the issue is born in. */
  label?(tx: Db): Promise<Pick<Conceived, 'newborn' | 'labels'>>;
};

/** What an issue will be, before it is written. 400 for a wrong title, description, date or milestone. */
export async function conceiveIssue(
  context: Writing,
  project: AuthorizedProject,
  input: NewIssue,
  frame: Frame = bare,
): Promise<Conceived> {
  const { services, actor } = context;
  const rights = creationRights(services, project);
  const said = await understand(context, project, atCreation, input);
  const asked = { ...permitted(said.changes, rights), title: said.changes.title ?? input.title };
  const { confidential = false, start_date = null, due_date = null } = asked;
  const description = frame(asked.description ?? null);
  checkTexts({ ...asked, description });
  checkDates({ start_date, due_date });
  const [sides, mentioned] = await Promise.all([
    findSides(context, project, asked),
    findMentioned(context, project, description, { confidential, author_id: actor.id }),
  ]);
  checkEpic(sides.epic, confidential);
  const labelsOf = ({ labels, addLabels: add, removeLabels: remove }: Sides): LabelRow[] =>
    scoped(rights.premium, labelsAfter<LabelRow>([], { labels, add, remove }));
  const labels = labelsOf(sides);
  const assigneeIds = (sides.assignees ?? []).map(({ id }) => id);
  const assigned = assigneeIds.map((userId): Reminder => ({ userId, action: 'assigned' }));
  const newborn: BornIssue = {
    iid: asked.iid ?? null,
    authorId: actor.id,
    title: asked.title,
    description,
    issueType: asked.issue_type ?? 'issue',
    severity: asked.severity ?? 'UNKNOWN',
    confidential,
    discussionLocked: asked.discussion_locked ?? null,
    milestoneId: sides.milestone?.id ?? null,
    startDate: start_date,
    dueDate: due_date,
    weight: asked.weight ?? null,
    healthStatus: asked.health_status ?? null,
    timeEstimate: asked.time_estimate ?? 0,
    userAgent: null,
    address: null,
    createdAt: asked.created_at ?? now(),
    assigneeIds,
    labelIds: labels.map(({ id }) => id),
    epicId: sides.epic?.id ?? null,
    reminders: [...assigned, ...mentioned],
  };
  const conceived: Conceived = { newborn, labels, said };
  if (!sides.lacksLabels) return conceived;
  return {
    ...conceived,
    async label(tx) {
      const all = labelsOf(await withNewLabels(tx, actor, project, asked, sides));
      return { newborn: { ...newborn, labelIds: all.map(({ id }) => id) }, labels: all };
    },
  };
}

/**
 * A new issue of the project. What the caller may not set is passed over; 400 for a wrong title, description, date or
 * milestone, 409 for a number that is taken. All is found beforehand, and written by one statement.
 */
export async function createIssue(
  context: WriteContext,
  project: AuthorizedProject,
  input: NewIssue,
): Promise<CreatedIssue> {
  const { db, actor, request } = context;
  const conceived = await conceiveIssue(context, project, input);
  const { label, said } = conceived;
  const { title, description, confidential } = conceived.newborn;
  await checkIssueSpam(context, project, { write: 'create', title, description, confidential });
  const userAgent = request.headers['user-agent'];
  const sent = { userAgent: typeof userAgent === 'string' ? userAgent : null, address: request.address };
  const birth = ({ newborn }: Pick<Conceived, 'newborn'>): Birth => ({
    actor,
    project,
    issue: { ...newborn, ...sent },
  });
  const { issue, author, labels } = label
    ? await inTransaction(db, async (tx) => {
        const labelled = await label(tx);
        return { ...labelled, ...(await insertIssue(tx, birth(labelled))) };
      })
    : { ...conceived, ...(await bearIssue(db, birth(conceived))) };
  await applyEffects(context, issueTarget(project, issue), said.effects);
  const { state_event, duplicated_to_id } = said.changes;
  if (state_event)
    return { issue: await updateIssue(context, project, issue, { state_event, duplicated_to_id }) };
  const { assigneeIds, milestoneId, epicId } = conceived.newborn;
  const isBare = said.effects.length + assigneeIds.length === 0 && milestoneId === null && epicId === null;
  return { issue, ...(isBare && { sides: sidesOfNew(project, issue, author, labels) }) };
}

/** The new row; and what stands beside it, where that is known without looking. */
export type CreatedIssue = { issue: IssueRow; sides?: IssueSides };

/** Of an issue that only has labels: nobody said or did anything yet, and its author, who made it, hears of it. */
const sidesOfNew = (
  project: AuthorizedProject,
  issue: IssueRow,
  author: UserBasicRow,
  labels: readonly LabelRow[],
): IssueSides => ({
  people: new Map([[author.id, author]]),
  assignees: new Map(),
  paths: new Map([[project.id, project.fullPath]]),
  labels: new Map([[issue.id, labels.toSorted((a, b) => (a.name < b.name ? -1 : 1))]]),
  milestones: new Map(),
  counts: new Map(),
  epics: new Map(),
  originals: new Map(),
  subscribed: true,
});
