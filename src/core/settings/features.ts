/** Feature flags of the instance: what is behind a flag that is off does not exist (spec: Versioning, 4). */
import { crc32 } from 'node:zlib';
import type postgres from 'postgres';
import { createRecent, type Recent } from '../../platform/recent.ts';
import { randomFraction } from '../../platform/secret.ts';

/** The flags that something obeys, with what they gate. Any other name can be set too, and has no definition. */
export const featureDefinitions = {
  generic_alert_fingerprinting: {
    description: 'From Premium up, generic alerts without a fingerprint get one from their payload.',
    default: true,
  },
  oauth_dynamic_client_registration: {
    description: 'Programs may register themselves as OAuth applications at POST /oauth/register.',
    default: false,
  },
} as const;
export type FeatureName = keyof typeof featureDefinitions;

/** What a flag was set to: `value` is for everybody, the others for some actors, such as `User:7`, or some of the time. */
export type FeatureGate = {
  name: string;
  value: string;
  actors: string[];
  percentage_of_actors: number;
  percentage_of_time: number;
};

export type FeatureGates = {
  /** `actorOf` is asked only where the flag is on for some actors. */
  isOn(name: string, actorOf?: () => Promise<string | undefined>): Promise<boolean>;
  forget: Recent<unknown>['forget'];
};

/** Whether the gates let this call through; which actors are among a percentage stays the same from call to call. */
async function isOpen(gate: FeatureGate, actorOf?: () => Promise<string | undefined>): Promise<boolean> {
  if (gate.value === 'true' || randomFraction() * 100 < gate.percentage_of_time) return true;
  if (gate.actors.length === 0 && gate.percentage_of_actors === 0) return false;
  const actor = await actorOf?.();
  if (actor === undefined) return false;
  return (
    gate.actors.includes(actor) || crc32(`${gate.name}${actor}`) % 100_000 < gate.percentage_of_actors * 1_000
  );
}

export function createFeatureGates(sql: postgres.Sql): FeatureGates {
  const { read, forget } = createRecent(async () => {
    const rows = await sql<FeatureGate[]>`
      select name, value, actors, percentage_of_actors, percentage_of_time from feature_gates`;
    return new Map(rows.map((row) => [row.name, row]));
  });
  return {
    async isOn(name, actorOf) {
      const gate = (await read()).get(name);
      if (gate !== undefined) return isOpen(gate, actorOf);
      return featureDefinitions[name as FeatureName]?.default ?? false;
    },
    forget,
  };
}
