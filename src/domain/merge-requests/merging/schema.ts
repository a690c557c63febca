/** Fields for merging (facts: Merging). */
import Type from 'typebox';
import { deprecated } from '../../../platform/http/parameters/schema.ts';
import { OneMergeRequest } from '../changes/schema.ts';

/** Characters of a message: a commit of 1 MiB could not be read again. */
const MAX_MESSAGE_LENGTH = 200_000;

const message = () => Type.Optional(Type.String({ maxLength: MAX_MESSAGE_LENGTH }));

export const MergeInput = Type.Object({
  ...OneMergeRequest.properties,
  merge_commit_message: message(),
  squash_commit_message: message(),
  should_remove_source_branch: Type.Optional(Type.Boolean()),
  auto_merge: Type.Optional(Type.Boolean({ description: 'Merges it when all checks pass.' })),
  merge_when_pipeline_succeeds: Type.Optional(deprecated(Type.Boolean(), 'auto_merge')),
  sha: Type.Optional(Type.String({ description: 'Refused where the source has another newest commit.' })),
  squash: Type.Optional(Type.Boolean()),
  skip_merge_train: Type.Optional(Type.Boolean({ description: 'There are no merge trains.' })),
});
