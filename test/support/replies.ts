/** A second check of responses: each one is validated against its endpoint's declaration before it leaves. */
import type { TSchema } from 'typebox';
import Schema from 'typebox/schema';
import { contentTypesOf, type Endpoint } from '../../src/kernel/api/endpoint.ts';
import { statusesOf } from '../../src/kernel/api/openapi.ts';
import type { EndpointResult } from '../../src/kernel/api/run-endpoint.ts';

const statuses = new WeakMap<Endpoint, readonly number[]>();
const validators = new WeakMap<TSchema, ReturnType<typeof Schema.Compile>>();

/** Throws, so that the request becomes a 500 whose log names the deviation from the declaration. */
export function validateReplies(endpoint: Endpoint, { status, value, contentType }: EndpointResult): void {
  const title = `${endpoint.method} ${endpoint.path}`;
  let declared = statuses.get(endpoint);
  if (!declared) {
    declared = statusesOf(endpoint);
    statuses.set(endpoint, declared);
  }
  if (!declared.includes(status)) throw new Error(`${title} answers ${status}, undeclared`);
  const types = contentTypesOf(endpoint.reply);
  if (contentType !== undefined && types && !types.includes(contentType.split(';')[0] ?? ''))
    throw new Error(`${title} answers with ${contentType}, undeclared`);
  if (value !== undefined) validateReply(endpoint, value);
}

function validateReply(endpoint: Endpoint, value: unknown): void {
  let validator = validators.get(endpoint.reply);
  if (!validator) {
    validator = Schema.Compile(endpoint.reply);
    validators.set(endpoint.reply, validator);
  }
  // As it will be on the wire: Dates and undefined are not JSON.
  const wire: unknown = JSON.parse(JSON.stringify(value));
  if (validator.Check(wire)) return;
  const [, errors] = validator.Errors(wire);
  throw new Error(
    `reply of ${endpoint.method} ${endpoint.path} breaks its schema: ${JSON.stringify(errors.slice(0, 3))}`,
  );
}
