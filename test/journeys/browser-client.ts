/**
 * An application of another owner for journeys in a browser: another origin, and its server's requests to
 * ours.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import type { BrowserJourney } from './browser.ts';

export type Application = { uid: string; secret: string; name: string };

/** The state of every request, with characters that URLs escape. */
export const STATE = 'a state & more';

export type Client = {
  /** Its redirect URI. */
  readonly callback: string;
  /** Its address on the program's own host: a browser takes both for one site, and sends cookies along. */
  readonly neighbour: string;
  /** Every address that browsers opened there. */
  readonly received: readonly URL[];
  /** An application of the instance, registered by REST. */
  makeApplication(name: string, redirectUri?: string): Promise<Application>;
  /**
   * The address that the client sends the browser to; `parameters` stand beside, or in place of, those of
   * every request.
   */
  authorizeUrl(application: Application, parameters?: Record<string, string>): string;
  /** The parameters of the redirect to the client that the browser has followed. */
  arrival(page: Page): Promise<Record<string, string>>;
  /** A request below /oauth with the client's secret. */
  ask(
    application: Application,
    path: string,
    parameters: Record<string, string>,
  ): Promise<{ status: number; body: Record<string, string> }>;
  /** The access token for a code. */
  exchange(application: Application, code: string | undefined, redirectUri?: string): Promise<string>;
  /** The user of the token, by a request to the API. */
  callUser(token: string): Promise<Response>;
};

/** Starts the client's server for the tests of a file. It shows a page, or where `frame` says so a page in a frame. */
export function useClient(journey: BrowserJourney): Client {
  const received: URL[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://client');
    received.push(url);
    const framed = url.searchParams.get('frame')?.replaceAll('&', '&amp;');
    const content =
      framed === undefined ? '<h1>Back at the client</h1>' : `<iframe src="${framed}"></iframe>`;
    response.setHeader('content-type', 'text/html');
    response.end(`<!doctype html><title>Client</title><link rel="icon" href="data:,">${content}`);
  });
  let port = 0;
  beforeAll(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    port = address.port;
  });
  afterAll(() => server.close());

  const client: Client = {
    get callback() {
      return `http://localhost:${port}/callback`;
    },
    get neighbour() {
      return `http://127.0.0.1:${port}`;
    },
    received,
    async makeApplication(name, redirect_uri = client.callback) {
      const application = { name, redirect_uri, scopes: 'api read_user openid' };
      const made = await journey.program.root('POST /applications', application);
      expect(made.status).toBe(201);
      const { application_id, secret } = (await made.json()) as { application_id: string; secret: string };
      return { uid: application_id, secret, name };
    },
    authorizeUrl: (application, parameters = {}) =>
      `${journey.program.url}/oauth/authorize?${new URLSearchParams({
        client_id: application.uid,
        redirect_uri: client.callback,
        response_type: 'code',
        state: STATE,
        scope: 'read_user',
        ...parameters,
      })}`,
    async arrival(page) {
      await page.getByRole('heading', { name: 'Back at the client' }).waitFor();
      return Object.fromEntries(received.at(-1)?.searchParams ?? []);
    },
    async ask({ uid: client_id, secret: client_secret }, path, parameters) {
      const body = new URLSearchParams({ client_id, client_secret, ...parameters });
      const answer = await fetch(`${journey.program.url}/oauth/${path}`, { method: 'POST', body });
      return { status: answer.status, body: (await answer.json()) as Record<string, string> };
    },
    async exchange(application, code = '', redirect_uri = client.callback) {
      const grant = { grant_type: 'authorization_code', code, redirect_uri };
      const { status, body } = await client.ask(application, 'token', grant);
      expect(status).toBe(200);
      return body.access_token ?? '';
    },
    callUser: (token) =>
      fetch(`${journey.program.url}/api/v4/user`, { headers: { authorization: `Bearer ${token}` } }),
  };
  return client;
}
