/** Writing single files: each a commit of one action (facts: Repository, files, commits). */
import Type from 'typebox';
import { type Endpoint, endpoint, noContent, Reply } from '../../../kernel/api/endpoint.ts';
import { lastCommitOf } from '../../../platform/git/history/last-commit.ts';
import { peelToCommit } from '../../../platform/git/refs.ts';
import { committedAt } from '../refs/present.ts';
import { commitAccess, createCommit } from '../write-commits/actions.ts';
import { filePath } from '../write-commits/rules.ts';
import { FileDeletion, FileInput, MAX_CONTENT_BYTES } from '../write-commits/schema.ts';

const path = '/projects/:id/repository/files/:file_path';
const FileRecord = Type.Object({ file_path: Type.String(), branch: Type.String() });

/** POST or PUT of one file's content. */
const fileWrite = (method: 'POST' | 'PUT', action: 'create' | 'update', summary: string): Endpoint =>
  endpoint({
    method,
    path,
    summary,
    access: commitAccess,
    input: FileInput,
    bodyLimit: MAX_CONTENT_BYTES,
    reply: FileRecord,
    handle: async (context) => {
      const { file_path, content, encoding, last_commit_id, execute_filemode, ...wish } = context.input;
      const file = { action, file_path, content, encoding, last_commit_id, execute_filemode };
      await createCommit(context, { ...wish, actions: [file] });
      return { file_path, branch: wish.branch };
    },
  });

export const fileWriteEndpoints: Endpoint[] = [
  fileWrite('POST', 'create', 'Create a file.'),
  fileWrite('PUT', 'update', 'Change a file.'),
  endpoint({
    method: 'DELETE',
    path,
    summary: 'Delete a file.',
    also: [422],
    access: commitAccess,
    input: FileDeletion,
    reply: noContent,
    handle: async (context) => {
      const { file_path, last_commit_id, ...wish } = context.input;
      const deletion = { action: 'delete' as const, file_path, last_commit_id };
      await createCommit(context, { ...wish, actions: [deletion] }, async (git, start) => {
        const changed = start && (await lastCommitOf(git, start, filePath(file_path)));
        const last = changed === undefined ? undefined : await peelToCommit(git, changed);
        if (last) context.unmodified(committedAt(last));
      });
      return new Reply(204);
    },
  }),
];
