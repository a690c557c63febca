/**
 * What a path has for methods that it does not have. They are most of what could be asked, and asked seldom: the router
 * that serves requests does not know of them, and one of their own is built when the first comes.
 */
import createRouter from 'find-my-way';
import { routerPath } from './path-segments.ts';

/** Options of the router, the same for both. */
export const routerOptions = {
  maxParamLength: 1_048_576,
  caseSensitive: true,
  // Public clients join paths with a slash too many now and then; an encoded one is never touched.
  ignoreTrailingSlash: true,
  ignoreDuplicateSlashes: true,
} as const;

/** Whether the pattern takes all that the path takes, each a list of segments; rather too often than too seldom. */
function covers(pattern: readonly string[], path: readonly string[]): boolean {
  const open = pattern.at(-1) === '*';
  if (open ? path.length < pattern.length : path.length !== pattern.length) return false;
  // Beginnings are alike more often than ends.
  return !pattern.some((_, place) => {
    const at = pattern.length - 1 - place;
    const segment = pattern[at] ?? '';
    return segment !== path[at] && !segment.includes(':') && !(open && segment === '*');
  });
}

/** `/api/v4/users`: what two paths must share before it is worth comparing them, unless it has a parameter already. */
const beginningOf = (segments: readonly string[]): string => segments.slice(0, 4).join('/');

/**
 * The methods that each path lacks and a path with parameters in its place has, which the router would hand them to:
 * `DELETE /users/export` is not to be `DELETE /users/:id`. Pure.
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

/** Finds the path that an address has, as given; built at the first question. */
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
