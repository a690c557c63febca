/** Tags, in lists and alone (facts: Resource entities, Tag). */
import Type from 'typebox';
import { nullable, stringEnum } from '../../../platform/http/parameters/schema.ts';
import { NullableCommit } from '../commits/records.ts';
import { newRef, revision } from '../commits/revision-schema.ts';
import { refListFields } from './pages.ts';

export const TagRecord = Type.Object({
  name: Type.String(),
  message: nullable(Type.String()),
  target: Type.String(),
  commit: NullableCommit,
  release: nullable(Type.Object({ tag_name: Type.String(), description: nullable(Type.String()) })),
  protected: Type.Boolean(),
  created_at: nullable(Type.String()),
});

export const TagListInput = Type.Object({
  ...refListFields,
  order_by: Type.Optional(stringEnum(['name', 'updated', 'version'], { default: 'updated' })),
  sort: Type.Optional(stringEnum(['asc', 'desc'], { default: 'desc' })),
});

export const NewTagInput = Type.Object({
  tag_name: Type.String({ minLength: 1, ...newRef }),
  ref: Type.String({ minLength: 1, ...revision, description: 'A branch, another tag or a commit.' }),
  message: Type.Optional(Type.String({ description: 'Makes the tag an annotated one.' })),
});
