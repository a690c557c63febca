/** Feature flags of the instance: which there are, and switching them (spec: Versioning, 4). */
import Type from 'typebox';
import { onInstance } from '../../core/access/access.ts';
import { type Endpoint, endpoint, found, noContent } from '../../core/endpoint.ts';
import { invalid } from '../../platform/failure.ts';
import { resetFeature, setFeature } from './actions.ts';
import { presentDefinitions, presentFeatures } from './present.ts';
import { selectFeatureGates } from './queries.ts';
import { Feature, FeatureDefinition } from './schema.ts';

const byName = { name: Type.String({ description: 'The name of the flag.' }) };
/** What would set a flag for some callers only. */
const targets = {
  key: notSupported(),
  feature_group: notSupported(),
  user: notSupported(),
  group: notSupported(),
  namespace: notSupported(),
  project: notSupported(),
  repository: notSupported(),
};

function notSupported() {
  return Type.Optional(Type.Unknown({ description: 'Not supported: a flag is on or off for everybody.' }));
}

/** True or false; 400 for a percentage, and for anything that names some of the callers. */
function readValue(input: { [name: string]: unknown }): boolean {
  const named = Object.keys(targets).filter((name) => input[name] !== undefined);
  if (named.length > 0) throw invalid(Object.fromEntries(named.map((name) => [name, ['is not supported']])));
  const { value } = input;
  if (value === true || value === 'true') return true;
  if (value === false || value === 'false') return false;
  throw invalid({ value: ['must be true or false: percentages are not supported'] });
}

export const featureEndpoints: Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/features',
    summary: 'The feature flags that were set.',
    access: onInstance,
    reply: Type.Array(Feature),
    handle: async ({ db }) => presentFeatures(await selectFeatureGates(db)),
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
    summary: 'Switches a feature flag on or off for everybody.',
    access: onInstance,
    input: Type.Object({
      ...byName,
      value: Type.Unknown({ description: 'true or false.' }),
      ...targets,
    }),
    reply: Feature,
    handle: async ({ services, db, actor, input }) => {
      const value = readValue(input);
      await setFeature(services, db, actor, input.name, value);
      const [feature] = presentFeatures([{ name: input.name, value: String(value) }]);
      return found(feature);
    },
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
