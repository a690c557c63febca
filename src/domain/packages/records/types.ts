/** The formats of packages (facts-packages: 1.1). */

const GIB = 1_073_741_824;
const MIB = 1_048_576;

/** The bytes of the largest file of each (facts-packages: Size limits). */
export const maximumBytes = {
  maven: 3 * GIB,
  npm: 500 * MIB,
  conan: 3 * GIB,
  nuget: 500 * MIB,
  pypi: 3 * GIB,
  composer: 3 * GIB,
  generic: 5 * GIB,
  golang: 3 * GIB,
  debian: 3 * GIB,
  rubygems: 3 * GIB,
  helm: 5 * MIB,
  terraform_module: GIB,
} as const;

export type PackageType = keyof typeof maximumBytes;
export const packageTypes = Object.keys(maximumBytes) as PackageType[]; // the keys are the types

export const packageStatuses = ['default', 'hidden', 'processing', 'error', 'deprecated'] as const;
export type PackageStatus = (typeof packageStatuses)[number];

/** Shown in lists, unless they ask for others. */
export const displayed: readonly PackageStatus[] = ['default', 'error', 'deprecated'];
/** What programs install. */
export const installable: readonly PackageStatus[] = ['default', 'hidden', 'deprecated'];
