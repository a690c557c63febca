/** Paths that begin with any number of segments, `/:name+…`, for a router whose parameters are one segment each. Pure. */

const beginning = /^\/:\w+\+/;
/** No group or user has one of these names. Repositories of snippets are found below `-/`, like those of any path. */
const fixed = /^(?:api|-(?!\/snippets\/))\//;

/** The path as the router takes it. */
export const routerPath = (path: string): string => path.replace(/^(\/:\w+)\+/, '$1');

/** Where the ending begins in the path; a `*` at its end stands for anything. Negative when the path does not end so. */
function findEnding(path: string, ending: string): number {
  if (ending.endsWith('*')) return path.lastIndexOf(ending.slice(0, -1));
  return path.endsWith(ending) ? path.length - ending.length : -1;
}

/**
 * Gives the router the many segments of `:name+` as one, by encoding the slashes between them: so such a path has the
 * methods, the parameters and the measurements of any other. It takes time in proportion to the address, whatever that is.
 */
export function joinSegments(paths: readonly string[]): (url: string) => string {
  const many = paths.filter((path) => beginning.test(path)).map((path) => path.replace(beginning, ''));
  const endings = [...new Set(many)];
  return (url) => {
    const [root = ''] = /^(?:https?:\/\/[^/?]*)?\/*/.exec(url) ?? [];
    const mark = url.indexOf('?');
    const path = url.slice(root.length, mark < 0 ? undefined : mark);
    if (fixed.test(path)) return url;
    for (const ending of endings) {
      const at = findEnding(path, ending);
      if (at > 0) return `${root}${path.slice(0, at).replace(/\/+/g, '%2F')}${url.slice(root.length + at)}`;
    }
    return url;
  };
}
