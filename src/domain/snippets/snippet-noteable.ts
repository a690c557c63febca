/** Snippets of projects as noteables. */
import type { AuthorizedProject } from '../../kernel/access/find.ts';
import { PRIVATE, PUBLIC } from '../../kernel/policy/roles.ts';
import type { Noteable, NoteableKind } from '../conversation/index.ts';
import { isReadByAnybody } from '../spam/index.ts';
import type { SnippetRow } from './queries.ts';
import { seesInProject } from './snippet-policy.ts';

export const snippetKind: NoteableKind = {
  name: 'snippet',
  type: 'Snippet',
  column: 'snippet_id',
  awardColumn: 'snippet_id',
  isResolvable: false,
  hasTodos: false,
  isPublic: ({ project, visibility }) =>
    project !== undefined && visibility === PUBLIC && isReadByAnybody(project, 'read_project_snippets'),
  readers:
    async (_db, { visibility = PRIVATE }) =>
    (person, { project }) =>
      project?.may('read_project_snippets') === true && seesInProject(person, { visibility }, project.role),
};

export const snippetNoteable = (project: AuthorizedProject, snippet: SnippetRow): Noteable => ({
  kind: snippetKind,
  id: snippet.id,
  sha: undefined,
  iid: undefined,
  title: snippet.title,
  authorId: snippet.author_id,
  confidential: false,
  locked: false,
  visibility: snippet.visibility,
  project,
  group: undefined,
});
