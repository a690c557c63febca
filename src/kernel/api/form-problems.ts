/** Refusals of the API as problems of a form: each beside its field, or above the form where it is nobody's. Pure. */
import { Failure, type FailureKind, type ValidationMessages } from '../../platform/failure.ts';

export type FormProblems = {
  /** By the name of the field. */
  fields: ReadonlyMap<string, string>;
  general: readonly string[];
};

export const noProblems: FormProblems = { fields: new Map(), general: [] };

/** Refusals of values: any other concerns the request as a whole, and gets a page of its own. */
const ofValues: ReadonlySet<FailureKind> = new Set(['bad_request', 'forbidden', 'conflict', 'unprocessable']);

const textsIn = (messages: ValidationMessages | string[]): string[] =>
  Array.isArray(messages) ? messages : Object.values(messages).flatMap(textsIn);

/** The problems of a form with these fields; throws what is no refusal of values. */
export function formProblems(error: unknown, names: readonly string[]): FormProblems {
  if (!(error instanceof Failure) || !ofValues.has(error.kind)) throw error;
  const { publicMessage: message, details } = error;
  const fields = new Map<string, string>();
  const general: string[] = [];
  const allowed = new Map(
    (details.errorDescription ?? '').split('; ').flatMap((text) => {
      const [name = '', values] = text.split(' takes ', 2);
      return values === undefined ? [] : [[name, `; it takes ${values}`]];
    }),
  );
  if (typeof message === 'string') {
    const text = message.replace(/^\d{3} [\w ]+ - /, '');
    // Some refusals are one sentence that begins with the field's name.
    const name = names.find((each) => text.toLowerCase().startsWith(`${each.replaceAll('_', ' ')} `));
    if (name === undefined) general.push(text);
    else fields.set(name, text);
  } else if (isList(message)) general.push(...message);
  else
    for (const [name, messages] of Object.entries(message)) {
      const text = textsIn(messages).join(', ');
      if (names.includes(name)) fields.set(name, `This ${text}${allowed.get(name) ?? ''}.`);
      else general.push(name === 'base' ? text : `${name} ${text}`);
    }
  return { fields, general };
}

const isList = (message: readonly string[] | ValidationMessages): message is readonly string[] =>
  Array.isArray(message);

/** Whether there is any. */
export const hasProblems = ({ fields, general }: FormProblems): boolean =>
  fields.size > 0 || general.length > 0;
