/** The coverage that a job tells of in its trace (facts for CI: Numbers). */
import { patternCompiler } from '../../../platform/patterns/pattern.ts';
import { takeTurns } from '../../../platform/turns.ts';

/** Characters of a trace in which it is looked for, from the end. */
export const MAX_LOOKED_AT = 1_048_576;
/** A longer line is no summary that a person reads. */
const MAX_LINE_LENGTH = 16_384;

/** The first number in what the pattern last finds in the last line in which it finds any; undefined without one. */
export async function coverageIn(text: string, pattern: string): Promise<number | undefined> {
  const compiled = (await patternCompiler())(pattern);
  if ('problem' in compiled) return undefined;
  const turn = takeTurns();
  for (const line of text.split('\n').reverse()) {
    const number = /\d+(\.\d+)?/.exec(compiled.findLast(line.slice(0, MAX_LINE_LENGTH)) ?? '');
    if (number) return Number(number[0]);
    await turn();
  }
  return undefined;
}
