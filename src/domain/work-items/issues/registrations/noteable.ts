/** Issues as noteables: their notes over the API, quick actions, and references in system notes. */
import { onProject } from '../../../../kernel/access/access.ts';
import { forbidden } from '../../../../platform/failure.ts';
import { integerId } from '../../../../platform/http/parameters/schema.ts';
import {
  conversationEndpoints,
  leaves,
  type NoteableDefinition,
  type NoteableResource,
  projectOf,
  stays,
} from '../../../conversation/index.ts';
import { readCommands } from '../../quick-actions/read-commands.ts';
import { applyEffects } from '../../quick-actions/work-command-effects.ts';
import { findIssue } from '../records/find-queries.ts';
import { issueKind, issueNoteable } from '../records/issue-noteable.ts';
import { updateIssue } from '../writing/actions.ts';
import { issueState } from '../writing/issue-commands.ts';
import { readableIssues } from './queries.ts';

const issue: Pick<NoteableResource, 'noteable' | 'find'> = {
  noteable: integerId({ description: 'The number of the issue in the project.' }),
  find: async ({ db, actor }, home, named) => {
    const project = projectOf(home);
    if (!project.may('read_issues')) throw forbidden();
    return issueNoteable(project, await findIssue(db, project, actor, Number(named)));
  },
};

export const issueConversation = conversationEndpoints({
  ...issue,
  path: '/projects/:id/issues/:noteable_id',
  noun: 'an issue',
  read: onProject('read_issues'),
  write: onProject('create_notes'),
  notes: true,
  awards: issue,
  internal: true,
  resolvable: true,
  positioned: false,
});

export const issueDefinition: NoteableDefinition = {
  kind: issueKind,
  async quickActions(context, noteable, text) {
    const { db, actor } = context;
    const { project, group, authorId, iid = 0 } = noteable;
    if (!project) return undefined;
    const now = await issueState(context, await findIssue(db, project, actor, iid));
    const read = await readCommands(context, { kind: 'issue', project, group, authorId, now }, text);
    return (
      read && {
        ...read,
        async apply() {
          if (Object.keys(read.changes).length > 0)
            await updateIssue(context, project, await findIssue(db, project, actor, iid), read.changes);
          await applyEffects(context, noteable, read.effects.filter(stays));
        },
        leave: () => applyEffects(context, noteable, read.effects.filter(leaves)),
      }
    );
  },
  crossReferences: { sign: '#', readable: readableIssues },
};
