/** A comparison of two commits (facts: Resource entities, Compare). */
import Type, { type Static } from 'typebox';
import { integerId } from '../../../platform/http/parameters/schema.ts';
import { CommitRecord, NullableCommit } from '../commits/records.ts';
import { revision } from '../commits/revision-schema.ts';
import { DiffRecord } from '../commits/schema.ts';

export const Compare = Type.Object({
  commit: NullableCommit,
  commits: Type.Array(CommitRecord),
  diffs: Type.Array(DiffRecord),
  compare_timeout: Type.Boolean({ description: 'Whether something is left out, because there is too much.' }),
  compare_same_ref: Type.Boolean(),
  web_url: Type.String(),
});
export type Compare = Static<typeof Compare>;

export const CompareInput = Type.Object({
  from: Type.String({ ...revision, description: 'Branch, tag or commit.' }),
  to: Type.String({ ...revision, description: 'Branch, tag or commit.' }),
  from_project_id: Type.Optional(
    integerId({ description: 'The project of `from`, a relative of this one.' }),
  ),
  straight: Type.Optional(
    Type.Boolean({ default: false, description: 'With `from` itself, not with what both came from.' }),
  ),
  unidiff: Type.Optional(Type.Boolean({ description: 'With the names before the hunks.' })),
});
export type CompareInput = Static<typeof CompareInput>;

export const MergeBaseInput = Type.Object({
  refs: Type.Array(Type.String(revision), { maxItems: 50, ruled: { minItems: 2 } }),
});
