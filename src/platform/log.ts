/** Structured log lines on standard output; credentials never reach here, so callers pass paths without queries. */

export type LogFields = Record<string, string | number | boolean | undefined>;
export type Log = {
  info(event: string, fields?: LogFields): void;
  error(event: string, error: unknown, fields?: LogFields): void;
};

/** What an error says of itself and of what caused it. */
function describe(error: unknown): LogFields {
  if (!(error instanceof Error)) return { error: String(error) };
  const cause = error.cause instanceof Error ? error.cause.message : undefined;
  return { error: error.message, cause, stack: error.stack };
}

/** How long lines wait for company, in milliseconds: each write costs a call of the system and wakes who reads it. */
const GATHER_MS = 20;

/** One JSON object a line; lines of a moment are written together. An error is written at once, with what led to it. */
export function createLog(write: (text: string) => void): Log {
  let waiting = '';
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    const text = waiting;
    waiting = '';
    if (text !== '') write(text);
  };
  const add = (level: string, event: string, fields: LogFields) => {
    waiting += `${JSON.stringify({ time: new Date().toISOString(), level, event, ...fields })}\n`;
  };
  return {
    info(event, fields = {}) {
      add('info', event, fields);
      timer ??= setTimeout(flush, GATHER_MS);
    },
    error(event, error, fields = {}) {
      add('error', event, { ...fields, ...describe(error) });
      setImmediate(flush);
    },
  };
}
