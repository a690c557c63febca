/** The inventory filled up to as many endpoints as the whole public API has. */
import Type, { type TObject, type TSchema } from 'typebox';
import { capabilities } from '../src/capabilities.ts';
import { anyone } from '../src/kernel/access/access.ts';
import { type Endpoint, endpoint, listing, noContent } from '../src/kernel/api/endpoint.ts';
import type { Capability } from '../src/kernel/capability.ts';
import type { Services } from '../src/kernel/services.ts';
import { notFound } from '../src/platform/failure.ts';
import { nullable } from '../src/platform/http/parameters/schema.ts';

const INVENTORY = 1_100;
/** Numbers of fields of the public API's records, from a label to a project. */
const SIZES = [6, 9, 12, 18, 25, 40, 60, 110];

const kinds: ((name: string) => TSchema)[] = [
  () => Type.Integer(),
  (name) => Type.String({ description: `The ${name} of the record.` }),
  () => nullable(Type.String()),
  () => Type.Boolean(),
  (name) => Type.Optional(Type.Union([Type.Literal(`${name}-on`), Type.Literal(`${name}-off`)])),
  () => nullable(Type.Integer()),
  () => Type.Array(Type.String()),
  () =>
    Type.Optional(
      Type.Object({
        id: Type.Integer(),
        username: Type.String(),
        name: Type.String(),
        web_url: Type.String(),
      }),
    ),
];

const record = (size: number): TObject =>
  Type.Object(
    Object.fromEntries(
      Array.from({ length: size }, (_, index) => [
        `field_${index}`,
        kinds[index % kinds.length]?.(`field_${index}`) ?? Type.Null(),
      ]),
    ),
  );

/** The five operations of one resource. None is ever called: only their presence is measured. */
function resource(number: number): Endpoint[] {
  const size = SIZES[number % SIZES.length] ?? 0;
  const path = `/bench/:id/resources_${number}`;
  const common = { access: anyone, input: Type.Partial(record(Math.ceil(size / 2))) };
  const handle = () => Promise.reject(notFound());
  return [
    listing({
      ...common,
      method: 'GET',
      path,
      summary: 'A list.',
      item: record(size),
      page: 'offset',
      handle,
    }),
    endpoint({ ...common, method: 'POST', path, summary: 'A new one.', reply: record(size), handle }),
    endpoint({
      ...common,
      method: 'GET',
      path: `${path}/:iid`,
      summary: 'One.',
      reply: record(size),
      handle,
    }),
    endpoint({
      ...common,
      method: 'PUT',
      path: `${path}/:iid`,
      summary: 'Its change.',
      reply: record(size),
      handle,
    }),
    endpoint({
      ...common,
      method: 'DELETE',
      path: `${path}/:iid`,
      summary: 'Its end.',
      reply: noContent,
      handle,
    }),
  ];
}

export const many = (services: Services): Capability[] => {
  const real = capabilities(services);
  const missing = INVENTORY - real.flatMap((capability) => capability.endpoints).length;
  const endpoints = Array.from({ length: Math.ceil(missing / 5) }, (_, number) => resource(number)).flat();
  return [...real, { name: 'bench', tables: [], endpoints: endpoints.slice(0, missing) }];
};
