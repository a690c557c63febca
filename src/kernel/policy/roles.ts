/** Roles and visibilities: stored numbers, and their public names (facts: Roles and visibility). */

export const NO_ACCESS = 0;
export const MINIMAL = 5;
export const GUEST = 10;
export const PLANNER = 15;
export const REPORTER = 20;
export const DEVELOPER = 30;
export const MAINTAINER = 40;
export const OWNER = 50;

/** The access levels a member may have, lowest first. */
export const memberLevels = [MINIMAL, GUEST, PLANNER, REPORTER, DEVELOPER, MAINTAINER, OWNER] as const;
export type Role = (typeof memberLevels)[number] | typeof NO_ACCESS;

/** The levels accepted in requests and filters (facts: Endpoint inventory). */
export const assignableLevels = [GUEST, PLANNER, REPORTER, DEVELOPER, MAINTAINER, OWNER] as const;

export const roleNames: Record<Role, string> = {
  0: 'No access',
  5: 'Minimal Access',
  10: 'Guest',
  15: 'Planner',
  20: 'Reporter',
  30: 'Developer',
  40: 'Maintainer',
  50: 'Owner',
};

/** The public name of a stored level. */
export const levelName = (level: number): string =>
  Object.entries(roleNames).find(([each]) => Number(each) === level)?.[1] ?? String(level);

export const PRIVATE = 0;
export const INTERNAL = 10;
export const PUBLIC = 20;

export const visibilityNames = ['private', 'internal', 'public'] as const;
export type VisibilityName = (typeof visibilityNames)[number];

const levelOf: Record<VisibilityName, number> = { private: PRIVATE, internal: INTERNAL, public: PUBLIC };

export const visibilityLevel = (name: VisibilityName): number => levelOf[name];

/** The public name of a stored visibility. */
export function visibilityName(level: number): VisibilityName {
  if (level === PUBLIC) return 'public';
  return level === INTERNAL ? 'internal' : 'private';
}
