/** ashlar lab: a lab in this process, with one instance, until a signal, or the end of whoever started it. */
import { fstatSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { tuneCollector } from '../platform/machine/memory.ts';
import { instanceOptions } from './control.ts';
import { createLab, type Lab } from './lab.ts';
import type { InstanceOptions, LabHandlers } from './types.ts';
import { lines, openWire } from './wire.ts';

/** Milliseconds for which the library's lab stays without instances: tests that follow each other share it. */
const LINGER_MS = 5_000;

/** Milliseconds for an orderly end; what it would leave afterwards, its caretaker removes. */
const END_TIMEOUT_MS = 10_000;

/** Resolves with the exit code. */
export async function runLab(options: InstanceOptions & { host: string; library: boolean }): Promise<number> {
  tuneCollector();
  // Eight instances have eight heaps: a tenth less.
  setFlagsFromString('--optimize-for-size');
  const { host, library, ...wanted } = options;
  const { promise: ended, resolve } = Promise.withResolvers<number>();
  const end = (code: number): void => {
    setTimeout(() => process.exit(code), END_TIMEOUT_MS).unref();
    resolve(code);
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => end(0));
  endWithParent(() => end(0));
  process.stderr.write(
    `ashlar: THIS IS A LAB, for tests: whoever reaches ${host} can reset it, and its data end with it\n`,
  );
  const making = createLab({
    host,
    onFailure: (error) => {
      process.stderr.write(`ashlar: ${error.message}\n`);
      end(1);
    },
  });
  if (library) answerLibrary(making, () => end(0));
  const lab = await making;
  try {
    if (!library) process.stdout.write(`${JSON.stringify(await lab.handlers.start(wanted))}\n`);
    return await ended;
  } finally {
    await lab.close();
    // Standard input may stay open, and nobody is to be answered any more.
    process.stdin.destroy();
  }
}

/** Starts and stops instances as the library asks by lines on standard input, and ends when it has had none for a while. */
function answerLibrary(making: Promise<Lab>, end: () => void): void {
  let lingering: NodeJS.Timeout | undefined;
  const handlers: LabHandlers = {
    async start(wanted) {
      clearTimeout(lingering);
      return (await making).handlers.start(instanceOptions({ ...wanted }));
    },
    async stop(name) {
      const lab = await making;
      await lab.handlers.stop(name);
      clearTimeout(lingering);
      if (lab.count() === 0) lingering = setTimeout(end, LINGER_MS);
    },
    control: async (asked) => (await making).handlers.control(asked),
    list: async () => (await making).handlers.list(null),
  };
  openWire(lines(process.stdin, process.stdout), handlers);
}

/** A pipe from whoever started it closes with that. */
function endWithParent(end: () => void): void {
  const input = fstatSync(0);
  if (!input.isFIFO() && !input.isSocket()) return;
  process.stdin.on('end', end).on('error', end).resume();
}
