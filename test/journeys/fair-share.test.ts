/**
 * One greedy caller against all others: each of the attackers works at full strength from one address or
 * account, while another client reads, writes and clones. It waits for less than a second, is refused
 * nothing, and memory stays bounded.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AttackerName, attackers } from './attackers.ts';
import { openSite, type Site, suffer } from './fair-share-site.ts';
import { cleanUp } from './support.ts';

const ATTACK_MS = 5_000;
const MAX_WAIT_MS = 1_000;
/** On a machine on which even a server that does nothing is slow, so many times that wait is allowed. */
const MACHINE_SHARE = 10;
/** Of the program's own process. */
const MAX_MEMORY_MB = 400;

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => cleanUp());

test.each(Object.keys(attackers) as AttackerName[])('%s', async (name) => {
  const { waits, machineMs, memoryMb, attacked } = await suffer(site, name, ATTACK_MS);
  const figures = Object.entries(waits).map(
    ([kind, { p99, count }]) => `${kind} ${p99.toFixed(0)} ms (${count})`,
  );
  process.stdout.write(
    `${name}: ${figures.join(', ')}; machine ${machineMs.toFixed(0)} ms; ${memoryMb.toFixed(0)} MB; ${JSON.stringify(attacked)}\n`,
  );
  for (const [kind, { p99, count, failures }] of Object.entries(waits)) {
    expect([kind, failures]).toEqual([kind, []]);
    expect(count, kind).toBeGreaterThan(0);
    expect(p99, kind).toBeLessThan(MAX_WAIT_MS + MACHINE_SHARE * machineMs);
  }
  expect(memoryMb).toBeLessThan(MAX_MEMORY_MB);
  // It did attack, and never met a fault.
  expect(attacked.sent).toBeGreaterThan(0);
  expect(Object.keys(attacked.statuses)).not.toContain('500');
});
