/** Feature flags of the instance: what is behind a flag that is off does not exist (spec: Versioning, 4). */
import type postgres from 'postgres';
import { monotonic } from '../../platform/clock.ts';

/** The flags that exist, with what they gate. A flag not listed here cannot be set. */
export const featureDefinitions = {
  generic_alert_fingerprinting: {
    description: 'Generic alerts without a fingerprint get one from their payload.',
    default: false,
  },
  oauth_dynamic_client_registration: {
    description: 'Programs may register themselves as OAuth applications at POST /oauth/register.',
    default: false,
  },
} as const;
export type FeatureName = keyof typeof featureDefinitions;

export type FeatureGates = {
  isOn(name: string): Promise<boolean>;
  /** Reads anew at the next use: called after the commit of a change. */
  forget(): void;
};

const MAXIMUM_AGE = 1_000;

export function createFeatureGates(sql: postgres.Sql): FeatureGates {
  let known = new Map<string, string>();
  let readAt = Number.NEGATIVE_INFINITY;
  return {
    async isOn(name) {
      if (monotonic() - readAt > MAXIMUM_AGE) {
        const rows = await sql<{ name: string; value: string }[]>`select name, value from feature_gates`;
        known = new Map(rows.map((row) => [row.name, row.value]));
        readAt = monotonic();
      }
      const value = known.get(name);
      if (value !== undefined) return value === 'true';
      return featureDefinitions[name as FeatureName]?.default ?? false;
    },
    forget() {
      readAt = Number.NEGATIVE_INFINITY;
    },
  };
}
