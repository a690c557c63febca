/** Commits as noteables: their threads over the API. */

import { sql } from 'kysely';
import Type from 'typebox';
import { mayInProject } from '../../../kernel/access/ability-queries.ts';
import { onProject } from '../../../kernel/access/access.ts';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { forbidden, notFound } from '../../../platform/failure.ts';
import type { Commit } from '../../../platform/git/parse.ts';
import { findCommit } from '../../../platform/git/refs.ts';
import {
  conversationEndpoints,
  diffPosition,
  inNamedProjects,
  type Noteable,
  type NoteableDefinition,
  type NoteableResource,
  plainQuickActions,
  projectOf,
  textRules,
} from '../../conversation/index.ts';
import { commitKind, commitNoteable } from './commit-noteable.ts';
import { findNamedCommits } from './named-commits.ts';
import { readRepository } from './queries.ts';

/** The commit, or the last one of the branch or tag. */
export const findNoteable: NoteableResource['find'] = async ({ services }, home, named) => {
  const project = projectOf(home);
  if (!project.may('read_code')) throw forbidden();
  const commit = await readRepository(services, project, (git) => findCommit(git, String(named)));
  if (!commit) throw notFound('Commit');
  return noteableOf(project, commit);
};

function noteableOf(project: AuthorizedProject, { oid, message }: Commit): Noteable {
  const [title = ''] = message.split('\n', 1);
  return commitNoteable(project, { oid, title });
}

export const commitConversation = conversationEndpoints({
  path: '/projects/:id/repository/commits/:noteable_id',
  noun: 'a commit',
  noteable: Type.String({ maxLength: 255, description: 'A commit, or the name of a branch or tag.' }),
  read: onProject('read_code'),
  write: onProject('comment_on_commits'),
  notes: false,
  awards: undefined,
  internal: false,
  resolvable: false,
  positioned: true,
  find: findNoteable,
});

export const commitDefinition: NoteableDefinition = {
  kind: commitKind,
  quickActions: plainQuickActions(textRules),
  named: {
    kind: 'commit',
    async find({ services, actor }, home, named) {
      const { points } = services.database;
      const placed = await inNamedProjects(points, actor, 'comment_on_commits', home, named);
      const found = await findNamedCommits(services, placed);
      const each = new Map(found.map((one) => [`${one.project.id} ${one.commit.oid}`, one]));
      return [...each.values()].map(({ project, commit }) => noteableOf(project, commit));
    },
  },
  mentions: {
    column: 'mentioned_in_project_id',
    isReadable: (caller) => mayInProject('read_code', caller, sql`notes.mentioned_in_project_id`),
  },
  place: async (_context, commit, sent) => diffPosition(commit, sent),
  readableNotes: (project) => (project.may('read_code') ? sql`t.commit_sha is not null` : sql`false`),
};
