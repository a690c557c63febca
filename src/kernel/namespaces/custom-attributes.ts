/** Custom attributes: names and values that administrators attach to users, groups and projects. */
import Type, { type Static } from 'typebox';

export const CustomAttribute = Type.Object({ key: Type.String(), value: Type.String() });
export type CustomAttribute = Static<typeof CustomAttribute>;

/** The kind of owner, by its column. */
export type AttributeOwner = 'user_id' | 'project_id' | 'namespace_id';
