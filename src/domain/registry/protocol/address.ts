/** Addresses below `/v2/` (OCI Distribution 1.1, Endpoints). Pure. */
import { isImagePath } from '../names/rules.ts';

export type Address =
  | { of: 'base' }
  | { of: 'catalog' }
  | { of: 'blob'; path: string; digest: string }
  | { of: 'uploads'; path: string }
  | { of: 'upload'; path: string; id: string }
  | { of: 'manifest'; path: string; reference: string }
  | { of: 'tags'; path: string }
  | { of: 'referrers'; path: string; digest: string };

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** `invalid_name` for an image that cannot be; undefined for no address of the protocol. `rest` follows `/v2/`, decoded. */
export function parseAddress(rest: string): Address | 'invalid_name' | undefined {
  if (rest === '') return { of: 'base' };
  if (rest === '_catalog') return { of: 'catalog' };
  const address = parseImage(rest);
  return address && !isImagePath(address.path) ? 'invalid_name' : address;
}

type ImageAddress = Extract<Address, { path: string }>;

function parseImage(rest: string): ImageAddress | undefined {
  const segments = rest.replace(/\/$/, '').split('/');
  const below = (count: number): string => segments.slice(0, -count).join('/');
  const [third, kind, last = ''] = [segments.at(-3), segments.at(-2), segments.at(-1)];
  if (kind === 'blobs' && last === 'uploads') return { of: 'uploads', path: below(2) };
  if (third === 'blobs' && kind === 'uploads')
    return UUID.test(last) ? { of: 'upload', path: below(3), id: last } : undefined;
  if (kind === 'blobs') return { of: 'blob', path: below(2), digest: last };
  if (kind === 'manifests') return { of: 'manifest', path: below(2), reference: last };
  if (kind === 'tags' && last === 'list') return { of: 'tags', path: below(2) };
  if (kind === 'referrers') return { of: 'referrers', path: below(2), digest: last };
  return undefined;
}
