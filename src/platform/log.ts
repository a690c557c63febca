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

/** One JSON object a line; lines of one turn of the event loop are written together. */
export function createLog(write: (text: string) => void): Log {
  let waiting = '';
  const emit = (level: string, event: string, fields: LogFields) => {
    if (waiting === '') {
      setImmediate(() => {
        const text = waiting;
        waiting = '';
        write(text);
      });
    }
    waiting += `${JSON.stringify({ time: new Date().toISOString(), level, event, ...fields })}\n`;
  };
  return {
    info: (event, fields = {}) => emit('info', event, fields),
    error: (event, error, fields = {}) => emit('error', event, { ...fields, ...describe(error) }),
  };
}
