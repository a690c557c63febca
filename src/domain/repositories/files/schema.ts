/**
 * Files of a repository as the API shows them: the file, and the commits of its lines (facts: Repository
 * file).
 */
import Type, { type Static } from 'typebox';

const described = {
  file_name: Type.String(),
  file_path: Type.String(),
  size: Type.Integer(),
  encoding: Type.String(),
  content_sha256: Type.String(),
  ref: Type.String(),
  blob_id: Type.String(),
  commit_id: Type.String(),
  last_commit_id: Type.String(),
  execute_filemode: Type.Boolean(),
};
export const FileRecord = Type.Object({ ...described, content: Type.String() });
export type FileRecord = Static<typeof FileRecord>;
/** All properties but the content. */
export type FileDescription = Omit<FileRecord, 'content'>;

export const BlameRecord = Type.Object({
  commit: Type.Object({
    id: Type.String(),
    parent_ids: Type.Array(Type.String()),
    message: Type.String(),
    authored_date: Type.String(),
    author_name: Type.String(),
    author_email: Type.String(),
    committed_date: Type.String(),
    committer_name: Type.String(),
    committer_email: Type.String(),
  }),
  lines: Type.Array(Type.String()),
});
export type BlameRecord = Static<typeof BlameRecord>;

const line = Type.Integer({ minimum: 1, maximum: 2_147_483_647 });

/** The path of a file, and its revision. */
export const fileFields = {
  file_path: Type.String({ maxLength: 4_096, description: 'Path of the file, URL-encoded.' }),
  ref: Type.Optional(Type.String({ description: 'Branch, tag or commit; the default branch unless given.' })),
};
export const BlameInput = Type.Object({
  ...fileFields,
  range: Type.Optional(Type.Object({ start: line, end: line })),
});
