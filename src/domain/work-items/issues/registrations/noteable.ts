/** Issues as noteables: their notes over the API, quick actions, and references in system notes. */
import { onProject } from '../../../../kernel/access/access.ts';
import type { Db } from '../../../../platform/db/database.ts';
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
import type { WorkEffect } from '../../quick-actions/work-command-terms.ts';
import { findIssue, readIssue } from '../records/find-queries.ts';
import { issueKind, issueNoteable } from '../records/issue-noteable.ts';
import { planUpdate, writeUpdate } from '../writing/actions.ts';
import { issueState } from '../writing/issue-commands.ts';
import { findNamedIssues } from '../writing/named-issues.ts';
import { readableIssues } from './queries.ts';
import { readsIssueOfNote, readsMentioningIssue } from './search-queries.ts';

const issue: Pick<NoteableResource, 'noteable' | 'find'> = {
  noteable: integerId({ description: 'The number of the issue in the project.' }),
  find: async (context, home, named) => {
    const project = projectOf(home);
    if (!project.may('read_issues')) throw forbidden();
    return issueNoteable(project, await readIssue(context, project, context.actor, Number(named)));
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
    const row = await findIssue(db, project, actor, iid);
    const now = await issueState(context, row);
    const read = await readCommands(context, { kind: 'issue', project, group, authorId, now }, text);
    if (!read) return undefined;
    const update =
      Object.keys(read.changes).length > 0
        ? await planUpdate(context, project, row, read.changes)
        : undefined;
    const apply = (tx: Db, effects: readonly WorkEffect[]) =>
      applyEffects({ ...context, db: tx }, noteable, effects);
    return {
      ...read,
      async apply(tx) {
        if (update) await writeUpdate(context, tx, project, row.id, update);
        await apply(tx, read.effects.filter(stays));
      },
      leave: (tx) => apply(tx, read.effects.filter(leaves)),
    };
  },
  crossReferences: { sign: '#', readable: readableIssues },
  named: {
    kind: 'issue',
    find: ({ db, services, actor }, home, named) => {
      const numbered = named.map(({ path, name }) => ({ path, iid: Number(name) }));
      return findNamedIssues({ db, points: services.database.points }, actor, home, numbered, 'create_notes');
    },
  },
  mentions: { column: 'mentioned_in_issue_id', isReadable: readsMentioningIssue },
  readableNotes: readsIssueOfNote,
};
