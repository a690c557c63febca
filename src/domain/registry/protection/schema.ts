/** Protection rules of images and tags in requests and responses (facts: Container registry). */
import Type, { type Static } from 'typebox';
import { levelFields, levelInputs, levelNames } from '../../../kernel/protection/levels.ts';
import {
  atLeastOne,
  integerId,
  nullable,
  parameterRules,
  stringEnum,
} from '../../../platform/http/parameters/schema.ts';

const one = { protection_rule_id: integerId() };
export const OneRule = Type.Object(one);

const path = Type.String({
  minLength: 1,
  maxLength: 255,
  ruled: { format: 'image-path-pattern' },
  description: "The project's path, or what is below it; `*` stands for any characters.",
});
export const NewRepositoryRule = Type.Object({ repository_path_pattern: path, ...levelInputs() });
const repositoryChanges = { repository_path_pattern: Type.Optional(path), ...levelInputs() };
export const RepositoryRuleUpdate = Type.Object(
  { ...one, ...repositoryChanges },
  parameterRules(atLeastOne(Object.keys(repositoryChanges))),
);
export type RepositoryRuleChanges = Omit<Static<typeof RepositoryRuleUpdate>, 'protection_rule_id'>;

export const RepositoryProtectionRule = Type.Object({
  id: Type.Integer(),
  project_id: Type.Integer(),
  repository_path_pattern: Type.String(),
  ...levelFields,
});

const tag = Type.String({
  maxLength: 100,
  ruled: { format: 're2' },
  description: 'In the syntax of RE2.',
});
const level = nullable(
  stringEnum(levelNames, { description: 'Null for both levels: tags that match never change.' }),
);
export const NewTagRule = Type.Object({
  tag_name_pattern: tag,
  minimum_access_level_for_push: level,
  minimum_access_level_for_delete: level,
});
export type NewTagRule = Static<typeof NewTagRule>;
const tagChanges = { tag_name_pattern: Type.Optional(tag), ...levelInputs() };
export const TagRuleUpdate = Type.Object(
  { ...one, ...tagChanges },
  parameterRules(atLeastOne(Object.keys(tagChanges))),
);
export type TagRuleChanges = Omit<Static<typeof TagRuleUpdate>, 'protection_rule_id'>;

export const TagProtectionRule = Type.Object({
  id: Type.Integer(),
  project_id: Type.Integer(),
  tag_name_pattern: Type.String(),
  ...levelFields,
});
