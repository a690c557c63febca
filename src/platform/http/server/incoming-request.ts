/** A request for routes, made from the server's request. */
import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import type { HttpRequest } from '../messages.ts';
import type { OriginPolicy } from '../origin.ts';

/**
 * A class because of its getter: an object literal with one would get its own hidden class, which stays in
 * memory, with all that the getter refers to, until a full collection.
 */
export class IncomingRequest implements HttpRequest {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: HttpRequest['headers'];
  readonly address: string;
  readonly origin: string;
  readonly params: Record<string, string>;
  readonly bodyStream: Readable;
  readonly bodyLimit: number;
  readonly replyHeaders: Record<string, string> = {};
  readonly #response: ServerResponse;
  #signal: AbortSignal | undefined;
  #releases: (() => void)[] | undefined;

  constructor(
    request: FastifyRequest,
    response: ServerResponse,
    origins: OriginPolicy,
    bodyLimit: number,
    params: Record<string, string>,
  ) {
    // Requests to a proxy also name the host (RFC 9112, absolute-form); the router ignores it.
    const url = request.originalUrl.replace(/^https?:\/\/[^/?]*/i, '');
    const mark = url.indexOf('?');
    const peer = request.raw.socket.remoteAddress ?? '';
    this.id = request.id;
    this.method = request.method;
    // Joined slashes, as in the router: `//host` in a link made of it would be another site.
    this.path = (mark < 0 ? url : url.slice(0, mark)).replace(/\/{2,}/g, '/');
    this.query = mark < 0 ? '' : url.slice(mark + 1);
    this.headers = request.headers;
    this.address = origins.address(peer, request.headers);
    this.origin = origins.origin(peer, request.headers);
    this.params = params;
    this.bodyStream = request.raw;
    this.bodyLimit = bodyLimit;
    this.#response = response;
  }

  /** Created on demand, because few routes use it. */
  get signal(): AbortSignal {
    this.#signal ??= hangUpOf(this.#response);
    return this.#signal;
  }

  atEnd(release: () => void): void {
    this.#releases ??= [];
    this.#releases.push(release);
  }

  /** The handler has ended: calls the functions given to atEnd(). */
  end(): void {
    for (const release of this.#releases?.splice(0) ?? []) release();
  }
}

function hangUpOf(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  const look = (): void => {
    if (!response.writableFinished) controller.abort();
  };
  if (response.closed) look();
  else response.once('close', look);
  return controller.signal;
}
