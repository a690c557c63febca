/** A browser for tests: a cookie jar, forms with their hidden fields, and redirects that are not followed. */
import type { ApplicationSettings } from '../../src/kernel/settings/definitions.ts';
import type { TestApp } from './app.ts';

export type PageResponse = {
  status: number;
  headers: Headers;
  text: string;
  location: string | null;
  /** The text of the page's alert, without tags; empty without one. */
  alert: string;
};

export type Browser = {
  readonly cookies: Map<string, string>;
  get(path: string): Promise<PageResponse>;
  /** Sends the fields as a form, without those of any page. */
  post(path: string, fields: Record<string, string>, headers?: Record<string, string>): Promise<PageResponse>;
  /** Opens the page, fills in its form that posts to `action` (by default the path itself), and sends it. */
  submit(path: string, fields: Record<string, string>, action?: string): Promise<PageResponse>;
  /** The Cookie header that the browser sends now. */
  cookieHeader(): string;
};

const decodeEntities = (text: string): string =>
  text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');

/** The hidden fields of the form that posts to the action. */
export function hiddenFields(page: string, action: string): Record<string, string> {
  const form = page.split('<form ').find((part) => part.includes(`action="${action}"`)) ?? '';
  const inputs = [
    ...(form.split('</form>')[0]?.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g) ?? []),
  ];
  return Object.fromEntries(inputs.map(([, name = '', value = '']) => [name, decodeEntities(value)]));
}

export function openBrowser(app: TestApp): Browser {
  const cookies = new Map<string, string>();
  const cookieHeader = () => [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');

  async function send(
    method: string,
    path: string,
    form?: string,
    extra: Record<string, string> = {},
  ): Promise<PageResponse> {
    const headers = { ...(cookies.size > 0 && { cookie: cookieHeader() }), ...extra };
    const {
      status,
      headers: answered,
      text,
    } = await app.call(`${method} ${path.split('?')[0]}`, {
      raw: true,
      headers,
      ...(path.includes('?') && { query: path.slice(path.indexOf('?') + 1) }),
      ...(form !== undefined && { form }),
    });
    for (const cookie of answered.getSetCookie()) {
      const [pair = ''] = cookie.split(';');
      const name = pair.slice(0, pair.indexOf('='));
      if (/max-age=0/i.test(cookie)) cookies.delete(name);
      else cookies.set(name, pair.slice(name.length + 1));
    }
    const alert = /role="alert">(.*?)<\/div>/s.exec(text)?.[1] ?? '';
    return {
      status,
      headers: answered,
      text,
      location: answered.get('location'),
      alert: decodeEntities(alert.replaceAll(/<\/li><li>/g, ' ').replaceAll(/<[^>]*>/g, '')),
    };
  }

  const post: Browser['post'] = (path, fields, headers) =>
    send('POST', path, new URLSearchParams(fields).toString(), headers);
  const get: Browser['get'] = (path) => send('GET', path);
  return {
    cookies,
    cookieHeader,
    get,
    post,
    submit: async (path, fields, action = path) => {
      const page = await get(path);
      return post(action, { ...hiddenFields(page.text, action), ...fields });
    },
  };
}

/** Signs in through the form; the page's response. */
export const signInAs = (browser: Browser, login: string, password: string): Promise<PageResponse> =>
  browser.submit('/users/sign_in', { login, password });

/**
 * Runs with other application settings, the throttle of forms off unless requested, and restores the old
 * ones.
 */
export async function withSettings<T>(
  app: TestApp,
  changes: Partial<ApplicationSettings>,
  work: () => Promise<T>,
): Promise<T> {
  const { settings, database } = app.app.services;
  const before = { ...(await settings.read()) };
  const write = async (values: Partial<ApplicationSettings>) => {
    await settings.write(database.db, values);
    settings.forget();
  };
  await write({ throttle_protected_paths_enabled: false, ...changes });
  try {
    return await work();
  } finally {
    await write(before);
  }
}
