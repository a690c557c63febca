/** A problem of a form: a sentence for people, and its fields. */
export type Problem = { text: string; fields: readonly string[] };

/** One problem, as a list. */
export const problem = (text: string, ...fields: string[]): readonly Problem[] => [{ text, fields }];

/** The sentences. */
export const texts = (problems: readonly Problem[]): string[] => problems.map(({ text }) => text);

/** Whether one of the problems is the field's. */
export const isWrong = (problems: readonly Problem[], field: string): boolean =>
  problems.some(({ fields }) => fields.includes(field));
