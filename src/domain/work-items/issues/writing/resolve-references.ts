/** Resolves references in a request for an issue: assignees, labels, milestone, epic and original. */
import type { AuthorizedProject } from '../../../../kernel/access/find.ts';
import type { Actor } from '../../../../kernel/actor.ts';
import type { Db } from '../../../../platform/db/database.ts';
import { forbidden, invalid } from '../../../../platform/failure.ts';
import {
  type ActorContext,
  findMentionTodos,
  type MentionTodo,
  readersAmong,
  usersByIds,
} from '../../../conversation/index.ts';
import {
  availableMilestone,
  isLabelName,
  type LabelRow,
  type MilestoneRow,
  resolveLabels,
} from '../../../planning/index.ts';
import type { IssueChanges, NamedUser, Referenced } from '../../changes/issue-changes.ts';
import { type FoundEpic, findEpicById } from '../../epics/records/find-queries.ts';
import { findIssueById } from '../records/find-queries.ts';
import { newIssueNoteable } from '../records/issue-noteable.ts';

export type ResolvedReferences = {
  assignees: NamedUser[] | undefined;
  labels: LabelRow[] | undefined;
  addLabels: LabelRow[];
  removeLabels: LabelRow[];
  /** Whether labels are missing; resolveLabels() decides who may create them. */
  lacksLabels: boolean;
  milestone: Referenced | null | undefined;
  epic: (Referenced & { confidential: boolean }) | null | undefined;
  original: Referenced | null | undefined;
};

/** Reference to an issue: its number in its own project, else with the project's path. */
export const issueReference = (
  from: { id: number },
  project: { id: number; fullPath: string },
  { iid }: { iid: number },
): string => (from.id === project.id ? `#${iid}` : `${project.fullPath}#${iid}`);

/** Reference to a milestone: by number in its project, by title from a group. */
export const milestoneReference = (milestone: Pick<MilestoneRow, 'project_id' | 'iid' | 'title'>): string =>
  milestone.project_id === null ? `%"${milestone.title}"` : `%${milestone.iid}`;

/** The users who may read the project's issues, in the order requested; others are left out. */
async function findAssignees(
  { db, services, actor }: ActorContext,
  project: AuthorizedProject,
  ids: readonly number[],
): Promise<NamedUser[]> {
  const wanted = [...new Set(ids)].filter((id) => id > 0);
  if (wanted.length === 0) return [];
  const people = await usersByIds(db, wanted);
  const others = people.filter(({ id }) => id !== actor.id);
  const noteable = newIssueNoteable(project, { confidential: false, authorId: actor.id });
  const readers = await readersAmong(db, services.database.points, noteable, others);
  const byId = new Map(people.map((person) => [person.id, person]));
  return wanted.flatMap((id) => {
    const person = byId.get(id);
    return person && (id === actor.id || readers.has(id)) ? [{ id, username: person.username }] : [];
  });
}

/** Whether a valid name has no label among those found. */
const isMissing = (found: readonly LabelRow[]) => {
  const known = new Set(found.map(({ name }) => name));
  return (name: string): boolean => isLabelName(name.trim()) && !known.has(name.trim());
};

/**
 * The references with missing labels, which are created in the transaction of the write: a refused request
 * leaves none.
 */
export async function withNewLabels(
  tx: Db,
  actor: Actor,
  project: AuthorizedProject,
  { labels, add_labels = [] }: IssueChanges,
  references: ResolvedReferences,
): Promise<ResolvedReferences> {
  if (!references.lacksLabels) return references;
  const known = [...(references.labels ?? []), ...references.addLabels];
  const names = [...(labels ?? []), ...add_labels];
  const all = await resolveLabels(tx, project, names, { create: true, actor, known });
  const byName = new Map(all.map((label) => [label.name, label]));
  const named = (names: readonly string[]) => names.flatMap((name) => byName.get(name.trim()) ?? []);
  return { ...references, labels: labels && named(labels), addLabels: named(add_labels) };
}

/** The epic, with its reference from everywhere. */
export const epicReference = ({ epic, group }: FoundEpic) => ({
  id: epic.id,
  reference: `${group.row.full_path}&${epic.iid}`,
  confidential: epic.confidential,
});

async function findMilestone(db: Db, project: AuthorizedProject, id: number | null | undefined) {
  if (id === undefined) return undefined;
  if (!id) return null;
  const milestone = await availableMilestone(db, project, id);
  return { id, reference: milestoneReference(milestone) };
}

async function resolveEpic({ db, services, actor }: ActorContext, id: number | null | undefined) {
  if (id === undefined) return undefined;
  if (!id) return null;
  const found = await findEpicById(db, services.database.points, actor, id);
  // Reading an epic does not permit adding issues to it.
  if (!found.group.may('update_epics')) throw forbidden();
  return epicReference(found);
}

/** The issue that another duplicates, with its reference from the project. */
async function findOriginal(
  { db, services, actor }: ActorContext,
  home: AuthorizedProject,
  id: number | null | undefined,
): Promise<Referenced | null | undefined> {
  if (id === undefined) return undefined;
  if (!id) return null;
  const { issue, project } = await findIssueById(db, services.database.points, actor, id);
  return { id, reference: issueReference(home, project, issue) };
}

/**
 * The references of the changes. 400 for a missing milestone, 404 for an epic that the caller does not see,
 * and 403 for one of a group whose epics the caller may not change.
 */
export async function resolveReferences(
  context: ActorContext,
  project: AuthorizedProject,
  changes: IssueChanges,
): Promise<ResolvedReferences> {
  const { db, actor } = context;
  const { assignee_ids, labels, add_labels = [], remove_labels = [], milestone_id } = changes;
  const findLabels = (names: readonly string[]) =>
    resolveLabels(db, project, names, { create: false, actor });
  const [assignees, replacing, addLabels, removeLabels, milestone, epic, original] = await Promise.all([
    assignee_ids && findAssignees(context, project, assignee_ids),
    labels && findLabels(labels),
    findLabels(add_labels),
    findLabels(remove_labels),
    findMilestone(db, project, milestone_id),
    resolveEpic(context, changes.epic_id),
    findOriginal(context, project, changes.duplicated_to_id),
  ]);
  const lacksLabels = [...(labels ?? []), ...add_labels].some(
    isMissing([...(replacing ?? []), ...addLabels]),
  );
  return { assignees, labels: replacing, addLabels, removeLabels, lacksLabels, milestone, epic, original };
}

/** Fails with 400 for a confidential epic on an issue that is not. */
export function checkEpic(epic: { confidential: boolean } | null | undefined, confidential: boolean): void {
  if (!epic?.confidential || confidential) return;
  throw invalid({
    epic: [
      'Cannot assign a confidential epic to a non-confidential issue. Make the issue confidential and try again',
    ],
  });
}

/** Users whom the text mentions and `before` did not, and who see the issue, each once; without the actor. */
export const findMentioned = (
  { db, services, actor }: ActorContext,
  project: AuthorizedProject,
  text: string | null | undefined,
  issue: { id?: number; confidential: boolean; author_id: number },
  before: string | null = null,
): Promise<MentionTodo[]> =>
  findMentionTodos(db, services.database.points, {
    actor,
    target: {
      ...newIssueNoteable(project, { confidential: issue.confidential, authorId: issue.author_id }),
      id: issue.id,
    },
    text,
    before,
  });
