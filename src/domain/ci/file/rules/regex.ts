/** Patterns `/…/flags` of expressions, only and except, in the syntax of RE2. */
import { type PatternCompiler, patternCompiler } from '../../../../platform/patterns/pattern.ts';

/** Tests texts; undefined for what is no pattern. */
export type RegexCompiler = (text: string) => ((text: string) => boolean) | undefined;

/** A single character between the slashes is none: the language has it so. */
export const PATTERN_TEXT = /^\/((?:[^/\\]|\\.)(?:[^/\\]|\\.)+|\\.)\/([ismU]*)/s;

export async function regexCompiler(): Promise<RegexCompiler> {
  return regexes(await patternCompiler());
}

function regexes(compile: PatternCompiler): RegexCompiler {
  const known = new Map<string, ReturnType<RegexCompiler>>();
  return (text) => {
    if (known.has(text)) return known.get(text);
    const [whole, source = '', flags = ''] = PATTERN_TEXT.exec(text) ?? [];
    const isPattern = whole !== undefined && whole.length === text.length;
    const compiled = isPattern
      ? compile((flags && `(?${flags})`) + source.replaceAll('\\/', '/'))
      : undefined;
    const matches = compiled && 'test' in compiled ? compiled.test : undefined;
    known.set(text, matches);
    return matches;
  };
}

/** The pattern whose source stands without slashes. */
export const betweenSlashes = (source: string): string =>
  `/(?:${source.replaceAll(/\\.|\//gs, (part) => (part === '/' ? '\\/' : part))})/`;
