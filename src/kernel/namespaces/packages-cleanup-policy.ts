/** The cleanup policy of a project's packages: how many files of one name stay (facts-packages: 1.1, Package record). Pure. */
import Type, { type Static } from 'typebox';
import { nullable, stringEnum } from '../../platform/http/parameters/schema.ts';

const ALL = 'ALL_PACKAGE_FILES';
const kept = stringEnum([ALL, '1', '10', '20', '30', '40', '50'], {
  description: 'How many files of the same name a package keeps, the newest of them.',
});

/** As the project's settings keep it, and its record shows it. */
export const PackagesCleanupPolicy = Type.Object({
  keep_n_duplicated_package_files: kept,
  next_run_at: nullable(Type.String({ format: 'date-time' })),
});
export type PackagesCleanupPolicy = Static<typeof PackagesCleanupPolicy>;

export const CleanupPolicyAttributes = Type.Object({ keep_n_duplicated_package_files: kept });
export type CleanupPolicyAttributes = Static<typeof CleanupPolicyAttributes>;

export const defaultCleanupPolicy: PackagesCleanupPolicy = {
  keep_n_duplicated_package_files: ALL,
  next_run_at: null,
};

const INTERVAL_MS = 12 * 3_600_000;

/** The next run after one, or after a change, at this time. */
export const nextCleanup = (at: Date): string => new Date(at.getTime() + INTERVAL_MS).toISOString();

/** Undefined where all stay. */
export const keptFiles = ({
  keep_n_duplicated_package_files: n,
}: CleanupPolicyAttributes): number | undefined => (n === ALL ? undefined : Number(n));

/** The policy that a request makes; it runs next when its time has passed, and never where all files stay. */
export const changedCleanup = (attributes: CleanupPolicyAttributes, at: Date): PackagesCleanupPolicy => ({
  ...attributes,
  next_run_at: keptFiles(attributes) === undefined ? null : nextCleanup(at),
});
