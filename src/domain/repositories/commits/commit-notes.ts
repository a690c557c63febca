/** Commits as noteables: their threads over the API. */
import { sql } from 'kysely';
import Type from 'typebox';
import { onProject } from '../../../kernel/access/access.ts';
import { forbidden, notFound } from '../../../platform/failure.ts';
import { findCommit } from '../../../platform/git/refs.ts';
import {
  conversationEndpoints,
  diffPosition,
  type NoteableDefinition,
  type NoteableResource,
  plainQuickActions,
  projectOf,
  textRules,
} from '../../conversation/index.ts';
import { projectRepository } from '../store/containers.ts';
import { commitKind, commitNoteable } from './commit-noteable.ts';

/** The commit, or the last one of the branch or tag. */
export const findNoteable: NoteableResource['find'] = async ({ services }, home, named) => {
  const project = projectOf(home);
  if (!project.may('read_code')) throw forbidden();
  const commit = await services.repositories.read(
    projectRepository(project.id),
    project.row.repository_storage,
    (git) => findCommit(git, String(named)),
  );
  if (!commit) throw notFound('Commit');
  const [title = ''] = commit.message.split('\n', 1);
  return commitNoteable(project, { oid: commit.oid, title });
};

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
  place: async (_context, commit, sent) => diffPosition(commit, sent),
  readableNotes: (project) => (project.may('read_code') ? sql`t.commit_sha is not null` : sql`false`),
};
