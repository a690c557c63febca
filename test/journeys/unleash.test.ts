/** The client of Unleash for Node, unleash-client, obeys the feature flags of a project. */
import { once } from 'node:events';
import { Unleash } from 'unleash-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cleanUp, makeFolder, type Program, startProgram } from './support.ts';

let program: Program;
let client: { api_url: string; instance_id: string };
const clients: Unleash[] = [];

beforeAll(async () => {
  program = await startProgram();
  await program.root('POST /projects', { name: 'Bridge' });
  const given = await program.root('GET /projects/root%2Fbridge/feature_flags_client');
  client = (await given.json()) as typeof client;
  const scoped = (name: string, environment_scope: string, parameters = {}) => ({
    ...{ name, parameters, scopes: [{ environment_scope }] },
  });
  const flags = [
    { name: 'arches', strategies: [scoped('default', 'production')] },
    { name: 'vaults', active: false, strategies: [scoped('default', '*')] },
    { name: 'towers', strategies: [scoped('userWithId', '*', { userIds: 'ada,vitruvius' })] },
    {
      name: 'domes',
      strategies: [
        scoped('flexibleRollout', '*', { rollout: '100', groupId: 'masons', stickiness: 'userId' }),
      ],
    },
  ];
  for (const flag of flags)
    expect((await program.root('POST /projects/root%2Fbridge/feature_flags', flag)).status).toBe(201);
});

afterAll(async () => {
  for (const each of clients) each.destroy();
  await cleanUp();
});

/** It asks at its start; in milliseconds. */
const HOUR = 3_600_000;

const settingsOf = (environment: string, instanceId = client.instance_id) => ({
  url: client.api_url,
  appName: environment,
  instanceId,
  refreshInterval: HOUR,
  metricsInterval: HOUR,
  backupPath: makeFolder(),
});

async function unleashed(environment: string): Promise<Unleash> {
  const started = new Unleash(settingsOf(environment));
  clients.push(started);
  const registered = once(started, 'registered');
  await once(started, 'synchronized');
  await registered;
  return started;
}

test('each environment has its flags, by person where a strategy says so', async () => {
  const production = await unleashed('production');
  const staging = await unleashed('staging');
  const read = (each: Unleash) => [
    each.isEnabled('arches'),
    each.isEnabled('vaults'),
    each.isEnabled('towers', { userId: 'ada' }),
    each.isEnabled('towers', { userId: 'wren' }),
    each.isEnabled('domes', { userId: 'wren' }),
  ];
  expect(read(production)).toEqual([true, false, true, false, true]);
  expect(read(staging)).toEqual([false, false, true, false, true]);
});

test('a client with another token is told so', async () => {
  const stranger = new Unleash(settingsOf('production', 'glffct-not-this-one'));
  clients.push(stranger);
  const [error] = await once(stranger, 'error');
  expect(String(error)).toContain('401');
});
