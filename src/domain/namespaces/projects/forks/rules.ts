/** Decisions about forks, as pure functions. */

import type { ProjectSettings } from '../../../../kernel/namespaces/project-settings.ts';
import {
  INTERNAL,
  PRIVATE,
  PUBLIC,
  type VisibilityName,
  visibilityLevel,
  visibilityName,
} from '../../../../kernel/policy/roles.ts';

/**
 * The visibility of a fork whose request names none: as open as its source, its group and the instance allow.
 */
export function forkVisibility(given: {
  source: number;
  /** The group's visibility; undefined in a personal namespace. */
  group: number | undefined;
  /** Visibilities that the caller may not use. */
  restricted: readonly string[];
}): VisibilityName {
  const most = Math.min(given.source, given.group ?? PUBLIC);
  const allowed = [PUBLIC, INTERNAL].find(
    (level) => level <= most && !given.restricted.includes(visibilityName(level)),
  );
  return visibilityName(allowed ?? PRIVATE);
}

/** Whether more people would see the fork than its source. */
export const isMoreOpen = (visibility: VisibilityName, source: number): boolean =>
  visibilityLevel(visibility) > source;

/**
 * Settings that a fork takes over from its source: access to each part, or it would show more than the
 * source.
 */
export const inheritedSettings = (source: ProjectSettings): Partial<ProjectSettings> =>
  Object.fromEntries(Object.entries(source).filter(([name]) => name.endsWith('_access_level')));
