/** A receiver of webhooks for a test file, and what it was sent. */
import { afterAll, beforeAll, expect } from 'vitest';
import type { TestApp } from './app.ts';
import { bodyOf } from './factories.ts';
import { type Received, startWebServer, type WebServer } from './web-server.ts';

// biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of a payload by reading it.
export type Payload = any;

export type HookReceiver = {
  readonly url: string;
  /** All requests, oldest first. */
  received(): readonly Received[];
  /** Their payloads with these of the header's kind, or all. */
  payloads(kind?: string): Payload[];
  /** Waits for events with these names, of the header's kind, and returns the last of each. */
  heard(kind: string, ...names: string[]): Promise<Payload[]>;
  clear(): void;
  /** Adds a hook with these flags to `/projects/1`, `/groups/1` or the instance (''). */
  listen(app: TestApp, to: string, flags: object): Promise<{ id: number }>;
};

/** Starts before the tests of the file, and may be reached by hooks of the app. */
export function useHookReceiver(app: TestApp): HookReceiver {
  let server: WebServer | undefined;
  beforeAll(async () => {
    server = await startWebServer((_, reply) => reply.end());
    const body = { outbound_local_requests_allowlist: ['127.0.0.1'] };
    bodyOf(await app.root('PUT /application/settings', { body }), 200);
  });
  afterAll(() => server?.stop());
  const received = () => server?.received ?? [];
  const payloads = (kind?: string): Payload[] =>
    received()
      .filter(({ headers }) => kind === undefined || headers['x-gitlab-event'] === kind)
      .map(({ body }) => JSON.parse(body));
  return {
    get url() {
      return server?.url ?? '';
    },
    received,
    payloads,
    heard: async (kind, ...names) => {
      const last = (name: string) => payloads(kind).findLast(({ event_name }) => event_name === name);
      await expect.poll(() => names.filter((name) => !last(name))).toEqual([]);
      return names.map(last);
    },
    clear: () => void server?.received.splice(0),
    listen: async (listening, to, flags) => {
      const body = { url: `${server?.url}${to || '/instance'}`, push_events: false, ...flags };
      return bodyOf(await listening.root(`POST ${to}/hooks`, { body }), 201);
    },
  };
}
