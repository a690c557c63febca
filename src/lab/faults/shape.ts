/** Changes an answer on its way: what an app writes to a response is not what the client gets. */
import type { OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { type Fault, withoutTotals } from './rules.ts';

type Callback = (error?: Error | null) => void;
type Chunk = { bytes: Buffer; done: Callback | undefined };

/** The three forms in which write() and end() take their values. */
function chunkOf(given: readonly unknown[]): Chunk {
  const [first, second, third] = given;
  const done = [first, second, third].find((each) => typeof each === 'function') as Callback | undefined;
  if (first === undefined || first === null || typeof first === 'function')
    return { bytes: Buffer.alloc(0), done };
  const coding = typeof second === 'string' ? (second as BufferEncoding) : 'utf8';
  return {
    bytes: typeof first === 'string' ? Buffer.from(first, coding) : Buffer.from(first as Uint8Array),
    done,
  };
}

/** What becomes of the body: each piece, and then the end. Who writes waits for `drain` after a write that is not true. */
type Body = { write(bytes: Buffer): boolean; end(): void };

function replaceBody(response: ServerResponse, body: Body): void {
  const take = ({ bytes, done }: Chunk): boolean => {
    if (done) process.nextTick(done);
    return bytes.length === 0 || body.write(bytes);
  };
  response.write = ((...given: unknown[]) => take(chunkOf(given))) as ServerResponse['write'];
  response.end = ((...given: unknown[]) => {
    take(chunkOf(given));
    body.end();
    return response;
  }) as ServerResponse['end'];
}

/** Milliseconds between pieces, where there is more than a byte for each. */
const PACE_MS = 50;

function slowly(response: ServerResponse, bytesPerSecond: number): Body {
  const write = response.write.bind(response);
  const end = response.end.bind(response);
  const pause = Math.max(PACE_MS, 1_000 / bytesPerSecond);
  const share = Math.max(1, Math.floor((bytesPerSecond * pause) / 1_000));
  let waiting: Buffer = Buffer.alloc(0);
  let isOver = false;
  let timer: NodeJS.Timeout | undefined;
  const stop = (): void => {
    clearInterval(timer);
    timer = undefined;
  };
  const step = (): void => {
    if (waiting.length > 0) {
      write(waiting.subarray(0, share));
      waiting = waiting.subarray(share);
      if (waiting.length === 0) response.emit('drain');
    } else if (isOver) {
      stop();
      end();
    }
  };
  response.once('close', stop);
  const begin = (): void => {
    timer ??= setInterval(step, pause);
  };
  return {
    write(bytes) {
      waiting = Buffer.concat([waiting, bytes]);
      begin();
      return false;
    },
    end() {
      isOver = true;
      begin();
    },
  };
}

/** Half of the first piece reaches the client; of an answer without a body the head does. */
function halfOf(response: ServerResponse): Body {
  const write = response.write.bind(response);
  let isCut = false;
  const cut = (): void => {
    response.socket?.destroy();
  };
  return {
    write(bytes) {
      if (isCut) return true;
      isCut = true;
      write(bytes.subarray(0, Math.ceil(bytes.length / 2)), cut);
      return true;
    },
    end() {
      if (isCut) return;
      isCut = true;
      response.flushHeaders();
      setImmediate(cut);
    },
  };
}

/** Nothing reaches the client. */
const nothingOf = (response: ServerResponse): Body => ({
  write: () => true,
  end() {
    response.socket?.destroy();
  },
});

function setAll(
  response: ServerResponse,
  headers: OutgoingHttpHeaders | OutgoingHttpHeader[] | undefined,
): void {
  if (Array.isArray(headers))
    for (let place = 0; place + 1 < headers.length; place += 2)
      response.setHeader(String(headers[place]), headers[place + 1] ?? '');
  else
    for (const [name, value] of Object.entries(headers ?? {}))
      if (value !== undefined) response.setHeader(name, value);
}

function leaveOutTotals(response: ServerResponse): void {
  const writeHead = response.writeHead.bind(response);
  response.writeHead = ((status: number, ...given: unknown[]) => {
    setAll(response, given.find((each) => typeof each === 'object') as OutgoingHttpHeaders | undefined);
    for (const name of response.getHeaderNames()) {
      const value = response.getHeader(name);
      const left = withoutTotals(name, String(value));
      if (left === undefined) response.removeHeader(name);
      else if (left !== value && typeof value === 'string') response.setHeader(name, left);
    }
    return writeHead(status);
  }) as ServerResponse['writeHead'];
}

/** To be called before anything is written. */
export function shape(response: ServerResponse, { missing_totals, slow, cut }: Fault): void {
  if (missing_totals) leaveOutTotals(response);
  if (slow !== undefined) replaceBody(response, slowly(response, slow));
  if (cut === 'during') replaceBody(response, halfOf(response));
  if (cut === 'after') replaceBody(response, nothingOf(response));
}
