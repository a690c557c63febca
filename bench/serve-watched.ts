/**
 * `ashlar serve` that also shows, among its metrics, how long its event loop computed at the longest without a turn, in the
 * thread's own time, which other programs on the machine do not lengthen; and how many statements it has sent.
 */
import { capabilities } from '../src/capabilities.ts';
import type { Capability } from '../src/kernel/capability.ts';
import { readConfig } from '../src/kernel/config.ts';
import { serve } from '../src/main.ts';
import { countSentStatements } from '../test/support/sent-statements.ts';

const MICROSECONDS = 1e6;

const used = (): number => {
  const { user, system } = process.threadCpuUsage();
  return user + system;
};

let longest = 0;
let last = used();
// Fires once in every turn that lasts a millisecond or more.
setInterval(() => {
  const now = used();
  longest = Math.max(longest, now - last);
  last = now;
}, 1).unref();

const statements = countSentStatements();

const watch: Capability = {
  name: 'bench',
  endpoints: [],
  tables: [],
  gauges: [
    {
      name: 'bench_longest_turn_seconds',
      help: 'The longest turn of the event loop since this was read last, in its own time.',
      labels: [],
      read() {
        const value = longest / MICROSECONDS;
        longest = 0;
        return [{ labels: {}, value }];
      },
    },
    {
      name: 'bench_statements_total',
      help: 'Statements that something waits for. A BEGIN, and what is sent ahead, cost no round trip.',
      labels: [],
      read: () => [{ labels: {}, value: statements() }],
    },
  ],
};

// The bench that reads the log is gone: its faults would be logged to nobody, for ever.
process.stdout.on('error', () => process.exit(1));

process.exitCode = await serve(readConfig(), async () => (services) => [...capabilities(services), watch]);
