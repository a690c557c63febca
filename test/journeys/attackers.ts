/** Greedy callers: each takes one scarce resource as hard as it can, and is bounded in number and time. */
import { request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** The knowledge of an attacker: the address, a token of its own, and its projects. */
export type AttackedSite = {
  url: string;
  token: string;
  /** A public one with issues of 1 MB each, `lines.txt` of 7 MB, and a pack larger than the buffers. */
  projectId: number;
  projectPath: string;
  /** A commit of it. */
  head: string;
  /** One whose few objects unpack to very much. */
  hostileId: number;
};

/** One request, sent again and again by so many clients; resolves with the status. */
type Attacker = { clients: number; send(noteable: AttackedSite, signal: AbortSignal): Promise<number> };

const MEBIBYTE = 1_048_576;

function post(
  { url }: AttackedSite,
  path: string,
  body: string | Buffer,
  headers: Record<string, string>,
  method = 'POST',
): Promise<number> {
  return new Promise((resolve, reject) => {
    const length = { 'content-length': String(Buffer.byteLength(body)) };
    const sending = request(`${url}${path}`, { method, headers: { ...length, ...headers } }, (response) => {
      response.resume().once('close', () => resolve(response.statusCode ?? 0));
    });
    sending.once('error', reject);
    sending.end(body);
  });
}

const asJson = { 'content-type': 'application/json' };
const own = ({ token }: AttackedSite) => ({ 'private-token': token });
/** Made once, sent often. */
const once = <T>(make: () => T): (() => T) => {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
};

async function get(url: string, headers: Record<string, string> = {}): Promise<number> {
  const response = await fetch(url, { headers });
  await response.arrayBuffer();
  return response.status;
}

const basic = ({ token }: AttackedSite): string =>
  `Authorization: Basic ${Buffer.from(`oauth2:${token}`).toString('base64')}\r\n`;

/** Milliseconds between two bytes of a slow client. */
const SLOW_MS = 5_000;

/** Sends a request by hand and then hardly moves: it reads, or sends `more`, a byte now and then. Gives the status at its end. */
function moveSlowly(
  { url }: AttackedSite,
  signal: AbortSignal,
  request: string,
  more?: string,
): Promise<number> {
  const { hostname, port, host } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port) });
    let status = 0;
    const read = (): void => {
      const piece: Buffer | null = socket.read(status === 0 ? 12 : 1);
      if (status === 0 && piece) status = Number(piece.toString('latin1').slice(9, 12));
    };
    // Only read() reads: the buffers fill, and stay so.
    socket.on('readable', () => status === 0 && read());
    const timer = setInterval(() => (more === undefined ? read() : socket.write(more)), SLOW_MS);
    const end = (): void => {
      clearInterval(timer);
      signal.removeEventListener('abort', end);
      socket.destroy();
      resolve(status);
    };
    socket.once('error', end).once('close', end).once('end', end);
    signal.addEventListener('abort', end, { once: true });
    socket.write(request.replace('\r\n', `\r\nHost: ${host}\r\n`));
  });
}

const hostileReads = [
  'repository/commits/main/diff',
  'repository/commits/main',
  'repository/commits?with_stats=true&per_page=100',
  'repository/compare?from=before&to=main',
  'repository/files/README.md/blame?ref=main',
  'repository/tree?recursive=true&pagination=none',
  'repository/contributors',
  'languages',
  'search?scope=blobs&search=small',
];
let turn = 0;

const keys = (bytes: number) => once(() => `{"title":"a"${',"k":1'.repeat(bytes / 6)}}`);
const manyKeys = { small: keys(MEBIBYTE - 64), large: keys(20 * MEBIBYTE), huge: keys(31 * MEBIBYTE) };
const longText = once(() =>
  JSON.stringify({
    title: 'a',
    visibility: 'private',
    files: [{ file_path: 'a', content: 'x'.repeat(30 * MEBIBYTE) }],
  }),
);
const hostileMarkdown = once(() => JSON.stringify({ text: '<b>[*a_'.repeat(MEBIBYTE / 7 - 64), gfm: true }));
const tinyParts = once(
  () => `${'--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n\r\n'.repeat(300_000)}--b--`,
);
const manyPairs = once(() => 'a[]=1&'.repeat((4 * MEBIBYTE) / 6));
const deepJson = once(() => '['.repeat(MEBIBYTE - 1));

export const attackers = {
  'searches for the same word fifty times': {
    clients: 40,
    send: ({ url, projectId }) => {
      const search = encodeURIComponent('hello '.repeat(50));
      return get(`${url}/api/v4/projects/${projectId}/issues?search=${search}`);
    },
  },
  'pages of 25 issues of 1 MB': {
    clients: 40,
    send: ({ url, projectId }) => get(`${url}/api/v4/projects/${projectId}/issues?per_page=100`),
  },
  'searches for sixty words': {
    clients: 40,
    send: ({ url, projectId }) => {
      const words = Array.from({ length: 60 }, (_, index) =>
        'hello there'.slice(index % 5, 3 + (index % 11)),
      );
      const search = encodeURIComponent(words.join(' '));
      return get(`${url}/api/v4/projects/${projectId}/issues?search=${search}`);
    },
  },
  'JSON of very many keys, 20 MB': {
    clients: 8,
    send: (noteable) => post(noteable, '/api/v4/snippets', manyKeys.large(), { ...asJson, ...own(noteable) }),
  },
  'JSON of very many keys, 31 MB': {
    clients: 4,
    send: (noteable) => post(noteable, '/api/v4/snippets', manyKeys.huge(), { ...asJson, ...own(noteable) }),
  },
  'anonymous GET with 1 MB of JSON': {
    clients: 16,
    send: (noteable) => post(noteable, '/api/v4/projects', manyKeys.small(), asJson, 'GET'),
  },
  'anonymous GET with deep JSON': {
    clients: 16,
    send: (noteable) => post(noteable, '/api/v4/projects', deepJson(), asJson, 'GET'),
  },
  'a form of very many parameters': {
    clients: 16,
    send: (noteable) =>
      post(noteable, `/api/v4/projects/${noteable.projectId}/issues`, manyPairs(), {
        'content-type': 'application/x-www-form-urlencoded',
        ...own(noteable),
      }),
  },
  'very many tiny parts': {
    clients: 8,
    send: (noteable) =>
      post(noteable, '/api/v4/snippets', tinyParts(), {
        'content-type': 'multipart/form-data; boundary=b',
        ...own(noteable),
      }),
  },
  'anonymous bodies of 30 MB': {
    clients: 8,
    send: (noteable) => post(noteable, '/api/v4/snippets', longText(), asJson),
  },
  'snippets of 30 MB': {
    clients: 8,
    send: (noteable) => post(noteable, '/api/v4/snippets', longText(), { ...asJson, ...own(noteable) }),
  },
  'texts of 1 MB to render': {
    clients: 21,
    send: (noteable) =>
      post(noteable, '/api/v4/markdown', hostileMarkdown(), { ...asJson, ...own(noteable) }),
  },
  'alerts of 1 MB without a key': {
    clients: 16,
    send: (noteable) =>
      post(noteable, `/${noteable.projectPath}/alerts/notify.json`, manyKeys.small(), asJson),
  },
  'slow readers of clones': {
    clients: 64,
    send: (noteable, signal) => {
      const wants = `0032want ${noteable.head}\n00000009done\n`;
      const headers = `Content-Type: application/x-git-upload-pack-request\r\nContent-Length: ${wants.length}`;
      const path = `/${noteable.projectPath}.git/git-upload-pack`;
      return moveSlowly(noteable, signal, `POST ${path} HTTP/1.1\r\n${headers}\r\n\r\n${wants}`);
    },
  },
  'slow readers of archives': {
    clients: 64,
    send: (noteable, signal) => {
      const path = `/api/v4/projects/${noteable.projectId}/repository/archive.tar`;
      return moveSlowly(noteable, signal, `GET ${path} HTTP/1.1\r\n\r\n`);
    },
  },
  'slow pushes': {
    clients: 64,
    send: (noteable, signal) => {
      const command = `${'0'.repeat(40)} ${'a'.repeat(40)} refs/heads/slow\0report-status`;
      const line = `${(command.length + 4).toString(16).padStart(4, '0')}${command}0000PACK`;
      const headers = `Content-Type: application/x-git-receive-pack-request\r\nTransfer-Encoding: chunked\r\n${basic(noteable)}`;
      const path = `/${noteable.projectPath}.git/git-receive-pack`;
      const begin = `${line.length.toString(16)}\r\n${line}\r\n`;
      return moveSlowly(noteable, signal, `POST ${path} HTTP/1.1\r\n${headers}\r\n${begin}`, '1\r\nx\r\n');
    },
  },
  'blames of 7 MB': {
    clients: 16,
    send: ({ url, projectId }) =>
      get(`${url}/api/v4/projects/${projectId}/repository/files/lines.txt/blame?ref=HEAD`),
  },
  'objects that unpack enormously': {
    clients: 16,
    send: (noteable) => {
      const path = hostileReads[turn++ % hostileReads.length];
      return get(`${noteable.url}/api/v4/projects/${noteable.hostileId}/${path}`, own(noteable));
    },
  },
  'wrong passwords': {
    clients: 64,
    send: (noteable) =>
      post(noteable, '/oauth/token', 'grant_type=password&username=root&password=wrong', {
        'content-type': 'application/x-www-form-urlencoded',
      }),
  },
} satisfies Record<string, Attacker>;

export type AttackerName = keyof typeof attackers;

/** A bound for attackers that are never ended. */
const MAX_SECONDS = 60;
const MAX_REQUESTS = 100_000;

export type Attacked = {
  sent: number;
  /** Counts by status, 0 for a connection that was ended. */
  statuses: Record<number, number>;
};

/** Runs an attacker until its signal is aborted. */
export async function attack(
  name: AttackerName,
  noteable: AttackedSite,
  signal: AbortSignal,
): Promise<Attacked> {
  const { clients, send }: Attacker = attackers[name];
  const end = AbortSignal.any([signal, AbortSignal.timeout(MAX_SECONDS * 1_000)]);
  const statuses: Record<number, number> = {};
  let sent = 0;
  const client = async (): Promise<void> => {
    while (!end.aborted && sent < MAX_REQUESTS) {
      sent += 1;
      const status = await send(noteable, end).catch(() => 0);
      statuses[status] = (statuses[status] ?? 0) + 1;
      // A client that is refused at once would only measure how fast this process can send.
      if (status === 0 || status >= 400) await sleep(5);
    }
  };
  const ended = Promise.all(Array.from({ length: clients }, client));
  const aborted = new Promise<void>((resolve) =>
    end.addEventListener('abort', () => resolve(), { once: true }),
  );
  await Promise.race([ended, aborted]);
  return { sent, statuses };
}
