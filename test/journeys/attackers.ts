/** Callers who want everything for themselves: each holds one scarce thing as hard as it can, and is bounded in number and time. */
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** What an attacker knows: the address, a token of its own, and a public project with issues of 1 MB each. */
export type Target = { url: string; token: string; projectId: number; projectPath: string };

/** One request, sent again and again by so many clients; it answers with the status. */
type Attacker = { clients: number; send(target: Target): Promise<number> };

const MEBIBYTE = 1_048_576;

function post(
  { url }: Target,
  path: string,
  body: string | Buffer,
  headers: Record<string, string>,
  method = 'POST',
): Promise<number> {
  return new Promise((resolve, reject) => {
    const length = { 'content-length': String(Buffer.byteLength(body)) };
    const sending = request(`${url}${path}`, { method, headers: { ...length, ...headers } }, (answer) => {
      answer.resume().once('close', () => resolve(answer.statusCode ?? 0));
    });
    sending.once('error', reject);
    sending.end(body);
  });
}

const asJson = { 'content-type': 'application/json' };
const own = ({ token }: Target) => ({ 'private-token': token });
/** Made once, sent often. */
const once = <T>(make: () => T): (() => T) => {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
};

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
    send: async ({ url, projectId }) => {
      const search = encodeURIComponent('hello '.repeat(50));
      const answer = await fetch(`${url}/api/v4/projects/${projectId}/issues?search=${search}`);
      await answer.arrayBuffer();
      return answer.status;
    },
  },
  'pages of 25 issues of 1 MB': {
    clients: 40,
    send: async ({ url, projectId }) => {
      const answer = await fetch(`${url}/api/v4/projects/${projectId}/issues?per_page=100`);
      await answer.arrayBuffer();
      return answer.status;
    },
  },
  'searches for sixty words': {
    clients: 40,
    send: async ({ url, projectId }) => {
      const words = Array.from({ length: 60 }, (_, index) =>
        'hello there'.slice(index % 5, 3 + (index % 11)),
      );
      const search = encodeURIComponent(words.join(' '));
      const answer = await fetch(`${url}/api/v4/projects/${projectId}/issues?search=${search}`);
      await answer.arrayBuffer();
      return answer.status;
    },
  },
  'JSON of very many keys, 20 MB': {
    clients: 8,
    send: (target) => post(target, '/api/v4/snippets', manyKeys.large(), { ...asJson, ...own(target) }),
  },
  'JSON of very many keys, 31 MB': {
    clients: 4,
    send: (target) => post(target, '/api/v4/snippets', manyKeys.huge(), { ...asJson, ...own(target) }),
  },
  'anonymous GET with 1 MB of JSON': {
    clients: 16,
    send: (target) => post(target, '/api/v4/projects', manyKeys.small(), asJson, 'GET'),
  },
  'anonymous GET with deep JSON': {
    clients: 16,
    send: (target) => post(target, '/api/v4/projects', deepJson(), asJson, 'GET'),
  },
  'a form of very many parameters': {
    clients: 16,
    send: (target) =>
      post(target, `/api/v4/projects/${target.projectId}/issues`, manyPairs(), {
        'content-type': 'application/x-www-form-urlencoded',
        ...own(target),
      }),
  },
  'very many tiny parts': {
    clients: 8,
    send: (target) =>
      post(target, '/api/v4/snippets', tinyParts(), {
        'content-type': 'multipart/form-data; boundary=b',
        ...own(target),
      }),
  },
  'anonymous bodies of 30 MB': {
    clients: 8,
    send: (target) => post(target, '/api/v4/snippets', longText(), asJson),
  },
  'snippets of 30 MB': {
    clients: 8,
    send: (target) => post(target, '/api/v4/snippets', longText(), { ...asJson, ...own(target) }),
  },
  'texts of 1 MB to render': {
    clients: 21,
    send: (target) => post(target, '/api/v4/markdown', hostileMarkdown(), { ...asJson, ...own(target) }),
  },
  'alerts of 1 MB without a key': {
    clients: 16,
    send: (target) => post(target, `/${target.projectPath}/alerts/notify.json`, manyKeys.small(), asJson),
  },
  'wrong passwords': {
    clients: 64,
    send: (target) =>
      post(target, '/oauth/token', 'grant_type=password&username=root&password=wrong', {
        'content-type': 'application/x-www-form-urlencoded',
      }),
  },
} satisfies Record<string, Attacker>;

export type AttackerName = keyof typeof attackers;

/** Nothing lasts longer, whoever forgets to end it. */
const MAX_SECONDS = 60;
const MAX_REQUESTS = 20_000;

/** Runs an attacker until it is told to end; gives how often each status came, 0 for a connection that was ended. */
export async function attack(
  name: AttackerName,
  target: Target,
  signal: AbortSignal,
): Promise<Record<number, number>> {
  const { clients, send }: Attacker = attackers[name];
  const end = AbortSignal.any([signal, AbortSignal.timeout(MAX_SECONDS * 1_000)]);
  const statuses: Record<number, number> = {};
  let sent = 0;
  const client = async (): Promise<void> => {
    while (!end.aborted && sent < MAX_REQUESTS) {
      sent += 1;
      const status = await send(target).catch(() => 0);
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
  return statuses;
}
