/** Whether what is published may come again (facts-packages: 1.1, Duplicates). Pure. */
import {
  type DuplicateFormat,
  firstSaid,
  type PackageSettings,
} from '../../../kernel/namespaces/package-settings.ts';
import { type PatternMatcher, wholly } from '../../../platform/patterns/pattern.ts';

/** Where no group says anything. */
const allowed: Record<DuplicateFormat, boolean> = {
  generic: true,
  maven: true,
  nuget: true,
  terraform_module: false,
};

export type DuplicateRule = {
  allowed: boolean;
  /** The names and versions of which it is the other way round; null for none. */
  exception: string | null;
};

/** What the groups say, from that of the project to the one at the top, which rules over modules of Terraform. */
export function duplicateRule(
  format: DuplicateFormat,
  groups: readonly Partial<PackageSettings>[],
): DuplicateRule {
  const inTurn = format === 'terraform_module' ? groups.toReversed() : groups;
  const exception = firstSaid(inTurn, `${format}_duplicate_exception_regex`) || null;
  return {
    allowed: firstSaid(inTurn, `${format}_duplicates_allowed`) ?? allowed[format],
    exception: exception && wholly(exception),
  };
}

export const mayComeAgain = (
  { allowed: is, exception }: DuplicateRule,
  { name, version }: { name: string; version: string | null },
  matches: PatternMatcher,
): boolean => {
  const isOther = [name, version].some(
    (text) => exception !== null && text !== null && matches(exception, text),
  );
  return isOther ? !is : is;
};
