/** One request to another service, by the administrator's rules for addresses. */
import { OutboundFailure } from '../../../platform/outbound/outbound.ts';
import { rulesOf } from '../../hooks/index.ts';
import type { DeliveryServices } from './description.ts';

const TIMEOUT_MS = 10_000;
const MAX_RESPONSE_BYTES = 262_144;

export type ServiceRequest = {
  method: 'GET' | 'POST' | 'PUT';
  url: string;
  headers?: Readonly<Record<string, string>>;
  /** As JSON. */
  body?: object;
};

/**
 * The body of the answer; undefined where the service refuses, which the log says. Fails where it may be tried again: the service is
 * not there, has too much to do, or breaks.
 */
export async function call(
  { outbound, settings, log, ending }: DeliveryServices,
  { method, url, headers = {}, body }: ServiceRequest,
): Promise<string | undefined> {
  try {
    const answer = await outbound(url, {
      ...rulesOf(await settings.read(), false),
      method,
      headers: {
        accept: 'application/json',
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
      timeoutMilliseconds: TIMEOUT_MS,
      maximumBytes: MAX_RESPONSE_BYTES,
      cutAnswer: true,
      keepRedirects: true,
      signal: ending,
    });
    const { status } = answer;
    if (status === 429 || status >= 500) throw new Error(`the service answered ${status}`);
    if (status < 300) return answer.body.toString('utf8');
    log.info('a request of an integration was refused', { status });
  } catch (error) {
    // An address that may not be reached is none later, either.
    if (!(error instanceof OutboundFailure) || error.reason !== 'address') throw error;
    log.info('a request of an integration was not sent', { error: error.message });
  }
  return undefined;
}
