/** A well-behaved client, and its waits; beside it, the waits that the machine itself causes. */
import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { makeFolder } from './support.ts';

const run = promisify(execFile);

export type Client = { url: string; token: string; projectId: number; projectPath: string };

/** The 99th of a hundred waits, in milliseconds, and the wrong responses. */
export type Waits = { p99: number; count: number; failures: string[] };
export type Kind = 'GET /user' | 'POST issue' | 'clone';

export const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((left, right) => left - right)[
    Math.min(values.length - 1, Math.floor(values.length * share))
  ] ?? Number.NaN;

async function ask(
  { url, token }: Client,
  method: string,
  path: string,
  body?: unknown,
): Promise<string | undefined> {
  const response = await fetch(`${url}/api/v4${path}`, {
    method,
    headers: { 'private-token': token, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return response.ok ? undefined : `${response.status} ${text.slice(0, 200)}`;
}

async function clone({ url, token, projectPath }: Client): Promise<string | undefined> {
  const folder = join(makeFolder(), 'clone');
  const address = new URL(`/${projectPath}.git`, url);
  address.username = 'oauth2';
  address.password = token;
  try {
    await run('git', ['clone', '-q', address.href, folder], {
      env: { ...process.env, GIT_TERMINAL_PROMPT: '0' },
    });
    return undefined;
  } catch (error) {
    return String((error as { stderr?: unknown }).stderr ?? error);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const works: Record<Kind, (client: Client) => Promise<string | undefined>> = {
  'GET /user': (client) => ask(client, 'GET', '/user'),
  'POST issue': (client) =>
    ask(client, 'POST', `/projects/${client.projectId}/issues`, { title: 'A small one' }),
  clone,
};

/** Milliseconds between two of one kind. */
const PAUSE_MS = 20;

/** Does all of its work again and again for so long, one of each kind at a time. */
export async function workFor(client: Client, milliseconds: number): Promise<Record<Kind, Waits>> {
  const end = performance.now() + milliseconds;
  const entries = Object.entries(works).map(async ([kind, work]) => {
    const waits: number[] = [];
    const failures: string[] = [];
    while (performance.now() < end) {
      const begun = performance.now();
      const failure = await work(client);
      waits.push(performance.now() - begun);
      if (failure !== undefined) failures.push(failure);
      await sleep(PAUSE_MS);
    }
    return [kind, { p99: percentile(waits, 0.99), count: waits.length, failures }] as const;
  });
  // The keys are those of `works`.
  return Object.fromEntries(await Promise.all(entries)) as Record<Kind, Waits>;
}

/** The waits that the machine itself causes: a request to a server that does nothing, and a start of git. */
export async function machineFor(milliseconds: number): Promise<number> {
  const server = createServer((_request, response) => response.end('{}'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // It listens on a port.
  const { port } = server.address() as AddressInfo;
  const end = performance.now() + milliseconds;
  const waits: number[] = [];
  while (performance.now() < end) {
    const begun = performance.now();
    await (await fetch(`http://127.0.0.1:${port}`)).arrayBuffer();
    await run('git', ['version']);
    waits.push(performance.now() - begun);
    await sleep(PAUSE_MS);
  }
  server.closeAllConnections();
  server.close();
  return percentile(waits, 0.99);
}
