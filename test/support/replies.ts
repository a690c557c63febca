/** The second lock on replies: each one is validated against its schema before it is serialised. */
import Schema from 'typebox/schema';
import type { Endpoint } from '../../src/core/endpoint.ts';

const validators = new WeakMap<Endpoint, ReturnType<typeof Schema.Compile>>();

/** Throws, so that the request becomes a 500 whose log says where the reply breaks its schema. */
export function validateReplies(endpoint: Endpoint, value: unknown): void {
  let validator = validators.get(endpoint);
  if (!validator) {
    validator = Schema.Compile(endpoint.reply);
    validators.set(endpoint, validator);
  }
  // As it will be on the wire: Dates and undefined are not JSON.
  const wire: unknown = JSON.parse(JSON.stringify(value));
  if (validator.Check(wire)) return;
  const [, errors] = validator.Errors(wire);
  throw new Error(
    `reply of ${endpoint.method} ${endpoint.path} breaks its schema: ${JSON.stringify(errors.slice(0, 3))}`,
  );
}
