/** Protection rules of packages in requests and responses (facts: Packages). */
import Type, { type Static } from 'typebox';
import { levelFields, levelInputs } from '../../../kernel/protection/levels.ts';
import {
  atLeastOne,
  integerId,
  parameterRules,
  stringEnum,
} from '../../../platform/http/parameters/schema.ts';

const fields = {
  package_name_pattern: Type.String({
    minLength: 1,
    maxLength: 255,
    description: '`*` stands for any characters.',
  }),
  package_type: stringEnum(['conan', 'generic', 'helm', 'maven', 'npm', 'nuget', 'pypi']),
};
const levels = levelInputs(['owner', 'admin']);
const one = { package_protection_rule_id: integerId() };

export const OneRule = Type.Object(one);
export const NewRule = Type.Object({ ...fields, ...levels });
const changes = {
  package_name_pattern: Type.Optional(fields.package_name_pattern),
  package_type: Type.Optional(fields.package_type),
  ...levels,
};
export const RuleUpdate = Type.Object(
  { ...one, ...changes },
  parameterRules(atLeastOne(Object.keys(changes))),
);
export type RuleChanges = Omit<Static<typeof RuleUpdate>, 'package_protection_rule_id'>;

export const PackageProtectionRule = Type.Object({
  id: Type.Integer(),
  project_id: Type.Integer(),
  package_name_pattern: Type.String(),
  package_type: Type.String(),
  ...levelFields,
});
