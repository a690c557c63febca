/** What a custom role may be. Pure. */
import { customAbilityNames } from '../../../kernel/policy/custom-abilities.ts';
import type { ValidationMessages } from '../../../platform/failure.ts';
import { type NewMemberRole, type PublicAbility, publicNames } from './schema.ts';

/** The abilities that are requested, and what is wrong with them: those that cannot be obeyed, or that there is none. */
export function requestedAbilities(input: NewMemberRole): {
  abilities: PublicAbility[];
  problems: ValidationMessages | undefined;
} {
  const abilities = publicNames.filter((name) => input[name] === true);
  const supported: readonly string[] = customAbilityNames;
  const unknown = abilities.filter((name) => !supported.includes(name));
  if (unknown.length > 0)
    return { abilities, problems: Object.fromEntries(unknown.map((name) => [name, ['is not supported']])) };
  if (abilities.length === 0)
    return { abilities, problems: { base: ['At least one ability has to be enabled for the role'] } };
  return { abilities, problems: undefined };
}
