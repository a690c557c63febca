/** Paths of epics below their group, in two forms. */
import type { Endpoint } from '../../../kernel/api/endpoint.ts';

const paths = ['/groups/:id/epics', '/groups/:id/-/epics'] as const;

/** The endpoints at each of the two paths. */
export const atBothPaths = (endpointsAt: (path: string) => Endpoint[]): Endpoint[] =>
  paths.flatMap(endpointsAt);

export const [plainPath] = paths;
