/** A web server on loopback with a test's responses: it stands in for services outside. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export type Received = {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
};

export type WebServer = {
  readonly port: number;
  /** `http://127.0.0.1:port` */
  readonly url: string;
  /** The requests to it, oldest first. */
  readonly received: Received[];
  stop(): Promise<void>;
};

export async function startWebServer(
  response: (request: Received, reply: ServerResponse) => void,
  make: (listener: (request: IncomingMessage, reply: ServerResponse) => void) => Server = createServer,
): Promise<WebServer> {
  const received: Received[] = [];
  const server = make(async (request, reply) => {
    const { method = '', url = '', headers } = request;
    const requested = { method, path: url, headers, body: await text(request) };
    received.push(requested);
    response(requested, reply);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    received,
    stop: () =>
      new Promise((stopped) => {
        server.close(() => stopped());
        server.closeAllConnections();
      }),
  };
}
