/** Comments on commits (facts: Repository, files, commits, branches, tags). */
import { onProject } from '../../core/access/access.ts';
import { type Endpoint, endpoint, listing } from '../../core/endpoint.ts';
import { mapPage } from '../../platform/db/page.ts';
import { createComment } from './comment-actions.ts';
import { presentComment } from './comment-present.ts';
import { selectCommitComments } from './comment-queries.ts';
import { CommentInput, CommitNote } from './comment-schema.ts';
import { readCommit } from './commit-queries.ts';
import { ShaInput } from './commit-schema.ts';

const path = '/projects/:id/repository/commits/:sha/comments';

export const commentEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path,
    summary: 'Comments on a commit.',
    access: onProject('read_code'),
    page: 'offset',
    input: ShaInput,
    item: CommitNote,
    handle: async ({ db, services, settings, subject, input, page }) => {
      const sha = await readCommit(services, subject, input.sha, async (_git, { oid }) => oid);
      const around = { baseUrl: services.baseUrl(), settings };
      return mapPage(await selectCommitComments(db, subject, sha, page), (row) =>
        presentComment(around, row),
      );
    },
  }),
  endpoint({
    method: 'POST',
    path,
    summary: 'Comments on a commit, or on a line of it.',
    access: onProject('comment_on_commits'),
    input: CommentInput,
    reply: CommitNote,
    handle: async ({ db, services, settings, actor, subject, input }) => {
      const sha = await readCommit(services, subject, input.sha, async (_git, { oid }) => oid);
      const row = await createComment(db, actor, subject, sha, input);
      return presentComment({ baseUrl: services.baseUrl(), settings }, row);
    },
  }),
];
