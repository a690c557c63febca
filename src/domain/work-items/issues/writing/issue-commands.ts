/** Quick actions in the description of an issue that is created or updated: parameters of the request. */

import type { AuthorizedProject } from '../../../../kernel/access/find.ts';
import type { ActorContext } from '../../../conversation/index.ts';
import type { IssueChanges } from '../../changes/issue-changes.ts';
import { atCreation, readCommands, type Spoken } from '../../quick-actions/read-commands.ts';
import type { WorkEffect } from '../../quick-actions/work-command-terms.ts';
import type { IssueRow } from '../records/issue-rows.ts';
import { selectAssigneeIds } from '../records/noteable-queries.ts';

/** The request with the changes of its description's commands, and their effects. */
export async function parseQuickActions<T extends IssueChanges>(
  context: ActorContext,
  project: AuthorizedProject,
  issue: IssueRow | typeof atCreation,
  request: T,
): Promise<{ changes: T & IssueChanges; effects: readonly WorkEffect[] }> {
  const { description } = request;
  if (!description?.includes('/')) return { changes: request, effects: [] };
  const isNew = !('id' in issue);
  const spoken: Spoken = {
    kind: 'issue',
    project,
    group: undefined,
    authorId: isNew ? context.actor.id : issue.author_id,
    now: isNew
      ? { ...atCreation, assigneeIds: request.assignee_ids ?? [] }
      : await issueState(context, issue, request),
  };
  const read = await readCommands(context, spoken, description);
  if (!read) return { changes: request, effects: [] };
  const { changes } = read;
  return {
    changes: {
      ...request,
      ...changes,
      description: read.text,
      add_labels: [...(request.add_labels ?? []), ...(changes.add_labels ?? [])],
      remove_labels: [...(request.remove_labels ?? []), ...(changes.remove_labels ?? [])],
    },
    effects: read.effects,
  };
}

/** The state of the issue for the commands. */
export async function issueState(
  { db }: ActorContext,
  issue: IssueRow,
  request: Pick<IssueChanges, 'assignee_ids'> = {},
): Promise<Spoken['now']> {
  const assignees =
    request.assignee_ids ?? (await selectAssigneeIds(db, issue.id)).map(({ user_id }) => user_id);
  return {
    state: issue.state,
    confidential: issue.confidential,
    locked: issue.discussion_locked === true,
    assigneeIds: assignees,
    issueType: issue.issue_type,
    stage: issue.moved_to_id === null && issue.promoted_to_epic_id === null ? 'here' : 'gone',
  };
}
