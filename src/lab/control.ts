/** The lab's own routes, below `/-/lab` on the address of each instance. They bypass the app. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { offerings, tiers } from '../kernel/config.ts';
import { now } from '../platform/clock.ts';
import type { ClockTime } from './clock/rules.ts';
import type { FaultRule } from './faults/rules.ts';
import type { Receivers } from './hooks.ts';
import type { LoggedRequest, Mail } from './lab.cjs';
import { isName, refusalOf } from './rules.ts';
import type { Described, InstanceOptions } from './types.ts';
import { LabError } from './wire.ts';

/** What they do. */
export type Control = {
  describe(): Promise<unknown>;
  reset(): Promise<void>;
  snapshot(name: string): Promise<void>;
  restore(name: string): Promise<void>;
  start(options: InstanceOptions): Promise<Described>;
  stop(name: string): Promise<void>;
  /** As a seed. */
  describeWorld(): Promise<unknown>;
  faults: {
    list(): readonly FaultRule[];
    add(rule: unknown): Promise<FaultRule>;
    remove(id: number): Promise<void>;
    clear(): Promise<void>;
  };
  requests: { list(): Promise<LoggedRequest[]>; clear(): void };
  mail: { list(): Promise<Mail[]>; clear(): Promise<void> };
  hooks: Receivers;
  clock: {
    read(): ClockTime;
    set(body: Record<string, unknown>): Promise<ClockTime>;
    advance(body: Record<string, unknown>): Promise<ClockTime>;
    /** Back to the machine's. */
    clear(): Promise<void>;
  };
};

const PREFIX = '/-/lab';
/** Of a seed; other bodies are short. */
const MAX_BODY_BYTES = 33_554_432;
/** Of what a webhook brings. */
const MAX_DELIVERY_BYTES = 26_214_400;

const pathOf = ({ url = '/' }: Pick<IncomingMessage, 'url'>): string =>
  url.replace(/\?.*$/s, '').replace(/(?<!\/)\/+$/, '');

export const isControl = (request: Pick<IncomingMessage, 'url'>): boolean => {
  const path = pathOf(request);
  return path === PREFIX || path.startsWith(`${PREFIX}/`);
};

/** A webhook comes by the address that it was told, from the lab itself as a rule. */
export const isDelivery = (request: IncomingMessage): boolean =>
  request.method !== 'GET' && request.method !== 'DELETE' && pathOf(request).startsWith(`${PREFIX}/hooks/`);

export type ControlAnswer = { status: number; body?: unknown };
type Asked = {
  /** The part of the path that says which one. */
  name: string;
  body: () => Promise<Record<string, unknown>>;
};
/** What an address of the lab gets from others. */
type Arrived = {
  method: string;
  query: URLSearchParams;
  headers: IncomingMessage['headers'];
  bytes: () => Promise<Buffer>;
};
type ControlRoute = [
  method: string,
  path: RegExp,
  answer: (control: Control, asked: Asked) => Promise<ControlAnswer>,
];

const done = async (work: Promise<unknown>): Promise<ControlAnswer> => {
  await work;
  return { status: 204 };
};

const routes: ControlRoute[] = [
  ['GET', /^$/, async (control) => ({ status: 200, body: await control.describe() })],
  ['POST', /^\/reset$/, (control) => done(control.reset())],
  ['PUT', /^\/snapshots\/([^/]+)$/, (control, { name }) => done(control.snapshot(nameIn(name)))],
  ['POST', /^\/snapshots\/([^/]+)\/restore$/, (control, { name }) => done(control.restore(nameIn(name)))],
  [
    'POST',
    /^\/instances$/,
    async (control, { body }) => ({ status: 201, body: await control.start(instanceOptions(await body())) }),
  ],
  ['DELETE', /^\/instances\/([^/]+)$/, (control, { name }) => done(control.stop(nameIn(name)))],
  ['GET', /^\/seed$/, async (control) => ({ status: 200, body: await control.describeWorld() })],
  ['GET', /^\/faults$/, async ({ faults }) => ({ status: 200, body: faults.list() })],
  [
    'POST',
    /^\/faults$/,
    async ({ faults }, { body }) => ({ status: 201, body: await faults.add(await body()) }),
  ],
  ['DELETE', /^\/faults$/, ({ faults }) => done(faults.clear())],
  ['DELETE', /^\/faults\/(\d{1,9})$/, ({ faults }, { name }) => done(faults.remove(Number(name)))],
  ['GET', /^\/requests$/, async ({ requests }) => ({ status: 200, body: await requests.list() })],
  ['DELETE', /^\/requests$/, async ({ requests }) => done(Promise.resolve(requests.clear()))],
  ['GET', /^\/mail$/, async ({ mail }) => ({ status: 200, body: await mail.list() })],
  ['DELETE', /^\/mail$/, ({ mail }) => done(mail.clear())],
  ['GET', /^\/hooks$/, async ({ hooks }) => ({ status: 200, body: hooks.list() })],
  [
    'GET',
    /^\/hooks\/([^/]+)$/,
    async ({ hooks }, { name }) => ({ status: 200, body: hooks.list(nameIn(name)) }),
  ],
  ['DELETE', /^\/hooks$/, async ({ hooks }) => done(Promise.resolve(hooks.clear()))],
  ['GET', /^\/clock$/, async ({ clock }) => ({ status: 200, body: clock.read() })],
  ['PUT', /^\/clock$/, async ({ clock }, { body }) => ({ status: 200, body: await clock.set(await body()) })],
  [
    'POST',
    /^\/clock\/advance$/,
    async ({ clock }, { body }) => ({ status: 200, body: await clock.advance(await body()) }),
  ],
  ['DELETE', /^\/clock$/, ({ clock }) => done(clock.clear())],
];

const receiver = /^\/hooks\/([^/]+)$/;

/** Keeps what comes to an address for webhooks, and answers as that says: `?status=500` refuses it. */
async function receive(
  { hooks }: Control,
  name: string,
  { method, query, headers, bytes }: Arrived,
): Promise<ControlAnswer> {
  const status = Number(query.get('status') ?? 200);
  if (!(Number.isInteger(status) && status >= 200 && status <= 599))
    throw new LabError('status is a whole number from 200 to 599');
  hooks.take({
    at: now().toISOString(),
    name: nameIn(name),
    method,
    headers: Object.fromEntries(Object.entries(headers).map(([key, value]) => [key, String(value)])),
    bytes: await bytes(),
  });
  return { status };
}

/** Of an instance or a snapshot. */
export function requireName(name: unknown): string {
  if (typeof name === 'string' && isName(name)) return name;
  throw new LabError(
    'a name has 1 to 64 letters, digits, dashes, dots and underscores, and begins with a letter or digit',
  );
}

const nameIn = (text: string): string => requireName(decoded(text));

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function oneOf<T extends string>(name: string, value: unknown, choices: readonly T[]): T | undefined {
  if (value === undefined) return undefined;
  const choice = choices.find((each) => each === value);
  if (choice === undefined) throw new LabError(`${name} is one of ${choices.join(', ')}`);
  return choice;
}

/** Refuses what is not there: a mistyped option would be ignored silently. */
export function instanceOptions(value: Record<string, unknown>): InstanceOptions {
  const { name, tier, offering, port, seed, ...others } = value;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined)
    throw new LabError(`there is no option ${unknown}: name, tier, offering, port and seed are`);
  if (port !== undefined && !(Number.isInteger(port) && Number(port) >= 0 && Number(port) <= 65_535))
    throw new LabError('port is a whole number from 0 to 65535');
  return {
    ...(name !== undefined && { name: requireName(name) }),
    tier: oneOf('tier', tier, tiers),
    offering: oneOf('offering', offering, offerings),
    ...(port !== undefined && { port: Number(port) }),
    ...(seed !== undefined && { seed: seedOf(seed) }),
  };
}

/** A document, or its text. */
function seedOf(value: unknown): { text: string; name: string } {
  if (typeof value === 'string') return { text: value, name: 'seed' };
  if (typeof value !== 'object' || value === null) throw new LabError('seed is a document, or its text');
  const { text, name, ...others } = value as Record<string, unknown>;
  if (typeof text === 'string' && typeof name === 'string' && Object.keys(others).length === 0)
    return { text, name };
  return { text: JSON.stringify(value, null, 2), name: 'seed' };
}

async function readBody(request: IncomingMessage, most: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request) {
    length += part.length;
    if (length > most) throw new LabError(`a body has at most ${most} bytes`, 413);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

async function readObject(request: IncomingMessage): Promise<Record<string, unknown>> {
  const bytes = await readBody(request, MAX_BODY_BYTES);
  if (bytes.length === 0) return {};
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString());
  } catch {
    throw new LabError('the body is not JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new LabError('the body is no JSON object');
  return value as Record<string, unknown>;
}

/** Does what a route says, for whoever may ask. */
async function run(
  control: Control,
  method: string,
  path: string,
  body: Asked['body'],
): Promise<ControlAnswer> {
  const there = routes.filter(([, pattern]) => pattern.test(path));
  if (there.length === 0)
    throw new LabError(`the lab has no ${PREFIX}${path}: GET ${PREFIX} says what there is`, 404);
  const found = there.find(([known]) => known === method);
  if (!found) throw new LabError(`it takes ${there.map(([known]) => known).join(' and ')}`, 405);
  const [, pattern, work] = found;
  return work(control, { name: pattern.exec(path)?.[1] ?? '', body });
}

/** For the library, by the way of its own. */
export function ask(control: Control, request: string, body: unknown): Promise<ControlAnswer> {
  const [method = '', path = ''] = request.split(' ');
  return run(control, method, path, async () => (body ?? {}) as Record<string, unknown>);
}

async function answer(control: Control, request: IncomingMessage): Promise<ControlAnswer> {
  const refusal = refusalOf(request.headers);
  if (refusal !== undefined) throw new LabError(refusal, 403);
  const { method = '', headers } = request;
  const path = pathOf(request).slice(PREFIX.length);
  const [, name] = receiver.exec(path) ?? [];
  if (name !== undefined && (method === 'POST' || method === 'PUT'))
    return receive(control, name, {
      method,
      query: new URL(request.url ?? '/', 'http://lab').searchParams,
      headers,
      bytes: () => readBody(request, MAX_DELIVERY_BYTES),
    });
  return run(control, method, path, () => readObject(request));
}

export async function answerControl(
  control: Control,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { status, body } = await answer(control, request).catch(
    (error: unknown): ControlAnswer => ({
      status: error instanceof LabError ? error.status : 500,
      body: { message: error instanceof Error ? error.message : String(error) },
    }),
  );
  // What was not read of the body would be taken for the next request.
  if (!request.complete) response.setHeader('connection', 'close');
  response.writeHead(status, {
    'cache-control': 'no-store',
    ...(body !== undefined && { 'content-type': 'application/json' }),
  });
  response.end(body === undefined ? undefined : `${JSON.stringify(body)}\n`);
}
