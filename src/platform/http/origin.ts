/** Trust in `X-Forwarded-*`, for the client's address and the origin of links. */
import { BlockList, isIP } from 'node:net';

type Headers = Record<string, string | string[] | undefined>;

export type OriginPolicy = {
  /** The client's address: the first hop from the right that is not a trusted proxy. */
  address(peer: string, headers: Headers): string;
  /**
   * The request's origin when it is the configured one's, loopback's or a trusted proxy's; else the
   * configured one.
   */
  origin(peer: string, headers: Headers): string;
};

const plainAddress = (address: string): string =>
  address.replace(/^::ffff:(?=\d+\.)/, '').replace(/%.*$/, '');

/** Tests whether an address is in these addresses and networks, each of which must be valid. */
export function addressTest(entries: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = '', prefix] = entry.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return (address) => {
    const family = isIP(address);
    return family !== 0 && entries.length > 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4');
  };
}

const loopbackHost = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i;
const anyHost = /^([a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9-]+)*|\[[0-9a-f:.]+\])(:\d{1,5})?$/i;
const one = (value: string | string[] | undefined): string | undefined => {
  const text = Array.isArray(value) ? value.join(',') : value;
  return text?.split(',')[0]?.trim();
};

/** `trusted` holds addresses and networks; `configured` gives the origin of ASHLAR_URL. */
export function createOriginPolicy(trusted: readonly string[], configured: () => string): OriginPolicy {
  const isTrusted = addressTest(trusted);
  return {
    address(peer, headers) {
      let address = plainAddress(peer);
      if (!isTrusted(address)) return address;
      const hops = String(headers['x-forwarded-for'] ?? '').split(',');
      for (const hop of hops.reverse()) {
        const next = plainAddress(hop.trim());
        if (isIP(next) === 0) break;
        address = next;
        if (!isTrusted(address)) break;
      }
      return address;
    },
    origin(peer, headers) {
      const believed = isTrusted(plainAddress(peer));
      const host = (believed ? one(headers['x-forwarded-host']) : undefined) ?? one(headers.host) ?? '';
      const scheme = believed && one(headers['x-forwarded-proto']) === 'https' ? 'https' : 'http';
      const forwarded = believed && headers['x-forwarded-host'] !== undefined && anyHost.test(host);
      if (forwarded || loopbackHost.test(host)) return `${scheme}://${host}`;
      return configured();
    },
  };
}
