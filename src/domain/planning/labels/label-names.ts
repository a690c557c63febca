/** Rules for names of labels. */

/** Characters. */
export const MAX_TITLE_LENGTH = 255;

/** The pattern of a name in a schema: not blank, and without the comma, which separates names in a list. */
export const labelPattern = '^[^,]*[^,\\s][^,]*$';

/** Whether a label can have this name: commas separate names in requests. */
export const isLabelName = (name: string): boolean =>
  name !== '' && name.length <= MAX_TITLE_LENGTH && !/[,\0]/.test(name);

/** `a::b::` of `a::b::c`; undefined for a name without a scope. */
export const labelScope = (name: string): string | undefined => /^(.*::)./su.exec(name)?.[1];

/** The labels without those that a later one of the same scope replaces (facts: Labels, scoped; Premium). */
export function withoutScopedSiblings<T extends { name: string }>(labels: readonly T[]): T[] {
  const last = new Map<string, number>();
  for (const [index, { name }] of labels.entries()) last.set(labelScope(name) ?? '', index);
  return labels.filter(({ name }, index) => {
    const scope = labelScope(name);
    return scope === undefined || last.get(scope) === index;
  });
}
