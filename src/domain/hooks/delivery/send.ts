/** One request to the address of a hook (facts-merge-requests: 10.2). */
import { version } from '../../../package.ts';
import { monotonic } from '../../../platform/clock.ts';
import { OutboundFailure } from '../../../platform/outbound/outbound.ts';
import { randomId } from '../../../platform/secret.ts';
import type { HookServices } from '../events/hook-events.ts';
import { rulesOf } from '../management/addresses.ts';
import { type HookFlag, hookKinds } from '../management/kinds.ts';
import type { HookRow } from '../management/queries.ts';
import { interpolate, isReceived, sentToken, splitCredentials } from '../management/rules.ts';
import type { HookSecrets } from '../management/secrets.ts';
import { renderTemplate, TemplateProblem } from './template.ts';

const REQUEST_TIMEOUT_MS = 10_000;
export const MAX_BODY_BYTES = 25 * 1_048_576;
const MAX_RESPONSE_BYTES = 8_192;
/** Bytes of the headers of a response that are kept. */
const MAX_HEADER_BYTES = 4_096;
const REDACTED = '[REDACTED]';
/** In place of a status where there was no response. */
export const NO_RESPONSE = 'internal error';

export type Sending = {
  /** The flag of the event. */
  flag: string;
  body: string;
  chain: string;
  idempotencyKey: string;
};

/** What came of it, as the log shows it. */
export type Outcome = {
  received: boolean;
  status: string;
  url: string;
  requestHeaders: Record<string, string>;
  /** Where it is another than the event's. */
  requestBody: string | null;
  responseHeaders: Record<string, string>;
  responseBody: string;
  /** In seconds. */
  duration: number;
};

export const isOfInstance = ({
  project_id,
  namespace_id,
}: Pick<HookRow, 'project_id' | 'namespace_id'>): boolean => project_id === null && namespace_id === null;

const headerOf = (hook: HookRow, flag: string): string =>
  isOfInstance(hook) ? 'System Hook' : (hookKinds[flag as HookFlag]?.header ?? 'System Hook');

function headersOf(services: HookServices, hook: HookRow, { flag, chain, idempotencyKey }: Sending) {
  return {
    'Content-Type': 'application/json',
    'User-Agent': `GitLab/${version.api} Ashlar/${version.own}`,
    'Idempotency-Key': idempotencyKey,
    'X-Gitlab-Event': headerOf(hook, flag),
    'X-Gitlab-Webhook-UUID': randomId(),
    'X-Gitlab-Instance': services.baseUrl(),
    'X-Gitlab-Event-UUID': chain,
  };
}

/** The headers that have secrets in them. */
function secretHeaders(
  { token, headers }: HookSecrets,
  authorization: string | undefined,
): Record<string, string> {
  return {
    ...(authorization !== undefined && { Authorization: authorization }),
    ...(token !== null && { 'X-Gitlab-Token': sentToken(token) }),
    ...headers,
  };
}

/** A response's, as far as they are kept. */
function keptHeaders(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const kept: Record<string, string> = {};
  let left = MAX_HEADER_BYTES;
  for (const [name, value] of Object.entries(headers)) {
    const text = [value ?? []].flat().join(', ');
    left -= name.length + text.length;
    if (left < 0) break;
    // A session of the receiver is no business of the log's readers.
    kept[name] = name === 'set-cookie' ? REDACTED : text;
  }
  return kept;
}

/** A text that the database takes. */
const storable = (text: string): string => text.replaceAll('\0', '\u{fffd}');

/** The hook's address without its variables' values, and without credentials. */
export const maskedUrl = ({ url }: Pick<HookSecrets, 'url'>): string =>
  url.replace(/^([a-z]+:\/\/)[^/?#]*@/i, '$1');

/** Sends the event to the hook, once; what the receiver does wrong is in the outcome, and fails nothing. */
export async function sendToHook(
  services: HookServices,
  hook: HookRow,
  secrets: HookSecrets,
  sending: Sending,
  signal?: AbortSignal,
): Promise<Outcome> {
  const begun = monotonic();
  const shown = headersOf(services, hook, sending);
  const outcome = (
    rest: Pick<Outcome, 'received' | 'status'> & Partial<Outcome>,
    secret: Record<string, string> = {},
  ): Outcome => ({
    url: maskedUrl(secrets),
    requestHeaders: { ...shown, ...Object.fromEntries(Object.keys(secret).map((name) => [name, REDACTED])) },
    requestBody: null,
    responseHeaders: {},
    responseBody: '',
    duration: (monotonic() - begun) / 1_000,
    ...rest,
  });
  const failed = (text: string, secret?: Record<string, string>) =>
    outcome({ received: false, status: NO_RESPONSE, responseBody: text }, secret);
  let body = sending.body;
  let requestBody: string | null = null;
  if (hook.custom_webhook_template !== null)
    try {
      body = renderTemplate(hook.custom_webhook_template, JSON.parse(sending.body), MAX_BODY_BYTES);
      requestBody = body;
    } catch (error) {
      if (!(error instanceof TemplateProblem)) throw error;
      return failed(`Error while parsing rendered custom webhook template: ${error.message}`);
    }
  if (Buffer.byteLength(body) > MAX_BODY_BYTES)
    return failed('The payload is larger than 25 MB and was not sent.');
  const { url, authorization } = splitCredentials(interpolate(secrets.url, secrets.variables));
  const secret = secretHeaders(secrets, authorization);
  const settings = await services.settings.read();
  try {
    const {
      status,
      headers,
      body: response,
    } = await services.outbound(url, {
      ...rulesOf(settings, isOfInstance(hook)),
      method: 'POST',
      headers: { ...shown, ...secret },
      body,
      timeoutMilliseconds: REQUEST_TIMEOUT_MS,
      maximumBytes: MAX_RESPONSE_BYTES,
      cutAnswer: true,
      keepRedirects: true,
      anyCertificate: !hook.enable_ssl_verification,
      ...(signal && { signal }),
    });
    return outcome(
      {
        received: isReceived(status),
        status: String(status),
        requestBody,
        responseHeaders: keptHeaders(headers),
        responseBody: storable(response.toString('utf8')),
      },
      secret,
    );
  } catch (error) {
    if (!(error instanceof OutboundFailure)) throw error;
    return { ...failed(error.message, secret), requestBody };
  }
}
