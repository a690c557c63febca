/** The requests that an instance got, to assert on. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { presentedCredential } from '../kernel/identity/credentials.ts';
import { now } from '../platform/clock.ts';
import type { LogFields } from '../platform/log.ts';
import { digest } from '../platform/secret.ts';
import type { LoggedRequest } from './lab.cjs';

type Entry = Omit<LoggedRequest, 'body' | 'credential'> & {
  type: string;
  bytes: Buffer[];
  digest: Buffer | undefined;
};

export type Requests = {
  /** Notes a request, which other handlers read afterwards. */
  note(request: IncomingMessage, response: ServerResponse): { setFault(id: number | null): void };
  /** Hears what an app logs of its requests. */
  hear(event: string, fields: LogFields | undefined): void;
  /** The latest, the oldest of them first; `nameOf` knows tokens by their digest. */
  list(
    namesOf: (digests: readonly Buffer[]) => Promise<ReadonlyMap<string, string>>,
  ): Promise<LoggedRequest[]>;
  clear(): void;
};

const MAX_REQUESTS = 10_000;
const MAX_BODY_BYTES = 65_536;
/** Of all bodies together: those of the oldest requests are forgotten first. */
const MAX_BYTES = 67_108_864;
/** What is heard of requests whose answers have not begun. */
const MAX_HEARD = 1_000;

const queryOf = (parameters: URLSearchParams): LoggedRequest['query'] =>
  Object.fromEntries(
    [...new Set(parameters.keys())].map((name) => {
      const values = parameters.getAll(name);
      return [name, values.length === 1 ? (values[0] ?? '') : values];
    }),
  );

function bodyOf({ type, bytes }: Entry): unknown {
  const text = Buffer.concat(bytes).toString('utf8');
  if (text === '') return null;
  if (/^application\/x-www-form-urlencoded/i.test(type)) return queryOf(new URLSearchParams(text));
  if (!/^application\/([\w.-]+\+)?json/i.test(type)) return null;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Whoever reads the body does so as always; a listener for data would start it before its time. */
function overhear(request: IncomingMessage, entry: Entry, took: (length: number) => void): void {
  const emit = request.emit;
  let size = 0;
  request.emit = function heard(
    this: IncomingMessage,
    event: string | symbol,
    ...values: unknown[]
  ): boolean {
    const [piece] = values;
    if (event === 'data' && Buffer.isBuffer(piece)) {
      size += piece.length;
      if (size <= MAX_BODY_BYTES) {
        entry.bytes.push(Buffer.from(piece));
        took(piece.length);
      } else entry.bytes = [];
    }
    return emit.call(this, event, ...values);
  } as IncomingMessage['emit'];
}

/** Headers that are given with the status are not among those that a response is asked for. */
function overhearId(response: ServerResponse): () => string {
  const header = 'x-request-id';
  const writeHead = response.writeHead.bind(response) as (...given: unknown[]) => ServerResponse;
  let id: unknown;
  response.writeHead = ((...given: unknown[]) => {
    for (const each of given)
      if (typeof each === 'object' && each !== null && header in each) id = each[header];
    return writeHead(...given);
  }) as ServerResponse['writeHead'];
  return () => String(id ?? response.getHeader(header));
}

export function createRequests(): Requests {
  let entries: Entry[] = [];
  let last = 0;
  let held = 0;
  const said = new Map<string, LogFields>();
  return {
    note(request, response) {
      // No URL is made of it: of `//one/two` the first part would be a host.
      const [path = '', ...rest] = (request.url ?? '/').split('?');
      const query = queryOf(new URLSearchParams(rest.join('?')));
      const credential = presentedCredential(request.headers, query);
      last += 1;
      const entry: Entry = {
        id: last,
        at: now().toISOString(),
        method: request.method ?? '',
        path,
        query,
        ...{ route: null, status: null, username: null, fault: null },
        type: request.headers['content-type'] ?? '',
        bytes: [],
        digest: 'token' in credential ? digest(credential.token) : undefined,
      };
      entries.push(entry);
      if (entries.length > MAX_REQUESTS) entries = entries.slice(-MAX_REQUESTS);
      overhear(request, entry, (length) => {
        held += length;
        if (held <= MAX_BYTES) return;
        for (const old of entries.slice(0, Math.ceil(entries.length / 2))) old.bytes = [];
        held = entries.reduce(
          (sum, each) => sum + each.bytes.reduce((all, { length: own }) => all + own, 0),
          0,
        );
      });
      const idOf = overhearId(response);
      response.once('close', () => {
        if (response.headersSent) entry.status = response.statusCode;
        const id = idOf();
        const fields = said.get(id);
        said.delete(id);
        if (!fields) return;
        entry.route = typeof fields.route === 'string' ? fields.route : null;
        entry.username = typeof fields.actor === 'string' ? fields.actor : null;
      });
      return {
        setFault(id) {
          entry.fault = id;
        },
      };
    },
    hear(event, fields) {
      if (event !== 'request' || typeof fields?.request_id !== 'string') return;
      said.set(fields.request_id, fields);
      if (said.size > MAX_HEARD) said.delete(said.keys().next().value ?? '');
    },
    async list(namesOf) {
      const listed = [...entries];
      const names = await namesOf(listed.flatMap((entry) => entry.digest ?? []));
      return listed.map((entry) => {
        const { type: _type, bytes: _bytes, digest: of, ...shown } = entry;
        return { ...shown, body: bodyOf(entry), credential: (of && names.get(of.toString('hex'))) ?? null };
      });
    },
    clear() {
      entries = [];
      held = 0;
    },
  };
}
