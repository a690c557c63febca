/** Admin mode: whether an administrator's rights count, where the instance demands that they are asked for. Pure. */
import type { Scope } from '../actor.ts';
import type { ApplicationSettings } from '../settings/definitions.ts';

/** For which a session has entered admin mode, in milliseconds. */
export const ADMIN_MODE_MS = 6 * 3_600_000;

/** What speaks for the administrator. */
export type Elevation =
  | { via: 'token'; scopes: readonly string[] }
  | { via: 'session'; enteredAt: Date | null };

const ADMIN_MODE: Scope = 'admin_mode';

function isElevated(elevation: Elevation, time: Date): boolean {
  if (elevation.via === 'token') return elevation.scopes.includes(ADMIN_MODE);
  const { enteredAt } = elevation;
  return enteredAt !== null && time.getTime() - enteredAt.getTime() < ADMIN_MODE_MS;
}

/** What counts of the rights of a user who is an administrator, or is none. */
export function adminRights(
  user: { admin: boolean },
  settings: Pick<ApplicationSettings, 'admin_mode'>,
  elevation: Elevation,
  time: Date,
): { admin: boolean; adminMode?: true } {
  if (!user.admin || !settings.admin_mode) return { admin: user.admin };
  return isElevated(elevation, time) ? { admin: true, adminMode: true } : { admin: false };
}
