/** `ashlar serve` with an inventory filled up to as many endpoints as the whole public API has. */
import module from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import Type, { type TObject, type TSchema } from 'typebox';
import type { Capability } from '../src/core/capability.ts';
import type { Endpoint } from '../src/core/endpoint.ts';
import type { Services } from '../src/core/services.ts';

// As bin/ashlar.js does.
module.enableCompileCache(join(homedir(), '.cache', 'ashlar', 'node'));
const { anyone } = await import('../src/core/access/access.ts');
const { endpoint, listing, noContent } = await import('../src/core/endpoint.ts');
const { capabilities } = await import('../src/capabilities.ts');
const { readConfig } = await import('../src/config.ts');
const { notFound } = await import('../src/platform/failure.ts');
const { nullable } = await import('../src/platform/http/schema.ts');
const { serve } = await import('../src/main.ts');

const INVENTORY = 1_100;
/** How many fields the records of the public API have, from a label to a project. */
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

/** The five operations of one resource. None is ever called: what they cost is their being there. */
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

const many = (services: Services): Capability[] => {
  const real = capabilities(services);
  const missing = INVENTORY - real.flatMap((capability) => capability.endpoints).length;
  const endpoints = Array.from({ length: Math.ceil(missing / 5) }, (_, number) => resource(number)).flat();
  return [...real, { name: 'bench', tables: [], endpoints: endpoints.slice(0, missing) }];
};

process.exitCode = await serve(readConfig(), { capabilities: many });
