/** Lists in English sentences, as clients of the public API read them in notes and commits. */

/** `a`, `a and b`, `a, b, and c`. */
export function sentenceOf(parts: readonly string[]): string {
  if (parts.length < 3) return parts.join(' and ');
  return `${parts.slice(0, -1).join(', ')}, and ${parts.at(-1)}`;
}
