/** Rules between parameters, checked on decoded values, with the public API's messages. */
import { Failure } from '../../failure.ts';
import type { ParameterRule } from './schema.ts';

/** 400 where the given parameters violate the rule. */
export function refuseApart({ kind, names, message }: ParameterRule, value: Record<string, unknown>): void {
  const given = names.filter((name) => value[name] !== undefined).length;
  if (given === 0 && kind !== 'at_most_one') {
    const wanted = kind === 'exactly_one' ? 'exactly' : 'at least';
    throw refusal(`${names.join(', ')} are missing, ${wanted} one parameter must be provided`, message);
  }
  if (given > 1 && kind !== 'at_least_one')
    throw refusal(`${names.join(', ')} are mutually exclusive`, message);
}

const refusal = (error: string, message = `400 Bad request - ${error}`): Failure =>
  new Failure('bad_request', message, { error });

/** The rules in JSON Schema. */
export const parameterRuleKeywords = (rules: readonly ParameterRule[]): { allOf?: object[] } =>
  rules.length === 0 ? {} : { allOf: rules.flatMap(inSchema) };

function inSchema({ kind, names }: ParameterRule): object[] {
  const each = names.map((name) => ({ required: [name] }));
  if (kind === 'at_least_one') return [{ anyOf: each }];
  if (kind === 'exactly_one') return [{ oneOf: each }];
  return names.flatMap((one, at) =>
    names.slice(at + 1).map((other) => ({ not: { required: [one, other] } })),
  );
}

/** The rules in words, for queries, which have no schema. */
export const describeParameterRules = (rules: readonly ParameterRule[]): string[] =>
  rules.map(({ kind, names }) => {
    const count = { at_least_one: 'At least', exactly_one: 'Exactly', at_most_one: 'At most' }[kind];
    return `${count} one of ${names.map((name) => `\`${name}\``).join(', ')}.`;
  });
