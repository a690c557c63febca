/** Branches, in lists and alone (facts: Resource entities, Branch). */
import Type from 'typebox';
import { stringEnum } from '../../../platform/http/parameters/schema.ts';
import { CommitRecord } from '../commits/records.ts';
import { newRef, revision } from '../commits/revision-schema.ts';
import { refListFields } from './pages.ts';

export const BranchRecord = Type.Object({
  name: Type.String(),
  commit: CommitRecord,
  merged: Type.Boolean(),
  protected: Type.Boolean(),
  developers_can_push: Type.Boolean(),
  developers_can_merge: Type.Boolean(),
  can_push: Type.Boolean(),
  default: Type.Boolean(),
  web_url: Type.String(),
});

export const BranchListInput = Type.Object({
  ...refListFields,
  regex: Type.Optional(Type.String({ maxLength: 255, description: 'Regular expression for the name.' })),
  sort: Type.Optional(stringEnum(['name_asc', 'updated_asc', 'updated_desc'], { default: 'name_asc' })),
});

export const NewBranchInput = Type.Object({
  branch: Type.String({ minLength: 1, ...newRef }),
  ref: Type.String({ minLength: 1, ...revision, description: 'A branch, a tag or a commit.' }),
});

export const BranchProtectionInput = Type.Object({
  branch: Type.String(),
  developers_can_push: Type.Optional(Type.Boolean()),
  developers_can_merge: Type.Optional(Type.Boolean()),
});
