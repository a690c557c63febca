/** What an import reports beside what it brings. */
import type { Needs } from '../../../kernel/services.ts';
import type { FailedRelation } from './read-relations.ts';

export type ImportServices = Needs<
  'blobs' | 'config' | 'database' | 'disk' | 'log' | 'registered' | 'repositories' | 'settings'
>;

/** What an import reports beside what it brings. */
export type Report = {
  failures: FailedRelation[];
  fail(failure: FailedRelation): void;
  passOver(name: string): void;
  passedOver: ReadonlySet<string>;
};

/** Of each: an archive may have millions. */
const MAX_REPORTED = 10_000;
const MAX_PASSED_OVER = 200;
const MAX_NAME_LENGTH = 255;

export function startReport(passedOver: readonly string[]): Report {
  const failures: FailedRelation[] = [];
  const names = new Set(passedOver.slice(0, MAX_PASSED_OVER));
  return {
    failures,
    fail(failure) {
      if (failures.length < MAX_REPORTED) failures.push(failure);
    },
    // Names of whatever an archive has in a line: PostgreSQL stores no NUL.
    passOver(name) {
      if (names.size < MAX_PASSED_OVER)
        names.add(
          name
            .slice(0, MAX_NAME_LENGTH)
            .replaceAll(/\p{Cc}/gu, '?')
            .toWellFormed(),
        );
    },
    passedOver: names,
  };
}
