/** What the system's scheduler puts first. */
import { readdirSync } from 'node:fs';
import { constants, setPriority } from 'node:os';

/** All else that the machine has to do goes before this process, its threads, and what they start from now on. */
export function giveWay(): void {
  // Linux schedules threads one by one, and a new one has the priority of the one that starts it.
  const threads = process.platform === 'linux' ? readdirSync('/proc/self/task').map(Number) : [0];
  for (const each of threads)
    try {
      setPriority(each, constants.priority.PRIORITY_LOW);
    } catch {
      // It has ended meanwhile.
    }
}
