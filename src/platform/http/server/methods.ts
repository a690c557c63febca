/**
 * Responses to methods that a path does not have. They are seldom needed, so the router of requests does not
 * know them, and a second one is built for the first such request.
 */
import createRouter from 'find-my-way';
import { routerPath } from '../path-segments.ts';

/** Options of the router, the same for both. */
export const routerOptions = {
  maxParamLength: 1_048_576,
  caseSensitive: true,
  // Public clients sometimes add a slash; an encoded one stays.
  ignoreTrailingSlash: true,
  ignoreDuplicateSlashes: true,
} as const;

/** Whether the pattern may match all that the path matches, each a list of segments; errs towards true. */
function covers(pattern: readonly string[], path: readonly string[]): boolean {
  const open = pattern.at(-1) === '*';
  if (open ? path.length < pattern.length : path.length !== pattern.length) return false;
  // From the end: paths differ there more often.
  return !pattern.some((_, place) => {
    const at = pattern.length - 1 - place;
    const segment = pattern[at] ?? '';
    return segment !== path[at] && !segment.includes(':') && !(open && segment === '*');
  });
}

/** `/api/v4/users`: paths are compared only if they share this, or it has a parameter. */
const beginningOf = (segments: readonly string[]): string => segments.slice(0, 4).join('/');

/**
 * The methods that a path lacks, but a matching path with parameters has, to which the router would route
 * them: `DELETE /users/export` must not be `DELETE /users/:id`. Pure.
 */
export function overshadowed<Method extends string>(
  paths: ReadonlyMap<string, ReadonlySet<Method>>,
): Map<string, Method[]> {
  const patterns = [...paths]
    .filter(([path]) => /[:*]/.test(path))
    .map(([path, methods]) => ({ path, methods, segments: path.split('/') }));
  const byBeginning = Map.groupBy(patterns, ({ segments }) => {
    const beginning = beginningOf(segments);
    return /[:*]/.test(beginning) ? '' : beginning;
  });
  const found = new Map<string, Method[]>();
  for (const [path, own] of paths) {
    const segments = path.split('/');
    const near = [beginningOf(segments), ''].flatMap((beginning) => byBeginning.get(beginning) ?? []);
    for (const pattern of near) {
      if (pattern.path === path || !covers(pattern.segments, segments)) continue;
      const known = found.get(path) ?? [];
      const more = [...pattern.methods].filter((method) => !own.has(method) && !known.includes(method));
      if (more.length > 0) found.set(path, [...known, ...more]);
    }
  }
  return found;
}

/** Finds the declared path of an address; built on first use. */
export function pathFinder(paths: () => Iterable<string>): (url: string) => string | undefined {
  let router: ReturnType<typeof createRouter> | undefined;
  return (url) => {
    if (router === undefined) {
      router = createRouter(routerOptions);
      for (const path of paths()) router.on('GET', routerPath(path), () => {}, path);
    }
    return router.find('GET', url)?.store ?? undefined;
  };
}
