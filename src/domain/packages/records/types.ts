/** The formats of packages (facts-packages: 1.1). */

import { limitOf, type PlanLimitName, type PlanLimits } from '../../../kernel/instance/plan-limits.ts';

const GIB = 1_073_741_824;

/** The bytes of the largest file of each: a limit of the plan, or always the same (facts-packages: Size limits). */
const largestFiles = {
  maven: 'maven_max_file_size',
  npm: 'npm_max_file_size',
  conan: 'conan_max_file_size',
  nuget: 'nuget_max_file_size',
  pypi: 'pypi_max_file_size',
  composer: 3 * GIB,
  generic: 'generic_packages_max_file_size',
  golang: 3 * GIB,
  debian: 3 * GIB,
  rubygems: 3 * GIB,
  helm: 'helm_max_file_size',
  terraform_module: 'terraform_module_max_file_size',
} as const satisfies Record<string, PlanLimitName | number>;

export type PackageType = keyof typeof largestFiles;
export const packageTypes = Object.keys(largestFiles) as PackageType[]; // the keys are the types

/** The bytes that a file of the format has at most. */
export function maximumBytes(limits: PlanLimits, type: PackageType): number {
  const largest = largestFiles[type];
  return typeof largest === 'number' ? largest : limitOf(limits, largest);
}

export const packageStatuses = ['default', 'hidden', 'processing', 'error', 'deprecated'] as const;
export type PackageStatus = (typeof packageStatuses)[number];

/** Shown in lists, unless they ask for others. */
export const displayed: readonly PackageStatus[] = ['default', 'error', 'deprecated'];
/** What programs install. */
export const installable: readonly PackageStatus[] = ['default', 'hidden', 'deprecated'];
