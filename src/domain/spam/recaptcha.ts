/** Verifies CAPTCHAs by a service with the protocol of reCAPTCHA v2 (siteverify). */
import type { Fetch } from '../../kernel/api/outbound-fetch.ts';

type Service = { fetch: Fetch; url: string; key: string };

const TIMEOUT_MS = 5_000;
const MAX_RESPONSE_BYTES = 10_000;

/** Whether the service accepts the response; fails without a verdict. */
export async function isSolved(service: Service, response: string, address: string): Promise<boolean> {
  const { status, body } = await service.fetch(service.url, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ secret: service.key, response, remoteip: address }).toString(),
    timeoutMilliseconds: TIMEOUT_MS,
    maximumBytes: MAX_RESPONSE_BYTES,
  });
  if (status !== 200) throw new Error(`the CAPTCHA service answered with status ${status}`);
  const said: unknown = JSON.parse(body.toString());
  if (typeof said !== 'object' || said === null || !('success' in said)) {
    throw new Error('the CAPTCHA service did not say whether it was solved');
  }
  return said.success === true;
}
