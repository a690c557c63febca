/** What a group says of the packages below it (facts-packages: 1.1, Duplicates, Forwarding; 1.6). Pure. */
import Type, { type Static, type TBoolean, type TUnsafe } from 'typebox';
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

const forwarding = <const F extends 'npm' | 'pypi' | 'maven'>(format: F) =>
  ({
    [`${format}_package_requests_forwarding`]: nullable(
      Type.Boolean({
        description: `Whether requests for unknown names of ${format} lead to the public registry; null for what the group above says.`,
      }),
    ),
    [`lock_${format}_package_requests_forwarding`]: Type.Boolean({
      description: 'What groups below say of that has no effect.',
    }),
  }) as Record<`${F}_package_requests_forwarding`, TUnsafe<boolean | null>> &
    Record<`lock_${F}_package_requests_forwarding`, TBoolean>;

export const PackageSettings = Type.Object({
  nuget_symbol_server_enabled: nullable(
    Type.Boolean({
      description:
        'Whether debuggers get the symbols of NuGet packages without a credential; null for what the group above says, or else no.',
    }),
  ),
  ...duplicates('generic'),
  ...duplicates('maven'),
  ...duplicates('nuget'),
  ...duplicates('terraform_module'),
  ...forwarding('npm'),
  ...forwarding('pypi'),
  ...forwarding('maven'),
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
  nuget_symbol_server_enabled: null,
  terraform_module_duplicates_allowed: null,
  terraform_module_duplicate_exception_regex: null,
  npm_package_requests_forwarding: null,
  lock_npm_package_requests_forwarding: false,
  pypi_package_requests_forwarding: null,
  lock_pypi_package_requests_forwarding: false,
  maven_package_requests_forwarding: null,
  lock_maven_package_requests_forwarding: false,
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
