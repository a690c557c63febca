/** Paths that begin with any number of segments, `/:name+…`, for a router whose parameters are one segment each. Pure. */

/** The path of the route for all that no other route matches. */
export const ANY_PATH = '/:path+';

const beginning = /^\/:\w+\+/;
/** No group or user has one of these names. Repositories of snippets are below `-/`. */
const fixed = /^(?:api|v2|-(?!\/snippets\/))\//;

/** The path for the router. */
export const routerPath = (path: string): string => path.replace(/^(\/:\w+)\+/, '$1');

/** No segment of a full path is `-`: after the first one begins a page of the path before it. */
const DASH = '/-/';

/** The pattern of an ending, its parameters as one segment each: `:name`, or `:name(pattern)`. */
const patternOf = (ending: string): string =>
  ending
    .split(/:\w+(\([^)]*\))?/)
    .map((part, index) => (index % 2 === 0 ? part.replace(/[.+?^$()[\]{}|\\]/g, '\\$&') : (part ?? '[^/]+')))
    .join('');

/** Matches an ending that begins with the dash, up to the end of the path. */
const dashed = (ending: string): RegExp => new RegExp(`^${patternOf(ending).replace(/\*$/, '.*')}/?$`);

/** Finds the start of the ending in a path, negative without it; a `*` at its end matches anything. */
function finderOf(ending: string): (path: string) => number {
  const start = ending.slice(0, -1);
  if (ending.endsWith('*')) return (path) => path.lastIndexOf(start);
  const pattern = new RegExp(`${patternOf(ending)}$`);
  return (path) => path.search(pattern);
}

/**
 * Encodes the slashes within `:name+`, so that the router gets one segment, and such paths have methods,
 * parameters and measurements like others. Takes time linear in the address.
 */
export function joinPathSegments(paths: readonly string[]): (url: string) => string {
  const many = paths.filter((path) => beginning.test(path)).map((path) => path.replace(beginning, ''));
  const endings = [...new Set(many)].filter((ending) => ending !== '' && !ending.startsWith(DASH));
  const finders = endings.map(finderOf);
  const pages = [...new Set(many)].filter((ending) => ending.startsWith(DASH)).map(dashed);
  const joined = (root: string, path: string, at: number, rest: string): string =>
    `${root}${path.slice(0, at).replace(/\/+/g, '%2F')}${rest}`;
  return (url) => {
    const [root = ''] = /^(?:https?:\/\/[^/?]*)?\/*/.exec(url) ?? [];
    const mark = url.indexOf('?');
    const path = url.slice(root.length, mark < 0 ? undefined : mark);
    if (fixed.test(path)) return url;
    const dash = path.indexOf(DASH);
    if (dash > 0 && pages.some((page) => page.test(path.slice(dash))))
      return joined(root, path, dash, url.slice(root.length + dash));
    for (const find of finders) {
      const at = find(path);
      if (at > 0) return joined(root, path, at, url.slice(root.length + at));
    }
    return url;
  };
}
