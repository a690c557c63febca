import { describe, expect, test } from 'vitest';
import { isPublicAddress, mayReach } from './addresses.ts';

describe('public addresses', () => {
  test.each([
    '1.1.1.1',
    '8.8.8.8',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.0',
    '169.253.255.255',
    '169.255.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '192.167.255.255',
    '192.169.0.0',
    '223.255.255.255',
    '2606:4700:4700::1111',
    '2a00:1450:4001:80f::2004',
    '2001:4860:4860::8888',
    '::ffff:8.8.8.8',
    '::ffff:808:808',
    '64:ff9b::8.8.8.8',
  ])('%s is one', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  test.each([
    // This machine
    '127.0.0.1',
    '127.255.255.254',
    '0.0.0.0',
    '0.1.2.3',
    '::1',
    '0:0:0:0:0:0:0:1',
    '::',
    // Private networks
    '10.0.0.1',
    '10.255.255.255',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.0.1',
    '100.64.0.1',
    '100.127.255.255',
    'fc00::1',
    'fd00::1',
    'fd12:3456:789a::1',
    'fdff:ffff::1',
    'fec0::1',
    // Links, and what clouds tell their machines there
    '169.254.0.1',
    '169.254.169.254',
    'fe80::1',
    'fe80::1%eth0',
    'fd00:ec2::254',
    // Everybody, several, nobody yet
    '224.0.0.1',
    '239.255.255.255',
    '240.0.0.1',
    '255.255.255.255',
    'ff02::1',
    '4000::1',
    // Examples, measurements, protocols
    '192.0.0.170',
    '192.0.2.1',
    '198.18.0.1',
    '198.19.255.255',
    '198.51.100.1',
    '203.0.113.1',
    '192.88.99.1',
    '2001:db8::1',
    '3fff::1',
    '100::1',
    // IPv4 in other clothes
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '0:0:0:0:0:ffff:7f00:0001',
    '::FFFF:10.0.0.1',
    '::ffff:169.254.169.254',
    '::ffff:0.0.0.0',
    '::ffff:0:127.0.0.1',
    '::127.0.0.1',
    '64:ff9b::127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b::',
    '64:ff9b::1',
    '64:ff9b:1::7f00:1',
    '2002:7f00:1::1',
    '2001:0:7f00:1::1',
    // No addresses
    '',
    'localhost',
    '127.1',
    '2130706433',
    '0x7f.0.0.1',
    '0177.0.0.1',
    '1.2.3.4.5',
  ])('%s is none', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});

describe('the allowlist', () => {
  const target = (hostname: string, address = hostname, port = 443) => ({ hostname, address, port });

  test.each<[string, ReturnType<typeof target>]>([
    ['10.0.0.1', target('10.0.0.1')],
    ['10.0.0.1', target('service.example', '10.0.0.1')],
    ['10.0.0.1', target('::ffff:a00:1')],
    ['10.0.0.1:443', target('10.0.0.1')],
    ['10.0.0.0/8', target('inside.example', '10.200.3.4')],
    ['127.0.0.0/8', target('127.1.2.3')],
    ['::1', target('::1')],
    ['0:0:0:0:0:0:0:1', target('::1')],
    ['[::1]', target('::1')],
    ['[::1]:443', target('::1')],
    ['fd00::/8', target('inside.example', 'fd12::3')],
    ['inside.example', target('inside.example', '10.0.0.1')],
    ['Inside.Example', target('inside.example', '10.0.0.1')],
    ['inside.example', target('inside.example.', '10.0.0.1')],
    ['inside.example:443', target('inside.example', '10.0.0.1')],
    ['bücher.example', target('xn--bcher-kva.example', '10.0.0.1')],
    [' inside.example ', target('inside.example', '10.0.0.1')],
    ['0.0.0.0/0', target('127.0.0.1')],
  ])('%s lets through %j', (entry, reached) => {
    expect(mayReach(reached, { allowLocal: false, allowlist: ['other.example', entry] })).toBe(true);
  });

  test.each<[string, ReturnType<typeof target>]>([
    ['10.0.0.1', target('10.0.0.2')],
    ['10.0.0.1:80', target('10.0.0.1')],
    ['10.0.0.0/8', target('11.0.0.1.example', '127.0.0.1')],
    ['10.0.0.0/33', target('10.0.0.1')],
    ['10.0.0.0/', target('10.0.0.1')],
    ['10.0.0.0/8/8', target('10.0.0.1')],
    ['10.0.0.0/-1', target('10.0.0.1')],
    ['::/0', target('127.0.0.1')],
    ['fd00::/129', target('fd00::1')],
    ['inside.example', target('inside.example.attacker.example', '10.0.0.1')],
    ['inside.example', target('not-inside.example', '10.0.0.1')],
    ['inside.example:80', target('inside.example', '10.0.0.1')],
    ['example', target('inside.example', '10.0.0.1')],
    ['*', target('inside.example', '10.0.0.1')],
    ['.*', target('inside.example', '10.0.0.1')],
    ['', target('', '10.0.0.1')],
    [':443', target('', '10.0.0.1')],
    ['https://inside.example', target('inside.example', '10.0.0.1')],
  ])('%s does not let through %j', (entry, reached) => {
    expect(mayReach(reached, { allowLocal: false, allowlist: [entry] })).toBe(false);
  });

  test('nothing is asked where this network is allowed, or not needed', () => {
    expect(mayReach(target('127.0.0.1'), { allowLocal: true, allowlist: [] })).toBe(true);
    expect(mayReach(target('service.example', '8.8.8.8'), { allowLocal: false, allowlist: [] })).toBe(true);
  });
});
