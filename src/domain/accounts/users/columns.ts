/** Maps given parameters to columns of a user; no other column can be set by a request. */
import type { AuthorizedGroup } from '../../../kernel/access/find.ts';
import { now } from '../../../platform/clock.ts';
import type { Json } from '../../../platform/db/rows.ts';
import { invalid } from '../../../platform/failure.ts';
import type { UserChanges } from './inputs.ts';

/** Columns with the name and value of their parameter. */
const plain = [
  'location',
  'organization',
  'pronouns',
  'theme_id',
  'color_scheme_id',
  'projects_limit',
  'admin',
  'auditor',
  'external',
  'can_create_group',
  'note',
  'private_profile',
] as const;

/** Columns that are not nullable: null is stored as an empty text. */
const texts = ['bio', 'linkedin', 'twitter', 'discord', 'github', 'website_url'] as const;

const preferenceNames = ['view_diffs_file_by_file', 'policy_advanced_editor'] as const;

type ProfileInput = Omit<UserChanges, 'email' | 'name' | 'username' | 'password' | 'skip_reconfirmation'>;

type PlainColumns = { [Name in (typeof plain)[number]]?: Exclude<UserChanges[Name], undefined> };
type TextColumns = { [Name in (typeof texts)[number]]?: string };
type ProfileColumns = PlainColumns &
  TextColumns & { public_email?: string | null; commit_email?: string | null; preferences?: Json };

/**
 * The columns that the parameters change. `own` are the user's confirmed addresses in lower case, the only
 * ones that can be shown or used for commits; 400 for others.
 */
export function profileColumns(
  input: ProfileInput,
  preferences: Json,
  own: Pick<ReadonlyMap<string, unknown>, 'has'>,
): ProfileColumns {
  const given = (name: keyof ProfileInput): boolean => input[name] !== undefined;
  const address = (name: 'public_email' | 'commit_email') => {
    const value = input[name];
    if (value && !own.has(value.toLowerCase())) throw invalid({ [name]: ['is not an email you own'] });
    return value || null;
  };
  const preferred = preferenceNames.filter(given);
  return {
    ...pick(input, plain),
    ...Object.fromEntries(texts.filter(given).map((name) => [name, input[name] ?? ''])),
    ...(given('public_email') && { public_email: address('public_email') }),
    ...(given('commit_email') && { commit_email: address('commit_email') }),
    ...(preferred.length > 0 && { preferences: { ...asObject(preferences), ...pick(input, preferred) } }),
  };
}

const asObject = (value: Json): { readonly [key: string]: Json | undefined } =>
  typeof value === 'object' && value !== null && !('length' in value) ? value : {};

type Given<T, N extends keyof T> = { [Name in N]?: Exclude<T[Name], undefined> };

/** The properties of these names that are not undefined. */
function pick<T extends object, N extends keyof T>(from: T, names: readonly N[]): Given<T, N> {
  const picked: Given<T, N> = {};
  for (const name of names) {
    const value = from[name];
    if (isGiven(value)) picked[name] = value;
  }
  return picked;
}

const isGiven = <T>(value: T): value is Exclude<T, undefined> => value !== undefined;

/** Makes the user an enterprise user of the group. */
export const enterpriseColumns = (group: AuthorizedGroup) => ({
  enterprise_group_id: group.id,
  enterprise_group_associated_at: now(),
});
