/** Stars in paths of `include:local`: `*` within a folder, `**` over folders, too, wherever they stand. Pure. */

type Part = { text: string } | 'folder' | 'folders';

/** Whether paths fit. Each star takes one look at each place, so that no path takes long. */
export function wildcardMatcher(wildcard: string): (path: string) => boolean {
  const parts: Part[] = wildcard
    .split(/(\*+)/)
    .filter((part) => part !== '')
    .map((part) => (part.startsWith('**') ? 'folders' : part === '*' ? 'folder' : { text: part }));
  return (path) => fits(parts, path);
}

/** The places to which the parts so far lead; those that follow begin at one of them. */
function fits(parts: Part[], path: string): boolean {
  let places = new Set([0]);
  for (const part of parts) {
    const next = new Set<number>();
    if (typeof part === 'object') {
      for (const place of places) if (path.startsWith(part.text, place)) next.add(place + part.text.length);
    } else {
      const first = Math.min(...places);
      for (let place = first; place <= path.length; place += 1) {
        const isReached =
          places.has(place) || (next.has(place - 1) && (part === 'folders' || path[place - 1] !== '/'));
        if (isReached) next.add(place);
      }
    }
    if (next.size === 0) return false;
    places = next;
  }
  return places.has(path.length);
}
