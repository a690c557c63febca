/** Problems of parameters, and the 400 that names them all (spec: Error bodies; facts §10). */
import { Failure, type ValidationMessages } from '../../failure.ts';

export type Path = readonly string[];
export type Problem = {
  path: Path;
  text: string;
  /** Accepted values. */
  allowed?: string;
};
/** Problems are made when a decoder is compiled, so the same one found in many array items is reported once. */
export type Problems = Set<Problem>;

const missingText = 'is missing';

export const missingAt = (path: Path): Problem => ({ path, text: missingText });
export const invalidAt = (path: Path): Problem => ({ path, text: 'is invalid' });
export const outOfRangeAt = (path: Path, allowed?: string): Problem => ({
  path,
  text: 'does not have a valid value',
  ...(allowed !== undefined && { allowed }),
});
export const tooLongAt = (path: Path, maximum: number, unit: string): Problem => ({
  path,
  text: `is too long (maximum is ${count(maximum, unit)})`,
});
export const tooShortAt = (path: Path, minimum: number, unit: string): Problem => ({
  path,
  text: `is too short (minimum is ${count(minimum, unit)})`,
});

const count = (number: number, unit: string): string => `${number} ${unit}${number === 1 ? '' : 's'}`;

/** Adds the problem; returns undefined in the place of the value. */
export const refuse = (problems: Problems, problem: Problem): undefined => {
  problems.add(problem);
};

/** `a[b][c]`: the name a client gave, or would have given, in a form. */
export const parameterName = ([first = '', ...rest]: Path): string =>
  first + rest.map((key) => `[${key}]`).join('');

/** Missing parameters come first: the message is then a text that names them, else messages by property. */
export const parameterFailure = (problems: Problems): Failure => {
  const all = [...problems];
  const error = all.map(({ path, text }) => `${parameterName(path)} ${text}`).join(', ');
  // Beside the message, which public clients compare.
  const allowed = all.flatMap((problem) =>
    problem.allowed === undefined ? [] : `${parameterName(problem.path)} takes ${problem.allowed}`,
  );
  const details = { error, ...(allowed.length > 0 && { errorDescription: allowed.join('; ') }) };
  const missing = all.filter(({ text }) => text === missingText);
  if (missing.length > 0) {
    const names = missing.map(({ path }) => `"${parameterName(path)}" not given`);
    return new Failure('bad_request', `400 Bad request - ${names.join(', ')}`, details);
  }
  const messages: ValidationMessages = {};
  for (const { path, text } of all) addMessage(messages, path, text);
  return new Failure('bad_request', messages, details);
};

/** Messages about a parameter and about its parts exclude each other: the first stays. */
const addMessage = (messages: ValidationMessages, [key = '', ...rest]: Path, text: string): void => {
  const present = messages[key];
  if (rest.length === 0) {
    if (present === undefined) messages[key] = [text];
    else if (Array.isArray(present)) present.push(text);
  } else if (!Array.isArray(present)) {
    const nested = present ?? {};
    messages[key] = nested;
    addMessage(nested, rest, text);
  }
};
