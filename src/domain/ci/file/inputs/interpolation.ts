/** What one block `$[[ inputs.name | function ]]` comes to. Pure. */
import { expandText } from '../expansion.ts';
import type { Value } from '../reading/value.ts';

/** What blocks of a file may name. */
export type Interpolated = {
  inputs: ReadonlyMap<string, Value>;
  /** `name`, `sha`, `version`, `reference`, as far as the header asks for them. */
  component: ReadonlyMap<string, string>;
  /** For expand_vars; masked ones are refused. */
  variable(name: string): { value: string; masked: boolean } | undefined;
};

const MAX_BLOCK_LENGTH = 1_024;
const MAX_FUNCTIONS = 3;
const MAX_INDEXES = 5;

/** A refusal that its author reads. */
export class InterpolationProblem extends Error {}

const refuse = (message: string): never => {
  throw new InterpolationProblem(message);
};

/** InterpolationProblem for a block that means nothing. */
export function interpolate(inside: string, names: Interpolated): Value {
  if (inside.length > MAX_BLOCK_LENGTH) refuse('interpolation block is too long');
  const [access = '', ...functions] = inside.split('|').map((part) => part.trim());
  if (functions.length > MAX_FUNCTIONS) refuse('too many functions in interpolation block');
  let value = valueAt(access, names);
  for (const call of functions) value = apply(call, value, names);
  return value;
}

function valueAt(access: string, { inputs, component }: Interpolated): Value {
  const [, path = '', indexes = ''] = /^([^[\]]+)((?:\[\d+\])*)$/.exec(access) ?? [];
  const [scope = '', ...names] = path.split('.');
  const [name = ''] = names;
  if (scope !== 'inputs' && scope !== 'component') return refuse(`unknown interpolation key: \`${scope}\``);
  const found = scope === 'inputs' ? inputs.get(name) : component.get(name);
  const unknown = found === undefined ? name : names[1];
  if (found === undefined || unknown !== undefined)
    return refuse(`unknown interpolation provided: \`${unknown}\` in \`${path}\``);
  const steps = Array.from(indexes.matchAll(/\d+/g), Number);
  if (steps.length > MAX_INDEXES) refuse(`more than ${MAX_INDEXES} indexes in \`${access}\``);
  return steps.reduce<Value>((list, index) => {
    const item = Array.isArray(list) ? list[index] : undefined;
    return item === undefined ? refuse(`nothing is at \`${access}\``) : item;
  }, found);
}

function apply(call: string, value: Value, names: Interpolated): Value {
  const [, name = '', text = ''] = /^(\w+)(?:\((.*)\))?$/.exec(call) ?? [];
  const given = text.trim() === '' ? [] : text.split(',').map((part) => part.trim());
  if (name === 'truncate' && given.length === 2 && given.every((part) => /^\d{1,9}$/.test(part))) {
    const [offset = 0, length = 0] = given.map(Number);
    return textIn(name, value).slice(offset, offset + length);
  }
  if (name === 'expand_vars' && given.length === 0)
    return expandText(
      textIn(name, value),
      (key) => {
        const variable = names.variable(key);
        if (variable?.masked) refuse(`variable expansion error: masked variable ${key} cannot be expanded`);
        return variable?.value;
      },
      'keep',
    );
  if (name === 'posix_escape' && given.length === 0) return posixEscape(textIn(name, value));
  return refuse(
    `no function matching \`${call}\`: check that the function name, arguments, and types are correct`,
  );
}

function textIn(name: string, value: Value): string {
  if (typeof value === 'string') return value;
  return refuse(`error in \`${name}\` function: ${name}: input must be a string`);
}

/** One word of a shell. */
function posixEscape(text: string): string {
  if (text === '') return "''";
  return text.replace(/[^A-Za-z0-9_\-.,:+/@\n]/g, '\\$&').replaceAll('\n', "'\n'");
}
