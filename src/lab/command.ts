/** ashlar lab: a lab in this process, with one instance, until a signal, or the end of whoever started it. */
import { fstatSync } from 'node:fs';
import { createLab } from './lab.ts';
import type { Described, InstanceOptions } from './types.ts';

/** Resolves with the exit code. */
export async function runLab(options: InstanceOptions & { host: string }): Promise<number> {
  const { host, ...wanted } = options;
  const { promise: ended, resolve: end } = Promise.withResolvers<number>();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => end(0));
  endWithParent(() => end(0));
  process.stderr.write(
    `ashlar: THIS IS A LAB, for tests: whoever reaches ${host} can reset it, and its data end with it\n`,
  );
  const lab = await createLab({
    host,
    onFailure: (error) => {
      process.stderr.write(`ashlar: ${error.message}\n`);
      end(1);
    },
  });
  try {
    const first: Described = await lab.start(wanted);
    process.stdout.write(`${JSON.stringify(first)}\n`);
    return await ended;
  } finally {
    await lab.close();
  }
}

/** A pipe from whoever started it closes with that. */
function endWithParent(end: () => void): void {
  const input = fstatSync(0);
  if (!input.isFIFO() && !input.isSocket()) return;
  process.stdin.on('end', end).on('error', end).resume();
}
