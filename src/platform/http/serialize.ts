/** Replies as JSON text by their schema: what is not declared does not leave. */
import fastJson from 'fast-json-stringify';
import type { TSchema } from 'typebox';

/** The serialiser of a reply; made at a reply's first use, since making one costs milliseconds. */
export function compileSerializer(schema: TSchema): (value: unknown) => string {
  // The stringifier wants plain JSON Schema; TypeBox's values are that, with non-enumerable marks.
  const serialize = fastJson(JSON.parse(JSON.stringify(schema)) as fastJson.AnySchema);
  return (value) => serialize(value);
}
