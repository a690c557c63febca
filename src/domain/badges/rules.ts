/** Addresses of badges, with placeholders in them. Pure. */
import { invalid } from '../../platform/failure.ts';
import { isWebAddress } from '../../platform/http/web-address.ts';

/** `%{project_path}`, also as browsers send it. */
const placeholder = /%(?:\{|%7b)([a-z_]+)(?:\}|%7d)/gi;

/** What placeholders add to an address at most: one can be written a hundred times. */
const MAX_ADDED = 8192;

/** 400 for an address that is no web page: browsers would run some others as code. */
export function requireAddresses(addresses: { link_url?: string; image_url?: string }): void {
  for (const [field, text] of Object.entries(addresses))
    if (!isWebAddress(text.replace(placeholder, 'x')))
      throw invalid({ [field]: ['is blocked: Only allowed schemes are http, https'] });
}

/** The names of the placeholders in the addresses. */
export const placeholdersIn = (addresses: readonly string[]): Set<string> =>
  new Set(addresses.flatMap((text) => [...text.matchAll(placeholder)].map(([, name = '']) => name)));

/** The value as a part of an address: a project's title adds neither parameters nor another host. */
const encoded = (value: string): string =>
  encodeURIComponent(value).replace(/%(?:2F|3A)/g, decodeURIComponent);

/** The address with its placeholders replaced; those without a value stay. */
export function renderAddress(text: string, values: ReadonlyMap<string, string>): string {
  let left = MAX_ADDED;
  return text.replace(placeholder, (written, name: string) => {
    const value = encoded(values.get(name) ?? '');
    if (value === '' || value.length > left) return written;
    left -= value.length;
    return value;
  });
}
