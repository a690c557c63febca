/** What the system's scheduler puts first. */
import { readdirSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';

/** Before what is as usual, which still leaves it a tenth of a processor that others want, and before everything. */
const levels = { usual: constants.priority.PRIORITY_BELOW_NORMAL, all: constants.priority.PRIORITY_LOW };

/** Others that the machine works for go before this process, its threads, and what they start from now on. */
export function giveWay(to: keyof typeof levels): void {
  // Linux schedules threads one by one, and a new one has the priority of the one that starts it.
  const threads = process.platform === 'linux' ? readdirSync('/proc/self/task').map(Number) : [0];
  for (const each of threads)
    try {
      setPriority(each, Math.max(getPriority(each), levels[to]));
    } catch {
      // It has ended meanwhile.
    }
}
