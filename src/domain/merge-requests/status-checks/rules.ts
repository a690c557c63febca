/** What the responses of external status checks mean (facts-merge-requests: 1.1). Pure. */
import { isWebAddress } from '../../../platform/http/web-address.ts';

export const responseStatuses = ['passed', 'failed', 'pending'] as const;
export type ResponseStatus = (typeof responseStatuses)[number];

/** A service that has not responded after this time has failed. */
export const RESPONSE_TIMEOUT_MS = 2 * 60_000;

export type CheckResponse = { sha: string; status: ResponseStatus; updatedAt: Date };

/** The status of a check for the newest commit, by its last response. */
export function statusOf(
  response: CheckResponse | undefined,
  headSha: string | null,
  now: Date,
): ResponseStatus {
  if (!response || response.sha !== headSha) return 'pending';
  const { status, updatedAt } = response;
  const isLate = status === 'pending' && now.getTime() - updatedAt.getTime() >= RESPONSE_TIMEOUT_MS;
  return isLate ? 'failed' : status;
}

/** Why no requests go to the address; undefined where they do. Which networks they may reach is decided at each request. */
export function addressProblem(text: string): string | undefined {
  if (!isWebAddress(text)) return 'is blocked: only http and https';
  const url = new URL(text);
  return url.username || url.password ? 'is blocked: it has credentials in it' : undefined;
}
