/** Feature flags of the instance: their list, and switching them (spec: Versioning, 4). */
import Type, { type Static } from 'typebox';
import { onInstance } from '../../kernel/access/access.ts';
import { type Endpoint, endpoint, noContent } from '../../kernel/api/endpoint.ts';
import type { Db } from '../../platform/db/database.ts';
import { badRequest, invalid } from '../../platform/failure.ts';
import { commaList, refusedAlways, stringEnum } from '../../platform/http/parameters/schema.ts';
import { type FeatureWish, resetFeature, setFeature } from './actions.ts';
import { presentDefinitions, presentFeature } from './present.ts';
import { findFeatureActor, selectFeatureGates } from './queries.ts';
import { Feature, FeatureDefinition } from './schema.ts';

const byName = { name: Type.String({ maxLength: 255, description: 'The name of the flag.' }) };

const actorKinds = ['user', 'group', 'namespace', 'project'] as const;
const actorList = (whose: string) =>
  Type.Optional(
    commaList(Type.String(), {
      ruled: { minItems: 1 },
      description: `Only for ${whose}, several with commas between.`,
    }),
  );

const notSupported = () =>
  Type.Optional(Type.Unknown({ ruled: refusedAlways, description: 'Not supported.' }));

/** As JSON and as text. */
const PERCENTAGE = '(?:\\d{1,2}|0\\d{2})(?:\\.\\d{1,6})?|100(?:\\.0{1,6})?';
const VALUE = `^(?:true|false|${PERCENTAGE})$`;
const values = [
  { type: 'boolean' },
  { type: 'number', minimum: 0, maximum: 100 },
  { type: 'string', pattern: VALUE },
];
const isValue = new RegExp(VALUE);

const FeatureInput = Type.Object({
  ...byName,
  value: Type.Unknown({ ruled: { anyOf: values }, description: 'true, false, or a percentage.' }),
  key: Type.Optional(
    stringEnum(['percentage_of_actors', 'percentage_of_time'], {
      description: 'Of what the value is a percentage: of the time unless told.',
    }),
  ),
  user: actorList('the users of these names'),
  group: actorList('the groups of these paths'),
  namespace: actorList('the groups or users of these paths'),
  project: actorList('the projects of these paths'),
  feature_group: notSupported(),
  repository: notSupported(),
  force: Type.Optional(Type.Boolean({ description: 'Any name is taken, with this or without.' })),
});
type FeatureInput = Static<typeof FeatureInput>;

/** true, false, or a percentage, as JSON or as text. */
function readValue(value: unknown): boolean | number {
  if (value === true || value === 'true') return true;
  if (value === false || value === 'false' || value === 0 || value === '0') return false;
  const percentage = typeof value === 'string' && isValue.test(value) ? Number(value) : value;
  if (typeof percentage !== 'number' || !(percentage >= 0 && percentage <= 100))
    throw invalid({ value: ['must be true, false or a percentage from 0 to 100'] });
  return percentage;
}

/** The requested change of the flag; 400 for an invalid combination, and for unknown actors. */
async function readWish(db: Db, input: FeatureInput): Promise<FeatureWish> {
  for (const name of ['feature_group', 'repository'] as const)
    if (input[name] !== undefined) throw invalid({ [name]: ['is not supported'] });
  const value = readValue(input.value);
  const kinds = actorKinds.filter((kind) => input[kind] !== undefined);
  if (input.key !== undefined && kinds.length > 0)
    throw badRequest(`${['key', ...kinds].join(', ')} are mutually exclusive`);
  if (typeof value === 'number') {
    if (kinds.length > 0) throw invalid({ value: [`must be true or false beside ${kinds.join(', ')}`] });
    return { percentage: value, key: input.key ?? 'percentage_of_time' };
  }
  const actors: string[] = [];
  for (const kind of kinds) {
    const paths = input[kind] ?? [];
    if (paths.length === 0) throw invalid({ [kind]: ["can't be blank"] });
    for (const path of paths) {
      const actor = await findFeatureActor(db, kind, path);
      if (actor === undefined) throw badRequest(`${path} is not found`);
      actors.push(actor);
    }
  }
  return { value, actors: [...new Set(actors)] };
}

export const featureEndpoints: Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/features',
    summary: 'The feature flags that were set.',
    access: onInstance,
    reply: Type.Array(Feature),
    handle: async ({ db }) => (await selectFeatureGates(db)).map(presentFeature),
  }),
  endpoint({
    method: 'GET',
    path: '/features/definitions',
    summary: 'The feature flags that exist.',
    access: onInstance,
    reply: Type.Array(FeatureDefinition),
    handle: async () => presentDefinitions(),
  }),
  endpoint({
    method: 'POST',
    path: '/features/:name',
    summary: 'Sets a feature flag: for everybody, for some, or for a percentage.',
    access: onInstance,
    input: FeatureInput,
    reply: Feature,
    handle: async ({ services, db, actor, input }) =>
      presentFeature(await setFeature(services, db, actor, input.name, await readWish(db, input))),
  }),
  endpoint({
    method: 'DELETE',
    path: '/features/:name',
    summary: 'Gives a feature flag its default again.',
    access: onInstance,
    input: Type.Object(byName),
    reply: noContent,
    handle: async ({ services, db, actor, input, unmodified }) => {
      const gates = await selectFeatureGates(db);
      const gate = gates.find((each) => each.name === input.name);
      if (gate) unmodified(gate.updated_at);
      await resetFeature(services, db, actor, input.name);
      return null;
    },
  }),
];
