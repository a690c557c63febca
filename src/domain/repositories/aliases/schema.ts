/** Aliases of projects in requests and in responses (facts: 2.30, ProjectAlias). */
import Type, { type Static } from 'typebox';

export const AliasRecord = Type.Object({
  id: Type.Integer(),
  project_id: Type.Integer(),
  name: Type.String(),
});
export type AliasRecord = Static<typeof AliasRecord>;

export const OneAlias = Type.Object({ name: Type.String({ maxLength: 255 }) });
export const CreateAlias = Type.Object({
  project_id: Type.Union([Type.Integer({ minimum: 1 }), Type.String({ maxLength: 1_000 })], {
    description: 'The id of the project, or its full path.',
  }),
  name: Type.String({ maxLength: 255, description: 'Its address is `<name>.git`.' }),
});
