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
  passedOver: Set<string>;
};

/** Of each: an archive may have millions. */
const MAX_REPORTED = 10_000;
const MAX_PASSED_OVER = 200;

export function startReport(passedOver: readonly string[]): Report {
  const failures: FailedRelation[] = [];
  return {
    failures,
    fail(failure) {
      if (failures.length < MAX_REPORTED) failures.push(failure);
    },
    passedOver: new Set(passedOver.slice(0, MAX_PASSED_OVER)),
  };
}
