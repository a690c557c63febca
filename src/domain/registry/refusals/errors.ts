/** Refusals in the form of the protocol (OCI Distribution 1.1, Error Codes). */
import { Failure, type FailureKind } from '../../../platform/failure.ts';
import { type HttpResponse, json } from '../../../platform/http/messages.ts';

const statuses = {
  BLOB_UNKNOWN: 404,
  BLOB_UPLOAD_INVALID: 400,
  BLOB_UPLOAD_UNKNOWN: 404,
  DIGEST_INVALID: 400,
  MANIFEST_BLOB_UNKNOWN: 404,
  MANIFEST_INVALID: 400,
  MANIFEST_UNKNOWN: 404,
  NAME_INVALID: 400,
  NAME_UNKNOWN: 404,
  PAGINATION_NUMBER_INVALID: 400,
  RANGE_INVALID: 416,
  SIZE_INVALID: 400,
  TAG_INVALID: 400,
  UNAUTHORIZED: 401,
  DENIED: 403,
  UNSUPPORTED: 405,
  TOOMANYREQUESTS: 429,
  UNAVAILABLE: 503,
  UNKNOWN: 500,
} as const;
type ErrorCode = keyof typeof statuses;

export class RegistryError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly headers: Record<string, string>;
  constructor(
    code: ErrorCode,
    message: string,
    options: { status?: number; headers?: Record<string, string> } = {},
  ) {
    super(message);
    this.code = code;
    this.status = options.status ?? statuses[code];
    this.headers = options.headers ?? {};
  }
}

/** All responses name the protocol: clients tell it by that. */
export const versioned = { 'docker-distribution-api-version': 'registry/2.0' } as const;

const codes: Partial<Record<FailureKind, ErrorCode>> = {
  unauthenticated: 'UNAUTHORIZED',
  forbidden: 'DENIED',
  not_found: 'NAME_UNKNOWN',
  payload_too_large: 'SIZE_INVALID',
  too_many_requests: 'TOOMANYREQUESTS',
  unavailable: 'UNAVAILABLE',
  bad_request: 'BLOB_UPLOAD_INVALID',
};

/** A failure of the program's own kinds, in the words of the protocol. */
function translate(failure: Failure): RegistryError {
  const { status, publicMessage, details } = failure;
  const text = typeof publicMessage === 'string' ? publicMessage : failure.message;
  return new RegistryError(codes[failure.kind] ?? 'UNKNOWN', text.replace(/^403 Forbidden - /, ''), {
    status,
    ...(details.headers && { headers: details.headers }),
  });
}

/** The response to a refusal; undefined for what is none. */
export function refusalOf(error: unknown): HttpResponse | undefined {
  const refusal = error instanceof Failure ? translate(error) : error;
  if (!(refusal instanceof RegistryError)) return undefined;
  const { code, message, status, headers } = refusal;
  return {
    ...json(status, { errors: [{ code, message, detail: null }] }, { ...versioned, ...headers }),
    failure: code,
  };
}
