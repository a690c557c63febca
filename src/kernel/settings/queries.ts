/** The stored settings and feature flags. */
import type { Sql } from '../../platform/db/driver/sql.ts';
import type { ApplicationSettings } from './definitions.ts';

/** The settings that differ, or once did, from their defaults. */
export async function selectSettings(sql: Sql): Promise<Partial<ApplicationSettings>> {
  const [row] = await sql<{ values: Partial<ApplicationSettings> }[]>`
    select values from application_settings where id = 1`;
  return row?.values ?? {};
}

/** The stored flag: `value` for all, the others for some actors, such as `User:7`, or some of the time. */
export type FeatureGate = {
  name: string;
  value: string;
  actors: string[];
  percentage_of_actors: number;
  percentage_of_time: number;
};

export const selectFeatureGates = (sql: Sql): Promise<FeatureGate[]> =>
  sql<FeatureGate[]>`select name, value, actors, percentage_of_actors, percentage_of_time from feature_gates`;
