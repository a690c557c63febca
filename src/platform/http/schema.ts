/** Builders for the parameter and record schemas that TypeBox has no exact word for; what they mean is in decode.ts. */
import { type Static, type TSchema, type TSchemaOptions, type TUnsafe, Type } from 'typebox';
import type { UploadedFile } from './raw-parameters.ts';

type Typed = { type?: string | string[]; enum?: unknown[] };

/**
 * The same schema with null allowed, as one `type: [T, 'null']`: a union would cost four times the start-up and lets
 * coercion turn null into false. Throws at definition time for a schema that has neither `type` nor `enum`.
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

/** A file part of a multipart body. */
export const file = (options: TSchemaOptions = {}): TUnsafe<UploadedFile> =>
  Type.Unsafe<UploadedFile>({ ...options, type: 'string', format: 'binary' });
