/** Paths of epics below their group, in two forms. */
import type { Endpoint } from '../../../kernel/api/endpoint.ts';

export const plainPath = '/groups/:id/epics';
const dashedPath = '/groups/:id/-/epics';

export type EpicsPath = typeof plainPath | typeof dashedPath;

/** The endpoints at each of the two paths; pages read those at the plain one. */
export function atBothPaths<Endpoints extends Record<string, Endpoint>>(
  endpointsAt: (path: EpicsPath) => Endpoints,
): { plain: Endpoints; all: Endpoint[] } {
  const plain = endpointsAt(plainPath);
  return { plain, all: [...Object.values(plain), ...Object.values(endpointsAt(dashedPath))] };
}
