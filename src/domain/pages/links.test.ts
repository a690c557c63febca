/** Every address in every record leads to something for those who may read the record, and to nothing for the rest. */
import { beforeAll, expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import { type Browser, openBrowser, signInAs } from '../../../test/support/browser.ts';
import { makeUser } from '../../../test/support/factories.ts';
import {
  addressesIn,
  follow,
  makeReadable,
  OWNER_PASSWORD,
  type Readable,
} from '../../../test/support/readable.ts';

const ashlar = useApp();
let world: Readable;
let insider: Browser;
let outsider: Browser;
let addresses: Map<string, string>;

const BROWSER = { accept: 'text/html' };

beforeAll(async () => {
  world = await makeReadable(ashlar);
  addresses = await addressesIn(ashlar, world);
  insider = openBrowser(ashlar);
  await signInAs(insider, world.owner.username, OWNER_PASSWORD);
  outsider = openBrowser(ashlar);
  await signInAs(outsider, (await makeUser(ashlar)).username, OWNER_PASSWORD);
});

/** Accounts and pictures are open to every reader who may see that there are users. */
const isOpen = (address: string): boolean =>
  address.startsWith('/uploads/-/system/user/') || /^\/[\w.-]+$/.test(address);

test('the records have addresses of every kind', () => {
  const found = [...addresses.keys()].join('\n');
  for (const kind of [
    '/-/issues/',
    '/-/merge_requests/',
    '/-/milestones/',
    '/-/epics/',
    '/edit',
    '/-/snippets/',
    '/raw/',
    '/-/tree/',
    '/-/commit/',
    '/-/compare/',
    '/-/pipelines/',
    '/groups/',
    '.git',
    '/uploads/-/system/project/',
    '#note_',
    `/${world.owner.username}`,
  ])
    expect(found).toContain(kind);
});

test('whoever may read the record finds something at each', async () => {
  const lost: unknown[] = [];
  for (const [address, from] of addresses) {
    const { status } = await follow(ashlar, insider, address);
    if (status !== 200) lost.push([address, from, status]);
  }
  expect(lost).toEqual([]);
});

/** The parts of a response that do not name the address. */
const without = (text: string, address: string): string =>
  text
    .replaceAll(encodeURIComponent(address.replace(/[?#].*/, '')), 'X')
    .replace(/csrf-token" content="[^"]*"|authenticity_token" value="[^"]*"/g, '');

test.each(['nobody', 'somebody else'])(
  '%s finds nothing, as at an address where there is nothing',
  async (who) => {
    const browser = who === 'nobody' ? openBrowser(ashlar) : outsider;
    const headers = { ...BROWSER, cookie: browser.cookieHeader() };
    const open = async (address: string) => {
      const [path = '', query] = address.replace(/#.*/, '').split('?');
      return ashlar.call(`GET ${path}`, { raw: true, headers, ...(query && { query }) });
    };
    const missing = await open('/nowhere/at-all');
    expect(missing.status).toBe(404);
    const told: unknown[] = [];
    for (const [address, from] of addresses) {
      // Files are missing in other words than pages, whether or not they are there.
      if (isOpen(address) || /^\/uploads\/|\/evidences\//.test(address)) continue;
      let response = await open(address);
      // The address of a snippet's repository leads to that of its page, whether or not there is one.
      if (response.status === 303 && address.includes('/snippets/'))
        response = await open(response.headers.get('location') ?? '');
      const same =
        without(response.text, address.replace(/\/snippets\/(\d+)\.git/, '/-/snippets/$1')) ===
        without(missing.text, '/nowhere/at-all');
      if (response.status !== 404 || !same) told.push([address, from, response.status]);
    }
    expect(told).toEqual([]);
  },
);

/** Own addresses that a page links to. */
const linksOf = (text: string, from: string): string[] =>
  [...text.matchAll(/ (?:href|src)="([^"]*)"/g)].flatMap(([, address = '']) => {
    const plain = address.replaceAll('&amp;', '&').replaceAll('&#39;', "'");
    const { origin, pathname, search } = new URL(plain, `${ashlar.url}${from}`);
    return origin === ashlar.url && !pathname.startsWith('/api/') ? `${pathname}${search}` : [];
  });

test('every link on every page leads on, as far as there are pages', async () => {
  const seen = new Map<string, string>();
  const waiting: [address: string, from: string][] = [...addresses.keys()].map((address) => [
    address,
    'a record',
  ]);
  const lost: unknown[] = [];
  for (let next = waiting.shift(); next && seen.size < 500; next = waiting.shift()) {
    const [whole, from] = next;
    const address = whole.replace(/#.*/, '');
    if (seen.has(address)) continue;
    seen.set(address, from);
    const { status, text, headers } = await follow(ashlar, insider, address);
    if (status !== 200) lost.push([address, from, status]);
    else if (headers.get('content-type')?.startsWith('text/html'))
      for (const link of linksOf(text, address)) if (!seen.has(link)) waiting.push([link, address]);
  }
  expect(lost).toEqual([]);
  expect(seen.size).toBeGreaterThan(80);
  for (const kind of [
    '/-/branches',
    '/-/tags',
    '/-/labels',
    '/-/commits/',
    '/-/wikis/tools/hammer',
    '/-/raw/main/docs/stone.png',
    '/-/blob/main/odd%20name%20%231%3F.txt',
    '?label_name=heavy%20%26%20hard',
    '?plain=1',
  ])
    expect([...seen.keys()].join('\n')).toContain(kind);
});
