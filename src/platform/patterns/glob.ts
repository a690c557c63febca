/**
 * Patterns of paths as Ruby's File.fnmatch has them with FNM_PATHNAME, FNM_DOTMATCH and FNM_EXTGLOB: `*`, `?`, `[a-z]`, `{a,b}`,
 * and `**` before a slash for any folders. No pattern takes more than pattern by path steps.
 */

/** Alternatives that the braces of one pattern may come to; a pattern of more is met by no path. */
const MAX_ALTERNATIVES = 256;

type Letter = { one: (character: string) => boolean } | 'star';
type Segment = Letter[] | 'folders';

/** Whether paths are as the pattern wants them. */
export function globMatcher(pattern: string): (path: string) => boolean {
  const alternatives = (alternativesOf(pattern) ?? []).map((each) =>
    isPlain(each) ? each : segmentsOf(each),
  );
  return (path) =>
    alternatives.some((each) => (typeof each === 'string' ? each === path : meets(each, path.split('/'))));
}

const isPlain = (pattern: string): boolean => !/[*?[\\]/.test(pattern);

/** The patterns without braces that one with braces stands for; undefined for too many. */
function alternativesOf(pattern: string): string[] | undefined {
  let finished: string[] = [];
  let open = [pattern];
  while (open.length > 0) {
    const next: string[] = [];
    for (const each of open) {
      const choices = firstBraces(each);
      if (choices) next.push(...choices);
      else finished = [...finished, each];
    }
    if (finished.length + next.length > MAX_ALTERNATIVES) return undefined;
    open = next;
  }
  return finished;
}

/** The pattern with each choice of its first braces; undefined without any. */
function firstBraces(pattern: string): string[] | undefined {
  let depth = 0;
  let start = -1;
  let commas: number[] = [];
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern[at];
    if (character === '\\') at += 1;
    else if (character === '{') {
      if (depth === 0) start = at;
      depth += 1;
    } else if (character === ',' && depth === 1) commas = [...commas, at];
    else if (character === '}' && depth > 0) {
      depth -= 1;
      if (depth > 0) continue;
      const ends = [start, ...commas, at];
      return ends.slice(1).map((end, i) => {
        const choice = pattern.slice((ends[i] ?? 0) + 1, end);
        return pattern.slice(0, start) + choice + pattern.slice(at + 1);
      });
    }
  }
  return undefined;
}

function segmentsOf(pattern: string): Segment[] {
  const parts = pattern.split('/');
  return parts.map((part, i) => (part === '**' && i < parts.length - 1 ? 'folders' : lettersOf(part)));
}

function lettersOf(part: string): Letter[] {
  const letters: Letter[] = [];
  const characters = [...part];
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at] ?? '';
    if (character === '*') {
      if (letters.at(-1) !== 'star') letters.push('star');
    } else if (character === '?') letters.push({ one: () => true });
    else if (character === '[') {
      const end = characters.indexOf(']', at + 2);
      if (end < 0) return [{ one: () => false }];
      letters.push({ one: setOf(characters.slice(at + 1, end)) });
      at = end;
    } else {
      if (character === '\\') at += 1;
      const literal = characters[at] ?? '\\';
      letters.push({ one: (other) => other === literal });
    }
  }
  return letters;
}

/** What stands between brackets. */
function setOf(inside: string[]): (character: string) => boolean {
  const isNegated = inside[0] === '!' || inside[0] === '^';
  const members = (isNegated ? inside.slice(1) : inside).filter((each) => each !== '\\');
  const ranges: [from: string, to: string][] = [];
  for (let at = 0; at < members.length; at += 1) {
    const from = members[at] ?? '';
    const to = members[at + 1] === '-' ? members[at + 2] : undefined;
    ranges.push([from, to ?? from]);
    if (to !== undefined) at += 2;
  }
  return (character) => ranges.some(([from, to]) => from <= character && character <= to) !== isNegated;
}

/** Both walks go back to the last star alone, which is enough: an earlier one could take no more. */
function walk<Item, Part>(
  items: readonly Item[],
  parts: readonly (Part | 'star' | 'folders')[],
  fits: (item: Item, part: Part) => boolean,
): boolean {
  let item = 0;
  let part = 0;
  let star = -1;
  let taken = 0;
  while (item < items.length) {
    const wanted = parts[part];
    if (wanted === 'star' || wanted === 'folders') {
      star = part;
      taken = item;
      part += 1;
    } else if (wanted !== undefined && fits(items[item] as Item, wanted)) {
      item += 1;
      part += 1;
    } else if (star >= 0) {
      taken += 1;
      item = taken;
      part = star + 1;
    } else return false;
  }
  while (parts[part] === 'star' || parts[part] === 'folders') part += 1;
  return part === parts.length;
}

const meets = (segments: Segment[], path: string[]): boolean =>
  walk<string, Letter[]>(path, segments, (name, letters) =>
    walk<string, Exclude<Letter, 'star'>>([...name], letters, (character, { one }) => one(character)),
  );
