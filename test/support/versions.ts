/** Random versions of a file of which the differences are known without a diff. */
import fc from 'fast-check';

const MAX_LINES = 60;
/** Most lines stay, so that some of them are far from any change. */
const staysOrGoes = fc.nat(9).map((chance) => chance > 0);

/**
 * So many versions, each of them an ascending choice of the same numbers: two of them have in common the numbers that are in both,
 * in one order, so that what a diff shows is no matter of taste.
 */
export const sortedVersions = (count: number): fc.Arbitrary<number[][]> =>
  fc
    .array(fc.array(staysOrGoes, { minLength: count, maxLength: count }), {
      maxLength: MAX_LINES,
    })
    .map((lines) =>
      Array.from({ length: count }, (_, version) =>
        lines.flatMap((chosen, line) => (chosen[version] ? [line] : [])),
      ),
    );

/** One line for each number. */
export const textOf = (version: readonly number[]): string =>
  version.map((line) => `line ${line}\n`).join('');
