/** The lab's own routes, below `/-/lab` on the address of each instance. They bypass the app. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { offerings, tiers } from '../kernel/config.ts';
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
};

const PREFIX = '/-/lab';
const MAX_BODY_BYTES = 65_536;

const pathOf = ({ url = '/' }: IncomingMessage): string => url.replace(/\?.*$/s, '').replace(/\/+$/, '');

export const isControl = (request: IncomingMessage): boolean => {
  const path = pathOf(request);
  return path === PREFIX || path.startsWith(`${PREFIX}/`);
};

type Answer = { status: number; body?: unknown };
type Asked = { name: string; body: () => Promise<Record<string, unknown>> };
type ControlRoute = [
  method: string,
  path: RegExp,
  answer: (control: Control, asked: Asked) => Promise<Answer>,
];

const done = async (work: Promise<unknown>): Promise<Answer> => {
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
];

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
  const { name, tier, offering, port, ...others } = value;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined)
    throw new LabError(`there is no option ${unknown}: name, tier, offering and port are`);
  if (port !== undefined && !(Number.isInteger(port) && Number(port) >= 0 && Number(port) <= 65_535))
    throw new LabError('port is a whole number from 0 to 65535');
  return {
    ...(name !== undefined && { name: requireName(name) }),
    tier: oneOf('tier', tier, tiers),
    offering: oneOf('offering', offering, offerings),
    ...(port !== undefined && { port: Number(port) }),
  };
}

async function readObject(request: IncomingMessage): Promise<Record<string, unknown>> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request) {
    length += part.length;
    if (length > MAX_BODY_BYTES) throw new LabError(`a body has at most ${MAX_BODY_BYTES} bytes`, 413);
    parts.push(part);
  }
  if (length === 0) return {};
  let value: unknown;
  try {
    value = JSON.parse(Buffer.concat(parts).toString());
  } catch {
    throw new LabError('the body is not JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new LabError('the body is no JSON object');
  return value as Record<string, unknown>;
}

async function answer(control: Control, request: IncomingMessage): Promise<Answer> {
  const refusal = refusalOf(request.headers);
  if (refusal !== undefined) throw new LabError(refusal, 403);
  const path = pathOf(request).slice(PREFIX.length);
  const there = routes.filter(([, pattern]) => pattern.test(path));
  if (there.length === 0)
    throw new LabError(`the lab has no ${PREFIX}${path}: GET ${PREFIX} says what there is`, 404);
  const found = there.find(([method]) => method === request.method);
  if (!found) throw new LabError(`it takes ${there.map(([method]) => method).join(' and ')}`, 405);
  const [, pattern, run] = found;
  return run(control, { name: pattern.exec(path)?.[1] ?? '', body: () => readObject(request) });
}

export async function answerControl(
  control: Control,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { status, body } = await answer(control, request).catch(
    (error: unknown): Answer => ({
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
