/** Rules of sites. Pure. */
import { Failure, invalid, type ValidationMessages } from '../../platform/failure.ts';
import { isWebAddress } from '../../platform/http/web-address.ts';
import type { SiteInput } from './schema.ts';

const MAX_SITES = 100;

/** The address as sites are compared by: with a slash at its end. */
export const withSlash = (url: string): string => (url.endsWith('/') ? url : `${url}/`);

/** 400 for names and addresses that are none. */
export function requireValid({ name, url, internal_url, primary, enabled }: SiteInput): void {
  const problems: ValidationMessages = {};
  if (name?.trim() === '') problems.name = ["can't be blank"];
  for (const [field, address] of Object.entries({ url, internal_url }))
    if (address != null && !isWebAddress(address)) problems[field] = ['must be a valid URL'];
  if (primary && enabled === false) problems.enabled = ['must be true for the primary site'];
  if (Object.keys(problems).length > 0) throw invalid(problems);
}

/** 400 for one too many. */
export function requirePlace(count: number): void {
  if (count >= MAX_SITES) throw invalid({ base: [`Maximum number of sites (${MAX_SITES}) exceeded`] });
}

/** 400 for the primary site, while there are others. */
export function requireRemovable({ is_primary }: { is_primary: boolean }, count: number): void {
  if (is_primary && count > 1)
    throw new Failure('bad_request', 'The primary site cannot be removed while there are secondary sites');
}

/** `12.34%`; of nothing it is none. */
export const percentage = (part: number, whole: number): string =>
  `${(whole === 0 ? 0 : (100 * part) / whole).toFixed(2)}%`;
