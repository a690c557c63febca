/** Paths that begin with any number of segments, `/:name+…`, for a router whose parameters are one segment each. Pure. */

/** The path of the route that takes what no other takes. */
export const ANY_PATH = '/:path+';

const beginning = /^\/:\w+\+/;
/** No group or user has one of these names. Repositories of snippets are found below `-/`, like those of any path. */
const fixed = /^(?:api|-(?!\/snippets\/))\//;

/** The path as the router takes it. */
export const routerPath = (path: string): string => path.replace(/^(\/:\w+)\+/, '$1');

/** No segment of a full path is `-`: what stands behind the first one is a page of whatever stands before it. */
const DASH = '/-/';

/** What an ending matches, its parameters as one segment each: `:name`, or `:name(pattern)` where not any will do. */
const patternOf = (ending: string): string =>
  ending
    .split(/:\w+(\([^)]*\))?/)
    .map((part, index) => (index % 2 === 0 ? part.replace(/[.+?^$()[\]{}|\\]/g, '\\$&') : (part ?? '[^/]+')))
    .join('');

/** Matches an ending that begins with the dash, from there to the end of the path. */
const dashed = (ending: string): RegExp => new RegExp(`^${patternOf(ending).replace(/\*$/, '.*')}/?$`);

/** Finds where the ending begins in a path; a `*` at its end stands for anything. Negative when the path does not end so. */
function finderOf(ending: string): (path: string) => number {
  const start = ending.slice(0, -1);
  if (ending.endsWith('*')) return (path) => path.lastIndexOf(start);
  const pattern = new RegExp(`${patternOf(ending)}$`);
  return (path) => path.search(pattern);
}

/**
 * Gives the router the many segments of `:name+` as one, by encoding the slashes between them: so such a path has the
 * methods, the parameters and the measurements of any other. It takes time in proportion to the address, whatever that is.
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
