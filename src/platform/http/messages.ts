/** Requests and answers as plain values: what a route gets and gives back, with the renderer of failures (spec: Errors). */
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
  /** The client's address, behind trusted proxies too. */
  address: string;
  /** Scheme and host for links: the request's own where it can be believed, else the configured one. */
  origin: string;
  /** Path parameters, decoded. */
  params: Record<string, string>;
  /** As it comes: nothing of it is read before the route reads it, by readBody() or by itself. */
  bodyStream: Readable;
  /** In bytes; Infinity where the route has none. */
  bodyLimit: number;
  /** Gives back what the request holds, when its handler has ended. */
  atEnd(release: () => void): void;
  /** Aborted when the client hangs up before it has its answer. */
  readonly signal: AbortSignal;
  /** Sent with the answer, whatever that becomes, a failure included. */
  replyHeaders: Record<string, string>;
};

export type HttpResponse = {
  status: number;
  headers: Record<string, string>;
  body?: string | Buffer | Readable;
  /** The body holds nothing of the caller or the request: whoever asks gets the same bytes. */
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

/** What a client is told of a fault of ours: nothing but where to find it in the log. */
export const serverError = (requestId: string): HttpResponse => ({
  ...json(500, { message: '500 Internal Server Error', request_id: requestId }),
  failure: 'server_error',
});
