/** The cost of a greedy caller for another: its waits beside those that it has alone. */
import { type AttackerName, attackers } from '../test/journeys/attackers.ts';
import { openSite, suffer } from '../test/journeys/fair-share-site.ts';
import type { Figure } from './table.ts';

const MILLISECONDS = 8_000;
const MAX_WAIT_MS = 1_000;
const MAX_MEMORY_MB = 400;

/** The longest of a hundred waits of the other client, of its three kinds of work. */
export async function measureFairShare(): Promise<Figure[]> {
  const site = await openSite();
  await suffer(site, undefined, MILLISECONDS);
  const alone = await suffer(site, undefined, MILLISECONDS);
  const figures: Figure[] = [];
  for (const name of Object.keys(attackers) as AttackerName[]) {
    const { waits, memoryMb } = await suffer(site, name, MILLISECONDS);
    const refusals = Object.values(waits).reduce((sum, { failures }) => sum + failures.length, 0);
    const worst = Math.max(...Object.values(waits).map(({ p99 }) => p99));
    const shown = (of: typeof waits) =>
      `${of['GET /user'].p99.toFixed(0)} / ${of['POST issue'].p99.toFixed(0)} / ${of.clone.p99.toFixed(0)} ms`;
    figures.push({
      what: `p99 of GET /user, POST issue and clone beside: ${name}`,
      value: shown(waits),
      baseline: `${shown(alone.waits)} (alone)`,
      result: `${worst.toFixed(0)} ms, ${refusals} refused, ${memoryMb.toFixed(0)} MB`,
      target: `< ${MAX_WAIT_MS} ms, 0, < ${MAX_MEMORY_MB} MB`,
      met: worst < MAX_WAIT_MS && refusals === 0 && memoryMb < MAX_MEMORY_MB,
    });
  }
  await site.program.stop();
  return figures;
}
