/** Patterns in which `*` stands for anything. */

/** Whether a text is the pattern, whose `*` stand for anything. It takes one look at each letter. */
export function fits(text: string, pattern: string): boolean {
  const [first = '', ...others] = pattern.split('*');
  const last = others.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first) || text.length < first.length + last.length) return false;
  let place = first.length;
  for (const part of others) {
    const found = text.indexOf(part, place);
    if (found < 0) return false;
    place = found + part.length;
  }
  return text.endsWith(last) && place <= text.length - last.length;
}
