/** Feature flags of the instance: an endpoint behind a disabled flag does not exist (spec: Versioning, 4). */
import { crc32 } from 'node:zlib';
import type { Sql } from '../../platform/db/driver/sql.ts';
import { createRecent, type Recent } from '../../platform/recent.ts';
import { randomFraction } from '../../platform/secret.ts';
import { type FeatureGate, selectFeatureGates } from './queries.ts';

/** The flags in use, with their effect. Other names can be set too, and have no definition. */
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

export type FeatureGates = {
  /** `actorOf` is called only where the flag is on for some actors. */
  isOn(name: string, actorOf?: () => Promise<string | undefined>): Promise<boolean>;
  forget: Recent<unknown>['forget'];
};

/** Whether the flag is on for this call; the actors within a percentage stay the same. */
async function isOpen(gate: FeatureGate, actorOf?: () => Promise<string | undefined>): Promise<boolean> {
  if (gate.value === 'true' || randomFraction() * 100 < gate.percentage_of_time) return true;
  if (gate.actors.length === 0 && gate.percentage_of_actors === 0) return false;
  const actor = await actorOf?.();
  if (actor === undefined) return false;
  return (
    gate.actors.includes(actor) || crc32(`${gate.name}${actor}`) % 100_000 < gate.percentage_of_actors * 1_000
  );
}

export function createFeatureGates(sql: Sql): FeatureGates {
  const { read, forget } = createRecent(async () => {
    const rows = await selectFeatureGates(sql);
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
