/** Debian's Chromium for journeys: contexts that note every complaint of the browser, and the rules for each page. */
import { createHmac } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, vi } from 'vitest';
import { cleanUp, type Program, startProgram } from './support.ts';

const CHROMIUM = '/usr/bin/chromium';
export const PASSWORD = 'correct horse battery staple';

/** Starts Chromium without a window; throws when it is not installed. */
async function launchChromium(): Promise<Browser> {
  if (!existsSync(CHROMIUM)) throw new Error(`no ${CHROMIUM}: install the Debian package chromium`);
  return chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'], headless: true });
}

/** A user's browser: cookies that no other context has, and all complaints of Chromium in it. */
export type Visitor = { context: BrowserContext; page: Page; complaints: string[] };

/** Opens a context with one page. A status of 4xx of a page itself is no complaint; journeys check its text. */
async function openVisitor(browser: Browser, options: BrowserContextOptions): Promise<Visitor> {
  const context = await browser.newContext(options);
  const complaints: string[] = [];
  await context.addInitScript(`addEventListener('securitypolicyviolation', (event) =>
    console.error('policy violated: ' + event.violatedDirective + ' by ' + event.blockedURI));`);
  context.on('console', (message) => {
    const status = message.text().startsWith('Failed to load resource: the server responded');
    if (['error', 'warning'].includes(message.type()) && !status) complaints.push(message.text());
  });
  context.on('weberror', (error) => complaints.push(String(error.error())));
  context.on('requestfailed', (request) => {
    if (!request.isNavigationRequest()) complaints.push(`not loaded: ${request.url()}`);
  });
  context.on('response', (response) => {
    const own = !response.request().isNavigationRequest();
    if (response.status() >= (own ? 400 : 500)) complaints.push(`${response.status()} ${response.url()}`);
  });
  return { context, page: await context.newPage(), complaints };
}

export type BrowserJourney = {
  readonly program: Program;
  /** A browser for the test that runs, which must end without a complaint. */
  visit(options?: { javaScriptEnabled?: boolean }): Promise<Visitor>;
  /** A confirmed user, with PASSWORD. */
  makeUser(username: string): Promise<{ id: number; username: string; email: string }>;
};

/** Starts the program, with these settings, and Chromium for the tests of a file. */
export function useBrowser(env: Record<string, string> = {}): BrowserJourney {
  let started: { program: Program; browser: Browser } | undefined;
  const running = () => {
    if (started) return started;
    throw new Error('not started');
  };
  beforeAll(async () => {
    const [program, browser] = await Promise.all([startProgram({ env }), launchChromium()]);
    started = { program, browser };
    // All forms are sent from one address.
    const settings = { throttle_protected_paths_enabled: false };
    expect((await program.root('PUT /application/settings', settings)).status).toBe(200);
  });
  afterAll(async () => {
    await started?.browser.close();
    await cleanUp();
  });
  return {
    get program() {
      return running().program;
    },
    async visit(options = {}) {
      const { program, browser } = running();
      const visitor = await openVisitor(browser, { baseURL: program.url, ...options });
      onTestFinished(async () => {
        await visitor.context.close();
        expect(visitor.complaints).toEqual([]);
      });
      return visitor;
    },
    async makeUser(username) {
      const email = `${username}@example.com`;
      const user = { username, name: `The ${username}`, email, password: PASSWORD, skip_confirmation: true };
      const made = await running().program.root('POST /users', user);
      expect(made.status).toBe(201);
      const { id } = (await made.json()) as { id: number };
      return { id, username, email };
    },
  };
}

/** The faults of the shown page, as the browser lays it out. */
const FAULTS = `(() => {
  const faults = [];
  const excess = document.documentElement.scrollWidth - innerWidth;
  if (excess > 0) faults.push('wider than the window by ' + excess);
  const cut = [...document.querySelectorAll('main *')].filter((element) =>
    getComputedStyle(element).overflowX !== 'visible' && element.scrollWidth > element.clientWidth + 1);
  // Code and tables scroll sideways.
  for (const element of cut)
    if (!element.matches('input, textarea, .code, .listing, .prose pre, .prose table')) faults.push('cut off: ' + element.outerHTML.slice(0, 200));
  if (document.querySelectorAll('h1').length !== 1) faults.push('not one h1');
  if (document.querySelectorAll('main').length !== 1) faults.push('not one main');
  if (!document.title.endsWith(' · Ashlar')) faults.push('title: ' + document.title);
  if (document.documentElement.lang !== 'en') faults.push('no language');
  if (document.scripts.length > 0) faults.push('a script');
  let level = 0;
  for (const heading of document.querySelectorAll(':is(h1, h2, h3, h4):not(.prose *)')) {
    if (Number(heading.localName[1]) > level + 1) faults.push('heading level skipped: ' + heading.textContent);
    level = Number(heading.localName[1]);
  }
  for (const control of document.querySelectorAll(':is(input, textarea, select):not(.prose *)')) {
    if (!control.checkVisibility()) continue;
    const label = control.labels[0];
    if (!label?.textContent.trim()) faults.push('no label: ' + control.name);
    const hint = control.getAttribute('aria-describedby');
    if (hint !== null && hint.split(' ').some((id) => !document.getElementById(id))) faults.push('no hint: ' + control.name);
  }
  for (const control of document.querySelectorAll('a, button, summary'))
    if (!(control.ariaLabel ?? control.textContent).trim()) faults.push('no name: ' + control.outerHTML);
  const ids = [...document.querySelectorAll('[id]')].map(({ id }) => id);
  for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) faults.push('twice: #' + id);
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const light = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = [...canvas.getImageData(0, 0, 1, 1).data].map((part) => part / 255);
    const linear = (part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return alpha === 0 ? undefined : 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
  };
  const behind = (element) =>
    element === null ? 1 : (light(getComputedStyle(element).backgroundColor) ?? behind(element.parentElement));
  for (const element of document.querySelectorAll('body *')) {
    const speaks = element.matches('input, textarea') ||
      [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '');
    if (!speaks || !element.checkVisibility()) continue;
    const pair = [light(getComputedStyle(element).color) ?? 1, behind(element)].sort((a, b) => b - a);
    const contrast = (pair[0] + 0.05) / (pair[1] + 0.05);
    if (contrast < 4.5) faults.push('contrast ' + contrast.toFixed(2) + ': ' + element.outerHTML.slice(0, 200));
  }
  return faults;
})()`;

const windows = { phone: { width: 390, height: 844 }, desktop: { width: 1280, height: 900 } };
const schemes = ['dark', 'light'] as const;

/** The folder for pictures of the pages; none by default. */
const pictures = process.env.JOURNEY_PICTURES;
let pagesSeen = 0;

/**
 * Asserts that the page is laid out well on a phone and on a desk, light and dark: nothing is wider than the
 * window, every field has a label, text stands out from its background. Waits for the heading first.
 */
export async function expectGoodPage(page: Page, heading: string): Promise<void> {
  await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
  pagesSeen++;
  for (const [name, viewport] of Object.entries(windows)) {
    await page.setViewportSize(viewport);
    for (const colorScheme of schemes) {
      await page.emulateMedia({ colorScheme });
      const faults = await page.evaluate<string[]>(FAULTS);
      expect(faults, `${heading}, ${name}, ${colorScheme}: ${page.url()}`).toEqual([]);
      if (pictures === undefined) continue;
      const file = `${pagesSeen} ${heading.replaceAll(/\W+/g, '-').slice(0, 40)} ${name} ${colorScheme}.png`;
      await page.screenshot({ path: join(pictures, file), fullPage: true });
    }
  }
}

/** Signs in on the sign-in page, from wherever the page is. */
export async function fillSignIn(page: Page, login: string, password: string): Promise<void> {
  await page.getByLabel('Username or email').fill(login);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** Opens the sign-in page, and ends on the home page. */
export async function signIn(page: Page, login: string, password: string): Promise<void> {
  await page.goto('/users/sign_in');
  await fillSignIn(page, login, password);
  await page.getByText('Signed in as').waitFor();
}

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** The code that an authenticator app shows for a key, now or `steps` of 30 seconds on (RFC 6238). */
export function totp(key: string, steps = 0): string {
  const letters = [...key.replaceAll(/\s/g, '')];
  const bits = letters.map((letter) => BASE32.indexOf(letter).toString(2).padStart(5, '0')).join('');
  const bytes = (bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000) + steps));
  const mac = createHmac('sha1', Buffer.from(bytes)).update(counter).digest();
  const offset = mac.readUInt8(19) & 15;
  return String((mac.readUInt32BE(offset) & 0x7fff_ffff) % 1_000_000).padStart(6, '0');
}

/** Waits for the mail to an address in the program's data folder, and returns its link. */
export function mailedLink(data: string, address: string): Promise<string> {
  const folder = join(data, 'mail');
  return vi.waitFor(
    () => {
      const mails = readdirSync(folder).filter((name) => name.endsWith('.eml'));
      const mail = mails
        .map((name) => readFileSync(join(folder, name), 'utf8'))
        .find((text) => text.includes(`To: ${address}\r\n`));
      // Long lines are folded, and their equals signs written as =3D (RFC 2045).
      const text = mail?.replaceAll(/=\r?\n/g, '').replaceAll('=3D', '=') ?? '';
      const link = /https?:\/\/\S+_token=[\w-]+/.exec(text)?.[0];
      if (link === undefined) throw new Error(`no mail with a link to ${address}: ${mails.join()}`);
      return link;
    },
    { timeout: 30_000, interval: 100 },
  );
}
