/**
 * The access matrix against the mutants: the routes that meet each, and whether one of them then responds
 * otherwise. A mutant that no cell notices survives here, and is left to the tests of its capability.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'vitest';
import { type Cell, openWalk } from '../support/access-walk.ts';
import { accessOptions } from '../support/access-world.ts';
import { useApp } from '../support/app.ts';
import { situationNames } from '../support/situations.ts';
import { mutation } from './switch.ts';

const ashlar = useApp(accessOptions());

/** Cells for one mutant, at most: the rest hardly notice a mutant that the first hundreds miss. */
const MAX_CELLS = Number(process.env.MUTATE_CELLS ?? 150);

/** So many of them, evenly spread. */
function spread(cells: readonly Cell[], most: number): Cell[] {
  if (cells.length <= most) return [...cells];
  return Array.from({ length: most }, (_, index) => cells[Math.floor((index * cells.length) / most)]).filter(
    (cell) => cell !== undefined,
  );
}

test('the access matrix notices', async () => {
  const wanted = new Set<string>(
    JSON.parse(readFileSync(join(mutation.folder, 'mutants.json'), 'utf8')) as string[],
  );
  const walk = await openWalk(ashlar);
  const usual = new Map<Cell, string>();
  const meeting = new Map<string, Cell[]>();
  const say = (line: string) => process.stderr.write(`${line}\n`);
  for (const cell of walk.cells) {
    await walk.enter(cell.situation);
    mutation.met.clear();
    usual.set(cell, await walk.ask(cell));
    for (const id of mutation.met) {
      if (!wanted.has(id)) continue;
      const cells = meeting.get(id) ?? [];
      if (cells.push(cell) === 1) meeting.set(id, cells);
    }
  }
  say(`${walk.cells.length} cells were asked, ${meeting.size} of ${wanted.size} mutants were met`);
  const killed: Record<string, string> = {};
  for (const id of wanted) {
    const cells = meeting.get(id);
    if (cells === undefined) continue;
    const tried = spread(cells, MAX_CELLS);
    tried.sort((a, b) => situationNames.indexOf(a.situation) - situationNames.indexOf(b.situation));
    for (const cell of tried) {
      await walk.enter(cell.situation);
      mutation.awake = id;
      // A mutant that breaks the response itself is noticed too.
      const said = await walk.ask(cell).catch((error: unknown) => String(error));
      mutation.awake = '';
      if (said === usual.get(cell)) continue;
      // Only where the mutant caused it: without it, the route responds as usual.
      if ((await walk.ask(cell)) !== usual.get(cell)) continue;
      killed[id] =
        `${cell.route.title}, ${cell.situation}, ${cell.caller}: ${usual.get(cell)} became ${said}`;
      break;
    }
    say(`${killed[id] === undefined ? 'not noticed' : 'noticed'} ${id} ${killed[id] ?? ''}`);
  }
  const unmet = [...wanted].filter((id) => !meeting.has(id));
  writeFileSync(join(mutation.folder, 'result.json'), JSON.stringify({ killed, unmet }, null, 1));
}, 7_200_000);
