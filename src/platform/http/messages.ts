/** Requests and responses as plain values for routes, and the rendering of failures (spec: Errors). */
import type { Readable } from 'node:stream';
import type { Failure } from '../failure.ts';

export type HttpRequest = {
  id: string;
  method: string;
  /** As requested: still percent-encoded, without the query. */
  path: string;
  /** The raw query string, without `?`. */
  query: string;
  headers: Record<string, string | string[] | undefined>;
  /** The client's address, from trusted proxies' headers where there are any. */
  address: string;
  /** Scheme and host for links: the request's own where it is trusted, else the configured one. */
  origin: string;
  /** Path parameters, decoded. */
  params: Record<string, string>;
  /** The unread body: the route reads it, by readBody() or itself. */
  bodyStream: Readable;
  /** Bytes; Infinity for routes without a limit. */
  bodyLimit: number;
  /** Registers a release of resources for the end of the handler. */
  atEnd(release: () => void): void;
  /** Aborted when the client disconnects before its response. */
  readonly signal: AbortSignal;
  /** Added to the response, also to a failure. */
  replyHeaders: Record<string, string>;
};

export type HttpResponse = {
  status: number;
  headers: Record<string, string>;
  body?: string | Buffer | Readable;
  /** The body depends on neither caller nor request. */
  sameForAll?: true;
  /** For the log line. */
  actor?: string;
  failure?: string;
};

export const json = (status: number, value: unknown, headers: Record<string, string> = {}): HttpResponse => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(value),
});

/** The API's body for a failure: `message`, and the public codes beside it (spec: Error bodies). */
export function renderFailure(failure: Failure): HttpResponse {
  const { error, errorDescription, errorCode, scope, headers, fields } = failure.details;
  const body = {
    ...fields,
    message: failure.publicMessage,
    error,
    error_description: errorDescription,
    error_code: errorCode,
    scope,
  };
  return { ...json(failure.status, body, headers), failure: failure.kind };
}

/** The response to an internal error: it has only the request id. */
export const serverError = (requestId: string): HttpResponse => ({
  ...json(500, { message: '500 Internal Server Error', request_id: requestId }),
  failure: 'server_error',
});
