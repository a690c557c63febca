/** Issues as what mentions others in its texts (facts: References and closing). */
import type { Listener } from '../../../../platform/outbox/outbox.ts';
import {
  changesTexts,
  commentListeners,
  type MentioningKind,
  mayName,
  projectWriter,
  writtenTexts,
} from '../../../conversation/index.ts';
import type { IssueRow } from '../records/issue-rows.ts';
import { selectAssigneeIds } from '../records/noteable-queries.ts';
import { seesIssue } from '../records/visibility-queries.ts';
import { selectIssueRows } from '../registrations/queries.ts';

export const MENTION_NAMED = 'issues.mention_named';

export const mentioningIssues: MentioningKind<IssueRow> = {
  type: 'Issue',
  id: 'issue_id',
  find: async (db, id) => (await selectIssueRows(db, [id]))[0],
  async reads({ database }, { project, actor }, row) {
    if (!project.may('read_issues') || row.project_id !== project.id) return false;
    const assignees = row.confidential ? await selectAssigneeIds(database.background, row.id) : [];
    return seesIssue(
      project,
      actor,
      row,
      assignees.map(({ user_id }) => user_id),
    );
  },
  writer: projectWriter,
  texts: async (_services, _writer, row, fact) => writtenTexts(row, fact),
  source: async (_services, { project }, { id, iid }) => ({
    home: { project, group: undefined },
    columns: { mentioned_in_issue_id: id },
    noteOn: (noteable) => {
      const path = noteable.project?.id === project.id ? '' : project.fullPath;
      return { action: 'cross_reference', body: `mentioned in issue ${path}#${iid}` };
    },
    has: (noteable) => noteable.kind.type === 'Issue' && noteable.id === id,
  }),
};

/** Facts after which an issue may name something new. */
export const mentionListeners: readonly Listener[] = [
  { fact: 'issue_created', task: MENTION_NAMED, when: mayName },
  ...['issue_updated', 'issue_closed', 'issue_reopened'].map((fact) => ({
    fact,
    task: MENTION_NAMED,
    when: changesTexts,
  })),
  ...commentListeners(mentioningIssues, MENTION_NAMED),
];
