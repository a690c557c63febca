/**
 * The one failure type of the program: thrown where the answer to the client is decided, rendered at the edge.
 * Anything else that is thrown is a fault of ours and becomes a 500 with a fixed text.
 */

/** The closed list of kinds and the status each one is answered with (spec: Errors, Status codes). */
export const failureStatus = {
  bad_request: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  not_acceptable: 406,
  request_timeout: 408,
  conflict: 409,
  gone: 410,
  precondition_failed: 412,
  payload_too_large: 413,
  uri_too_long: 414,
  unsupported_media_type: 415,
  unprocessable: 422,
  locked: 423,
  too_many_requests: 429,
  not_implemented: 501,
  unavailable: 503,
} as const;

export type FailureKind = keyof typeof failureStatus;

/** `{property: [messages], embedded: {property: [messages]}}` (spec: Error bodies, validation failure). */
export type ValidationMessages = { [property: string]: string[] | ValidationMessages };

type PublicMessage = string | readonly string[] | ValidationMessages;

export type FailureDetails = {
  /** Machine-readable code beside the message (`insufficient_scope`, `invalid_token`, or a parameter error's text). */
  error?: string;
  errorDescription?: string;
  /** What a program tells refusals of one kind apart by. */
  errorCode?: string;
  scope?: string;
  headers?: Record<string, string>;
  /** What else the body has, before the message. */
  fields?: Readonly<Record<string, string | number | boolean>>;
  /** What went wrong inside: logged, never sent. */
  cause?: unknown;
};

export class Failure extends Error {
  readonly kind: FailureKind;
  /** What the client reads as `message`: text, or messages, by property where they have one. */
  readonly publicMessage: PublicMessage;
  readonly details: FailureDetails;

  constructor(kind: FailureKind, publicMessage: PublicMessage, details: FailureDetails = {}) {
    super(typeof publicMessage === 'string' ? publicMessage : JSON.stringify(publicMessage), {
      cause: details.cause,
    });
    this.kind = kind;
    this.publicMessage = publicMessage;
    this.details = details;
  }

  get status(): number {
    return failureStatus[this.kind];
  }
}

/** 400 `{message: {property: [...]}}` for values that fail a rule. */
export const invalid = (messages: ValidationMessages): Failure => new Failure('bad_request', messages);

/** 400 `{message: '400 Bad request - reason'}`. */
export const badRequest = (reason: string): Failure =>
  new Failure('bad_request', `400 Bad request - ${reason}`);

/** 404 `404 <Resource> Not Found`; without a name, the text of a failed record look-up. */
export const notFound = (resource?: string): Failure =>
  new Failure('not_found', resource === undefined ? '404 Not found' : `404 ${resource} Not Found`);

export const forbidden = (reason?: string): Failure =>
  new Failure('forbidden', reason === undefined ? '403 Forbidden' : `403 Forbidden - ${reason}`);

export const unauthenticated = (details: FailureDetails = {}): Failure =>
  new Failure('unauthenticated', '401 Unauthorized', details);

export const conflict = (reason?: string): Failure =>
  new Failure('conflict', reason === undefined ? '409 Conflict' : reason);
