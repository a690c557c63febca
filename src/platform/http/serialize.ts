/** Serialises responses by their schema: undeclared properties are not sent. */
import fastJson from 'fast-json-stringify';
import type { TSchema } from 'typebox';

/** The serialiser of a response, compiled on first use, which takes milliseconds. */
export function compileSerializer(schema: TSchema): (value: unknown) => string {
  // The stringifier needs plain JSON Schema, without TypeBox's non-enumerable symbols.
  const serialize = fastJson(JSON.parse(JSON.stringify(schema)) as fastJson.AnySchema);
  return (value) => serialize(value);
}
