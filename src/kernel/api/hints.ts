/** Hints for newcomers' mistakes, in the `error_description` of a refusal. */
import { Failure, type FailureDetails } from '../../platform/failure.ts';
import { isJsonReadAsForm } from '../../platform/http/bodies/body.ts';
import type { HttpRequest } from '../../platform/http/messages.ts';
import { presentedCredential } from '../identity/credentials.ts';

const JSON_AS_FORM =
  'The body looks like JSON and was read as a form: send it with the header Content-Type: application/json';
const UNREAD_AUTHORIZATION =
  'The request counts as anonymous: of the header Authorization only Bearer <token> is read. Send that, or the header PRIVATE-TOKEN: <token>';

/** The failure with a hint, if the request shows the mistake; other errors as they are. */
export function withHint(request: HttpRequest, query: Record<string, unknown>, error: unknown): unknown {
  if (!(error instanceof Failure) || error.details.errorDescription !== undefined) return error;
  const errorDescription = hintOf(request, query, error);
  if (errorDescription === undefined) return error;
  const details: FailureDetails = { ...error.details, errorDescription };
  return new Failure(error.kind, error.publicMessage, details);
}

function hintOf(request: HttpRequest, query: Record<string, unknown>, { kind }: Failure): string | undefined {
  if (kind === 'bad_request') return isJsonReadAsForm(request) ? JSON_AS_FORM : undefined;
  if (kind !== 'unauthenticated' && kind !== 'not_found') return undefined;
  const unread =
    request.headers.authorization !== undefined &&
    presentedCredential(request.headers, query).form === 'none';
  return unread ? UNREAD_AUTHORIZATION : undefined;
}

/** The hint for an address without an endpoint: a path parameter with unencoded slashes. */
export function hintOfPath(path: string): string | undefined {
  const [, kind, id = ''] = /^\/api\/v4\/(projects|groups)\/([^/?]+)\/[^/?]/.exec(path) ?? [];
  if (kind === undefined) return undefined;
  const example = kind === 'projects' ? 'masons%2Fwall' : 'masons%2Ftools';
  if (!/^\d+$|%2f/i.test(id))
    return `A path is one segment of the address, with %2F for each of its slashes: /api/v4/${kind}/${example}`;
  if (/\/repository\/(files|branches|tags)\/[^/?]+\/[^/?]/.test(path))
    return 'The path of a file, or a name, is one segment of the address, with %2F for each of its slashes';
  return undefined;
}
