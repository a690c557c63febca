/**
 * What listens for an instance as long as it is there: it hands requests to the present app, holds them while that is
 * swapped, and answers the lab's own routes itself, whatever state the app is in.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import http, { type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { urlOf } from '../kernel/config.ts';
import { MAX_HEADER_BYTES, portOf } from '../platform/http/server/server.ts';
import { answerControl, type Control, isControl, isDelivery } from './control.ts';
import type { Faults } from './faults/faults.ts';
import type { Requests } from './requests.ts';
import { isInside, refusalOf } from './rules.ts';

export type Front = {
  readonly url: string;
  /**
   * As whoever asks just now knows it, or in the background, who asked the lab's own routes last: from outside a container, it has
   * another name and port.
   */
  address(): string;
  /** Requests go to this server from now on. */
  serve(app: Server): void;
  /** Reads that a fault makes stale go to this one. */
  serveStale(copy: Server | undefined): void;
  /** New requests wait until they are let go on. */
  pause(): () => void;
  /** Waits for the requests that were handed over; after ten seconds they are cut off. */
  finished(): Promise<void>;
  close(): Promise<void>;
};

const FINISH_TIMEOUT_MS = 10_000;

export async function createFront(options: {
  host: string;
  port: number;
  control: Control;
  faults: Faults;
  requests: Requests;
}): Promise<Front> {
  const { faults, requests } = options;
  let app: Server | undefined;
  let copy: Server | undefined;
  let gate = Promise.withResolvers<void>();
  /** Once there is an app. */
  const ready = gate.promise;
  const asked = new AsyncLocalStorage<string>();
  const running = new Set<ServerResponse>();
  let emptied: (() => void) | undefined;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { host } = request.headers;
    if (isControl(request)) {
      await ready;
      if (!isDelivery(request) && refusalOf(request.headers) === undefined) known = `http://${host}`;
      return answerControl(options.control, request, response);
    }
    const noted = requests.note(request, response);
    const { by, fault } = await faults.apply(request, response);
    noted.setFault(fault);
    if (by === 'nobody') return;
    // A client may hang up while it waits; then nobody is asked.
    await gate.promise;
    if (request.socket.destroyed) return;
    running.add(response);
    response.once('close', () => {
      running.delete(response);
      if (running.size === 0) emptied?.();
    });
    const answering = by === 'copy' ? (copy ?? app) : app;
    asked.run(isInside(host) ? `http://${host}` : url, () => answering?.emit('request', request, response));
  }

  // The rest is as the app's own server has it: see serve().
  const server = http.createServer({ maxHeaderSize: MAX_HEADER_BYTES }, (request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  server.on('clientError', (error, socket) => {
    if (app) app.emit('clientError', error, socket);
    else socket.destroy();
  });
  await new Promise<void>((resolve, reject) =>
    server.once('error', reject).listen(options.port, options.host, resolve),
  );

  const url = urlOf(options.host, portOf(server));
  let known = url;

  return {
    url,
    address: () => asked.getStore() ?? known,
    serve(next) {
      app = next;
      server.keepAliveTimeout = next.keepAliveTimeout;
      server.requestTimeout = next.requestTimeout;
      gate.resolve();
    },
    serveStale(next) {
      copy = next;
    },
    pause() {
      gate = Promise.withResolvers();
      return () => gate.resolve();
    },
    async finished() {
      if (running.size === 0) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      emptied = resolve;
      const timer = setTimeout(() => {
        for (const response of running) response.destroy();
      }, FINISH_TIMEOUT_MS);
      await promise;
      clearTimeout(timer);
      emptied = undefined;
    },
    async close() {
      gate.resolve();
      app = undefined;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}
