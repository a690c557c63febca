/** Names and states of managed licences. Pure. */
import { invalid } from '../../platform/failure.ts';

export const statuses = ['allowed', 'denied', 'approved', 'blacklisted'] as const;
type Status = (typeof statuses)[number];

const MAX_LICENSES = 1_000;

/** The state by its present name. */
export const presentStatus = (status: Status): 'allowed' | 'denied' =>
  status === 'allowed' || status === 'approved' ? 'allowed' : 'denied';

/** 400 for a name of nothing but space. */
export function requireName(name: string | undefined): void {
  if (name?.trim() === '') throw invalid({ name: ["can't be blank"] });
}

/** 400 for one too many. */
export function requirePlace(count: number): void {
  if (count >= MAX_LICENSES)
    throw invalid({ base: [`Maximum number of managed licenses (${MAX_LICENSES}) exceeded`] });
}
