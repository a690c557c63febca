/** Names of issues elsewhere that a project writes in a way of its own. */
import { Registry } from '../../kernel/registry.ts';
import { MAX_SIZE_IN_TEXTS, patternCompiler } from '../../platform/patterns/pattern.ts';
import { type Found, scanReferences } from './references.ts';
import type { RenderContext } from './render-context.ts';

/** The pattern of such names, whose first group is the name proper; undefined for a project whose tracker has the common ones. */
export const trackerNames = new Registry<(context: RenderContext) => Promise<string | undefined>>();

export async function readTrackerNames(context: RenderContext): Promise<string | undefined> {
  if (!context.project) return undefined;
  for (const read of trackerNames.all(context.services)) {
    const pattern = await read(context);
    if (pattern !== undefined) return pattern;
  }
  return undefined;
}

/** scanReferences() for the texts of one project. */
export type Scan = (text: string) => Iterable<Found>;

/** Of two that overlap the first to begin; of these the tracker's. */
function* inOrder(all: readonly Found[]): Generator<Found> {
  let end = 0;
  for (const each of all.toSorted((a, b) => a.start - b.start)) {
    if (each.start < end) continue;
    yield each;
    end = each.end;
  }
}

/** Where there is a pattern, its names stand in place of the common ones of trackers: the first twenty of each text. */
export async function scannerOf(pattern: string | undefined): Promise<Scan> {
  if (pattern === undefined) return scanReferences;
  const compiled = (await patternCompiler())(pattern, MAX_SIZE_IN_TEXTS);
  if ('problem' in compiled) return scanReferences;
  return (text) => {
    const own = compiled.findFirst(text).flatMap(({ start, end, group }): Found[] => {
      if (group === '') return [];
      const reference = {
        kind: 'external_issue',
        path: undefined,
        name: group,
        text: text.slice(start, end),
      } as const;
      return [{ start, end, reference }];
    });
    const others = [...scanReferences(text)].filter(
      (each) => !('reference' in each) || each.reference.kind !== 'external_issue',
    );
    return inOrder([...own, ...others]);
  };
}
