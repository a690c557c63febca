/**
 * Builders of schemas for which TypeBox has no exact word; decode.ts gives their meaning. The option `ruled`
 * has keywords that a rule behind the decoder checks with its own messages; only the API's description uses
 * it.
 */
import { type Static, type TSchema, type TSchemaOptions, type TUnsafe, Type } from 'typebox';
import type { UploadedFile } from './raw-parameters.ts';

type Typed = { type?: string | string[]; enum?: unknown[] };

/**
 * The same schema with null allowed, as one `type: [T, 'null']`: a union would quadruple the start-up time
 * and let coercion turn null into false. Throws at definition time for a schema without `type` and `enum`.
 */
export const nullable = <T extends TSchema>(schema: T): TUnsafe<Static<T> | null> => {
  // A shared schema's $id names the variant without null, so it does not come along.
  const { $id: _, ...copy } = schema as Typed & { $id?: string };
  if (copy.type === undefined && copy.enum === undefined) {
    throw new Error('nullable() needs a schema with a type or an enum');
  }
  const typed: Typed = { ...copy };
  if (copy.type !== undefined) typed.type = [...new Set([copy.type, 'null'].flat())];
  if (copy.enum !== undefined) typed.enum = [...new Set([...copy.enum, null])];
  return Type.Unsafe<Static<T> | null>(typed);
};

/**
 * The same schema, marked as deprecated; `use` names what to use in its place. docs/deprecations.md is made of
 * these and of the endpoints (spec: Versioning, Deprecations).
 */
export const deprecated = <T extends TSchema>(schema: T, use: string): T =>
  // Only annotations are added: the type is the same.
  Type.Unsafe<Static<T>>({ ...schema, deprecated: true, description: `Deprecated: use ${use}.` }) as never;

/** An instant, as ISO 8601 text; decoded to UTC with milliseconds. */
export const dateTime = (options: TSchemaOptions = {}) => Type.String({ ...options, format: 'date-time' });

/** A calendar day, as `YYYY-MM-DD`. */
export const date = (options: TSchemaOptions = {}) => Type.String({ ...options, format: 'date' });

/** The id of a record. */
export const integerId = (options: TSchemaOptions = {}) => Type.Integer({ minimum: 1, ...options });

/** One of a closed list of words. */
export const stringEnum = <const Values extends readonly string[]>(
  values: Values,
  options: TSchemaOptions = {},
): TUnsafe<Values[number]> => Type.Unsafe<Values[number]>({ ...options, type: 'string', enum: [...values] });

/** An array that may also be sent as one comma-separated text; entries are trimmed and empty ones dropped. */
export const commaList = <T extends TSchema>(item: T, options: TSchemaOptions = {}) =>
  Type.Array(item, { ...options, commaSeparated: true });

/** For the API's description of a text: a rule refuses blank ones. */
export const notBlank = { ruled: { pattern: '\\S' } };

/** For the API's description of an optional parameter: a rule refuses any value with its own message. */
export const refusedAlways = { not: {} };

/** A rule between an object's parameters, with its message where that is not the usual one. */
export type ParameterRule = {
  kind: 'at_least_one' | 'exactly_one' | 'at_most_one';
  names: readonly string[];
  message?: string;
};

export const atLeastOne = (names: readonly string[], message?: string): ParameterRule => ({
  kind: 'at_least_one',
  names,
  ...(message !== undefined && { message }),
});
export const exactlyOne = (...names: string[]): ParameterRule => ({ kind: 'exactly_one', names });
export const atMostOne = (...names: string[]): ParameterRule => ({ kind: 'at_most_one', names });

/**
 * For the options of Type.Object(): rules that are checked in this order after all parameters are decoded.
 */
export const parameterRules = (
  ...rules: readonly ParameterRule[]
): { together: readonly ParameterRule[] } => ({
  together: rules,
});

/**
 * The rules of an object schema as options of another one; a spread of its properties does not include them.
 */
export const parameterRulesOf = (
  schema: TSchema | undefined,
): { together?: readonly ParameterRule[]; ruled?: object } => {
  // Options of Type.Object(): `together`, and the keywords of rules.
  const { together: rules, ruled } = (schema ?? {}) as {
    together?: readonly ParameterRule[];
    ruled?: object;
  };
  return { ...(rules && { together: rules }), ...(ruled && { ruled }) };
};

/** A file part of a multipart body, with its accepted types where they are restricted. */
export const file = (
  options: TSchemaOptions & { contentTypes?: readonly string[] } = {},
): TUnsafe<UploadedFile> => Type.Unsafe<UploadedFile>({ ...options, type: 'string', format: 'binary' });
