/** What a command that takes long says: one line that changes on a terminal, and elsewhere a line now and then. */

export type Progress = {
  /** What it is at now. */
  at(text: string): void;
  /** A line that stays. */
  tell(text: string): void;
};

type Output = { isTTY?: boolean; columns?: number; write(text: string): unknown };

const TERMINAL_INTERVAL_MS = 200;
const LINES_INTERVAL_MS = 10_000;

/** `time` is in milliseconds. */
export function createProgress(output: Output, time: () => number): Progress {
  const interval = output.isTTY ? TERMINAL_INTERVAL_MS : LINES_INTERVAL_MS;
  let last = time();
  let isShown = false;
  return {
    at(text) {
      if (time() - last < interval) return;
      last = time();
      isShown = output.isTTY === true;
      output.write(output.isTTY ? `\r\x1b[K${text.slice(0, (output.columns ?? 80) - 1)}` : `${text}\n`);
    },
    tell(text) {
      output.write(isShown ? `\r\x1b[K${text}\n` : `${text}\n`);
      isShown = false;
    },
  };
}

const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'];

/** For people: `1.5 GB`. */
export function sizeInWords(bytes: number): string {
  let size = bytes;
  let unit = 0;
  while (size >= 1_000 && unit < UNITS.length - 1) {
    size /= 1_000;
    unit += 1;
  }
  return `${unit === 0 ? size : size.toFixed(1)} ${UNITS[unit]}`;
}
