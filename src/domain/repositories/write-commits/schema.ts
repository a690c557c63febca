/** The fields for making a commit, through any of the endpoints that make one. */
import Type, { type Static } from 'typebox';
import { MAX_NAME_BYTES } from '../../../platform/git/names.ts';
import { atMostOne, parameterRules, stringEnum } from '../../../platform/http/parameters/schema.ts';
import { existingBranch, revision } from '../commits/revision-schema.ts';

/** Bytes of a body with files, which base64 makes a third longer. */
export const MAX_CONTENT_BYTES = 32 * 1_048_576;

const encoding = Type.Optional(stringEnum(['text', 'base64'], { default: 'text' }));

export const CommitAction = Type.Object(
  {
    action: stringEnum(['create', 'delete', 'move', 'update', 'chmod']),
    file_path: Type.Optional(Type.String({ description: 'Path inside the repository.' })),
    previous_path: Type.Optional(Type.String({ description: 'Where a moved file was.' })),
    content: Type.Optional(Type.String()),
    encoding,
    last_commit_id: Type.Optional(
      Type.String({ description: 'The last known commit of the file: another is refused.' }),
    ),
    execute_filemode: Type.Optional(Type.Boolean({ description: 'Whether the file is a program.' })),
  },
  { ruled: { required: ['action', 'file_path'] } },
);
/** Absent and undefined are the same. */
type Optional<T> = { [Name in keyof T]?: T[Name] | undefined };
export type CommitAction = Optional<Static<typeof CommitAction>> &
  Pick<Static<typeof CommitAction>, 'action'>;

/** Author and branch of any change. */
const commitFields = {
  branch: Type.String({
    minLength: 1,
    maxLength: MAX_NAME_BYTES,
    ...existingBranch,
    description: 'A new one where `start_branch` or `start_sha` says what it starts from.',
  }),
  commit_message: Type.String({ minLength: 1, maxLength: 1_048_576 }),
  start_branch: Type.Optional(
    Type.String({
      ...existingBranch,
      maxLength: MAX_NAME_BYTES,
      description: 'The branch that a new one starts from.',
    }),
  ),
  author_email: Type.Optional(Type.String({ maxLength: 255 })),
  author_name: Type.Optional(Type.String({ maxLength: 255 })),
};

const MAX_ACTIONS = 10_000;

export const CommitInput = Type.Object(
  {
    ...commitFields,
    actions: Type.Array(CommitAction, { maxItems: MAX_ACTIONS }),
    start_sha: Type.Optional(
      Type.String({
        ...revision,
        maxLength: MAX_NAME_BYTES,
        description: 'The commit that a new branch starts from.',
      }),
    ),
    start_project: Type.Optional(Type.String({ description: 'Only the project itself.' })),
    stats: Type.Optional(Type.Boolean({ default: true, description: 'With the count of changed lines.' })),
    force: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Whether the start takes the place of what the branch had.',
      }),
    ),
  },
  parameterRules(atMostOne('start_branch', 'start_sha')),
);

const fileFields = {
  file_path: Type.String(),
  ...commitFields,
  last_commit_id: Type.Optional(Type.String()),
};
export const FileInput = Type.Object({
  ...fileFields,
  content: Type.String(),
  encoding,
  execute_filemode: Type.Optional(Type.Boolean()),
});
export const FileDeletion = Type.Object(fileFields);

export const PickInput = Type.Object({
  sha: Type.String(),
  branch: Type.String({ minLength: 1, ...existingBranch }),
  dry_run: Type.Optional(Type.Boolean({ default: false, description: 'Only tell whether it can be done.' })),
  message: Type.Optional(Type.String()),
});

/** The input of any of the schemas above that name files. */
export type CommitWish = Optional<Omit<Static<typeof CommitInput>, 'actions'>> & {
  branch: string;
  commit_message: string;
  actions: readonly CommitAction[];
};
