/** Resolves references in a request for an issue: assignees, labels, milestone, epic and original. */
import type { AuthorizedProject } from '../../../../kernel/access/find.ts';
import { forbidden, invalid } from '../../../../platform/failure.ts';
import { type ActorContext, findMentionTodos, type MentionTodo } from '../../../conversation/index.ts';
import type { IssueChanges, NamedUser, Referenced } from '../../changes/issue-changes.ts';
import { type NamedReferences, readersNamed, resolveNamed } from '../../changes/named-references.ts';
import { type FoundEpic, findEpicById } from '../../epics/records/find-queries.ts';
import { findIssueById } from '../records/find-queries.ts';
import { newIssueNoteable } from '../records/issue-noteable.ts';

export type ResolvedReferences = NamedReferences & {
  assignees: NamedUser[] | undefined;
  epic: (Referenced & { confidential: boolean }) | null | undefined;
  original: Referenced | null | undefined;
};

/** Reference to an issue: its number in its own project, else with the project's path. */
export const issueReference = (
  from: { id: number },
  project: { id: number; fullPath: string },
  { iid }: { iid: number },
): string => (from.id === project.id ? `#${iid}` : `${project.fullPath}#${iid}`);

/** The epic, with its reference from everywhere. */
export const epicReference = ({ epic, group }: FoundEpic) => ({
  id: epic.id,
  reference: `${group.row.full_path}&${epic.iid}`,
  confidential: epic.confidential,
});

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
  const author = { confidential: false, authorId: context.actor.id };
  const [assignees, named, epic, original] = await Promise.all([
    changes.assignee_ids && readersNamed(context, newIssueNoteable(project, author), changes.assignee_ids),
    resolveNamed(context, project, changes),
    resolveEpic(context, changes.epic_id),
    findOriginal(context, project, changes.duplicated_to_id),
  ]);
  return { assignees, ...named, epic, original };
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
