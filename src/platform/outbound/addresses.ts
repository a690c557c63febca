/** Which addresses outgoing calls may reach: the public ones, and of this network those that are allowed. Pure. */
import { BlockList, isIP } from 'node:net';
import { domainToASCII } from 'node:url';

export type OutboundRules = {
  /** Whether every address of this network may be reached. */
  allowLocal: boolean;
  /** Else which: hosts, addresses (both also with a port) and networks such as `10.0.0.0/8`. */
  allowlist: readonly string[];
};

export type OutboundTarget = { hostname: string; address: string; port: number };

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

function networks(...texts: readonly string[]): BlockList {
  const list = new BlockList();
  for (const text of texts) {
    const [network = '', prefix] = text.split('/');
    list.addSubnet(network, Number(prefix), familyOf(network));
  }
  return list;
}

/** IANA's registries of special addresses (RFC 6890): what is not in them is somewhere on the Internet. */
const special = networks(
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15'],
  ...['198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
  ...['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'],
);
/** All that was ever given out of IPv6. */
const given = networks('2000::/3');
/** IPv4 inside IPv6: mapped, and behind a translator (RFC 6052). It is judged as what it leads to. */
const wrapping = networks('::ffff:0:0/96', '64:ff9b::/96');

/** The address without its zone; an IPv4 address in IPv6's clothes as itself. */
function plainAddress(address: string): string {
  const unzoned = address.replace(/%.*$/, '');
  if (isIP(unzoned) !== 6 || !wrapping.check(unzoned, 'ipv6')) return unzoned;
  const groups = new URL(`http://[${unzoned}]`).hostname.slice(1, -1).split(':').slice(-2);
  const [high = 0, low = 0] = groups.map((group) => Number.parseInt(group || '0', 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** Whether the address is on the public Internet; false for what is no address at all. */
export function isPublicAddress(address: string): boolean {
  const plain = plainAddress(address);
  if (isIP(plain) === 0 || special.check(plain, familyOf(plain))) return false;
  return isIP(plain) === 4 || given.check(plain, 'ipv6');
}

function isInNetwork(address: string, network: string, prefix: number): boolean {
  const most = isIP(network) === 6 ? 128 : 32;
  const plain = plainAddress(address);
  if (isIP(network) === 0 || isIP(network) !== isIP(plain)) return false;
  if (!Number.isInteger(prefix) || prefix < 0 || prefix > most) return false;
  return networks(`${network}/${prefix}`).check(plain, familyOf(plain));
}

/** Whether an entry of the allowlist means the target. What is no host, address or network means nothing. */
function means(entry: string, { hostname, address, port }: OutboundTarget): boolean {
  const [, network, prefix] = /^([^/]+)\/(\d{1,3})$/.exec(entry) ?? [];
  if (network !== undefined) return isInNetwork(address, network, Number(prefix));
  const [, bracketed, named, only] =
    isIP(entry) === 6 ? [entry, entry] : (/^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(entry) ?? []);
  if (only !== undefined && Number(only) !== port) return false;
  const host = bracketed ?? named ?? '';
  if (isIP(host) === 4) return plainAddress(address) === host;
  if (isIP(host) === 6) return isInNetwork(address, host, 128);
  const ascii = domainToASCII(host);
  return ascii !== '' && ascii === hostname.replace(/\.$/, '');
}

/** Whether an outgoing call may be made to the address that the host name stands for. */
export const mayReach = (target: OutboundTarget, { allowLocal, allowlist }: OutboundRules): boolean =>
  allowLocal || isPublicAddress(target.address) || allowlist.some((entry) => means(entry.trim(), target));
