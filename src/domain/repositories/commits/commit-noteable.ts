/** Commits as noteables. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Noteable, NoteableKind } from '../../conversation/index.ts';
import { isReadByAnybody } from '../../spam/index.ts';

export const commitKind: NoteableKind = {
  name: 'commit',
  type: 'Commit',
  column: 'commit_sha',
  isResolvable: false,
  hasTodos: true,
  isPublic: ({ project }) => project !== undefined && isReadByAnybody(project, 'read_code'),
  readers:
    async () =>
    (_person, { project }) =>
      project?.may('read_code') ?? false,
};

export const commitNoteable = (
  project: AuthorizedProject,
  commit: { oid: string; title: string },
): Noteable => ({
  kind: commitKind,
  id: undefined,
  sha: commit.oid,
  iid: undefined,
  title: commit.title,
  authorId: undefined,
  confidential: false,
  locked: false,
  project,
  group: undefined,
});
