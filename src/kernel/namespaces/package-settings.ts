/** What a group says of the packages below it (facts-packages: 1.1, Duplicates). Pure. */
import Type, { type Static, type TUnsafe } from 'typebox';
import { nullable } from '../../platform/http/parameters/schema.ts';

/** The formats that have settings for duplicates. */
export const duplicateFormats = ['generic', 'maven', 'nuget', 'terraform_module'] as const;
export type DuplicateFormat = (typeof duplicateFormats)[number];

const duplicates = <const F extends DuplicateFormat>(format: F) =>
  ({
    [`${format}_duplicates_allowed`]: nullable(
      Type.Boolean({
        description: `Whether packages of the format ${format} may come again; null for what the group above says.`,
      }),
    ),
    [`${format}_duplicate_exception_regex`]: nullable(
      Type.String({
        maxLength: 255,
        ruled: { format: 're2' },
        description: 'The names or versions of which it is the other way round, in the syntax of RE2.',
      }),
    ),
  }) as Record<`${F}_duplicates_allowed`, TUnsafe<boolean | null>> &
    Record<`${F}_duplicate_exception_regex`, TUnsafe<string | null>>;

export const PackageSettings = Type.Object({
  ...duplicates('generic'),
  ...duplicates('maven'),
  ...duplicates('nuget'),
  ...duplicates('terraform_module'),
});
export type PackageSettings = Static<typeof PackageSettings>;

/** Of a group that says nothing. */
export const defaultPackageSettings: PackageSettings = {
  generic_duplicates_allowed: null,
  generic_duplicate_exception_regex: null,
  maven_duplicates_allowed: null,
  maven_duplicate_exception_regex: null,
  nuget_duplicates_allowed: null,
  nuget_duplicate_exception_regex: null,
  terraform_module_duplicates_allowed: null,
  terraform_module_duplicate_exception_regex: null,
};

/** What the first says of those that say anything. */
export function firstSaid<Name extends keyof PackageSettings>(
  groups: readonly Partial<PackageSettings>[],
  name: Name,
): PackageSettings[Name] | undefined {
  return groups.map((each) => each[name]).find((value) => value !== null && value !== undefined);
}

/** Those of them among all settings of a group. */
export const packageSettingsOf = (settings: PackageSettings): PackageSettings =>
  Object.fromEntries(
    Object.keys(defaultPackageSettings).map((name) => [name, settings[name as keyof PackageSettings]]), // its own keys
  ) as PackageSettings;
