/** A user without a browser: keeps cookies, fills in forms with their hidden fields, and follows no redirect. */
import { hiddenFields } from '../support/browser.ts';

export type Visited = {
  status: number;
  /** The next address of the response: of a redirect, or of a page that announces one. */
  location: string | null;
  text: string;
};

export type Decision = 'approve' | 'deny';

export type Person = {
  get(path: string): Promise<Visited>;
  /** Opens the page, fills in its form that posts to `action` (by default the page's path), and sends it. */
  submit(path: string, fields: Record<string, string>, action?: string): Promise<Visited>;
  /** Signs in; throws when that is refused. */
  signIn(login: string, password: string): Promise<void>;
  /**
   * Opens the client's authorization address, and decides when asked; the address of the redirect to the
   * client.
   */
  decide(authorization: URL, decision: Decision): Promise<URL>;
  /** Types the code that a device shows, and decides. */
  decideDevice(userCode: string, decision: Decision): Promise<void>;
};

/** A user at the site of this address; `siteAt` follows the program through restarts. */
export function meetPerson(siteAt: () => string): Person {
  const cookies = new Map<string, string>();

  async function send(path: string, form?: Record<string, string>): Promise<Visited> {
    const site = siteAt();
    const url = new URL(path, site);
    if (url.origin !== site) throw new Error(`not led to ${site}: ${url.origin}`);
    const response = await fetch(url, {
      redirect: 'manual',
      headers: {
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        ...(form && { origin: site, referer: url.href }),
      },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    });
    const text = await response.text();
    for (const cookie of response.headers.getSetCookie()) {
      const [pair = ''] = cookie.split(';');
      const name = pair.slice(0, pair.indexOf('='));
      if (/max-age=0/i.test(cookie)) cookies.delete(name);
      else cookies.set(name, pair.slice(name.length + 1));
    }
    const refreshed = /^0; url=(.*)$/.exec(response.headers.get('refresh') ?? '')?.[1];
    const location = response.headers.get('location') ?? refreshed ?? null;
    return { status: response.status, location, text };
  }

  /** The redirect of the page; throws with its text when there is none. */
  function ledTo({ status, location, text }: Visited): URL {
    if (location === null) throw new Error(`no redirect: ${status} ${text}`);
    return new URL(location, siteAt());
  }

  const person: Person = {
    get: (path) => send(path),
    async submit(path, fields, action = path) {
      const page = await send(path);
      return send(action, { ...hiddenFields(page.text, action), ...fields });
    },
    async signIn(login, password) {
      ledTo(await person.submit('/users/sign_in', { login, password }));
    },
    async decide(authorization, decision) {
      const page = await send(authorization.href);
      if (page.status !== 200) return ledTo(page);
      const form = { ...hiddenFields(page.text, '/oauth/authorize'), decision };
      return ledTo(await send('/oauth/authorize', form));
    },
    async decideDevice(userCode, decision) {
      const requested = await person.submit('/oauth/device', { user_code: userCode });
      const form = { ...hiddenFields(requested.text, '/oauth/device/decision'), decision };
      const { status, text } = await send('/oauth/device/decision', form);
      const ending = decision === 'approve' ? 'Device connected' : 'Request denied';
      if (status !== 200 || !text.includes(ending)) throw new Error(`not decided: ${status} ${text}`);
    },
  };
  return person;
}
