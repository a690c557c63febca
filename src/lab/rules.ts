/** What the lab decides: which files are never written again, who may call its own routes, and what they are called with. */

const objectFile =
  /(^|\/)objects\/([0-9a-f]{2}\/[0-9a-f]{38,62}|pack\/pack-[0-9a-f]{40,64}\.(pack|idx|rev|bitmap|mtimes))$/;
const blobFile = /^blobs\/[0-9a-f]{2}\/[0-9a-f]{64}$/;

/**
 * Whether a file of a data folder is never written again, so that a copy may be a second name of it. git moves refs and
 * HEAD into place too, but appends to others beside them.
 */
export const isImmutable = (path: string): boolean => objectFile.test(path) || blobFile.test(path);

/** Names that no public DNS has: an address, one word, or a domain that is for use inside. */
const insideName =
  /^(\d{1,3}(\.\d{1,3}){3}|\[[0-9a-f:.]+\]|[a-z0-9]([a-z0-9_-]*[a-z0-9])?|[a-z0-9._-]+\.(localhost|local|internal|test))(:\d{1,5})?$/i;

/** Whether a request's host is such a name. */
export const isInside = (host: string | undefined): boolean => host !== undefined && insideName.test(host);

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/**
 * Why a request may not call the lab's own routes; undefined where it may. A page in a browser must not: it would come with an
 * origin, or by a name that was made to lead here.
 */
export function refusalOf(headers: Headers): string | undefined {
  const { host, origin } = headers;
  if (typeof host !== 'string' || !isInside(host))
    return 'the lab is called by an address or a local name, such as 127.0.0.1 or localhost';
  const site = headers['sec-fetch-site'];
  if (origin !== undefined || (site !== undefined && site !== 'none'))
    return 'the lab is not called by pages in a browser';
  return undefined;
}

/** Of instances and snapshots. */
export const isName = (text: string): boolean => /^[a-z0-9][\w.-]{0,63}$/i.test(text);
