/** The issues of a Jira project that texts name, and those that they close: `Closes STONE-1, STONE-2 and STONE-3`. Pure, in time linear in the text. */

const keyword =
  /\b(?:clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing)|implement(?:s|ed|ing)?):? +/gi;
const key = /[A-Z][A-Z0-9_]{1,31}-\d{1,10}(?!\w)/y;
const separator = / *(?:, *)?(?:(?<= )and +)?/y;
/** Of one event. */
const MAX_KEYS = 20;

function matchAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? '';
}

/** Each once, the first twenty. */
export function closedKeys(texts: readonly string[]): string[] {
  const found = new Set<string>();
  for (const text of texts)
    for (const match of text.matchAll(keyword)) {
      let at = match.index + match[0].length;
      for (;;) {
        const written = matchAt(key, text, at);
        if (written === '') break;
        found.add(written);
        if (found.size === MAX_KEYS) return [...found];
        at += written.length;
        const between = matchAt(separator, text, at);
        if (between === '') break;
        at += between.length;
      }
    }
  return [...found];
}

const anyKey = /(?<![\w-])[A-Z][A-Z0-9_]{1,31}-\d{1,10}(?![\w-])/g;

/** Each once, the first twenty. */
export const namedKeys = (text: string): string[] =>
  [...new Set(Array.from(text.matchAll(anyKey), ([key]) => key))].slice(0, MAX_KEYS);
