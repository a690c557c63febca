/** Serialises responses by their schema: undeclared properties are not sent. */
import fastJson from 'fast-json-stringify';
import type { TSchema } from 'typebox';

const serializers = new WeakMap<TSchema, (value: unknown) => string>();

/** The serialiser of a schema. It is compiled at the first use, which takes milliseconds. */
export function serializerOf(schema: TSchema): (value: unknown) => string {
  const known = serializers.get(schema);
  if (known) return known;
  // The stringifier needs plain JSON Schema, without TypeBox's non-enumerable symbols.
  const serializer = fastJson(JSON.parse(JSON.stringify(schema)) as fastJson.AnySchema);
  serializers.set(schema, serializer);
  return serializer;
}
