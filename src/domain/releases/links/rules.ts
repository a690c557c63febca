/** Links of releases: what they may be, and the addresses that lead to them (facts-ci: 7.3). Pure. */
import { invalid, type ValidationMessages } from '../../../platform/failure.ts';

export const linkTypes = ['other', 'runbook', 'image', 'package'] as const;

/** A link in a request. */
export type NewLink = {
  name: string;
  url: string;
  direct_asset_path?: string | null;
  filepath?: string | null;
  link_type?: (typeof linkTypes)[number];
};

/** Of one release: its record has all of them. */
export const MAX_LINKS = 500;

/** For the schema. */
export const linkUrlPattern = '^(?:[Hh][Tt][Tt][Pp][Ss]?|[Ff][Tt][Pp])://\\S+$';
export const linkPathPattern = '^/(?:[\\w.-]+/)*[\\w.-]*[0-9A-Za-z]$';
const linkPath = new RegExp(linkPathPattern);
const schemes = ['http:', 'https:', 'ftp:'];

const isLinkAddress = (text: string): boolean => {
  // The parser leaves out line ends, and a browser's address has no spaces.
  const url = /[\s\p{Cc}]/u.test(text) ? null : URL.parse(text);
  return url !== null && schemes.includes(url.protocol) && url.hostname !== '';
};

export type LinkFields = {
  name: string;
  url: string;
  filepath: string | null;
  link_type: (typeof linkTypes)[number];
};

/** What is wrong with a link by itself; its record would run or open addresses of other schemes. */
function problemsOf({ name, url, filepath }: LinkFields): ValidationMessages {
  return {
    ...(name.trim() === '' && { name: ["can't be blank"] }),
    ...(!isLinkAddress(url) && { url: ['is blocked: Only allowed schemes are http, https, ftp'] }),
    ...(filepath !== null && !linkPath.test(filepath) && { filepath: ['is in an invalid format'] }),
  };
}

/** The link after the changes, which come before what was there; 400 for one that cannot be. */
export function linkOf(changes: Partial<NewLink>, before?: LinkFields): LinkFields {
  const { direct_asset_path, filepath = direct_asset_path } = changes;
  const path = direct_asset_path === undefined ? filepath : direct_asset_path;
  const link: LinkFields = {
    name: changes.name ?? before?.name ?? '',
    url: changes.url ?? before?.url ?? '',
    filepath: path === undefined ? (before?.filepath ?? null) : path || null,
    link_type: changes.link_type ?? before?.link_type ?? 'other',
  };
  const problems = problemsOf(link);
  if (Object.keys(problems).length > 0) throw invalid(problems);
  return link;
}

/** The links of a new release; 400 for two that have the same name, address or path. */
export function linksOf(inputs: readonly NewLink[]): LinkFields[] {
  const links = inputs.map((input) => linkOf(input));
  for (const property of ['name', 'url', 'filepath'] as const) {
    const values = links.map((link) => link[property]).filter((value) => value !== null);
    if (new Set(values).size < values.length)
      throw invalid({ [`links.${property}`]: ['has already been taken'] });
  }
  return links;
}

/** 400 where the release has as many as it may have. */
export function requirePlace(count: number): void {
  if (count >= MAX_LINKS) throw invalid({ base: [`Maximum number of links (${MAX_LINKS}) exceeded`] });
}

/** Where the link is reached: at its own address, unless it has a path below the release's. */
export const directAssetUrl = (
  releaseUrl: string,
  { url, filepath }: Pick<LinkFields, 'url' | 'filepath'>,
): string => (filepath === null ? url : `${releaseUrl}/downloads${filepath}`);

/** The address for a redirect, in ASCII alone. */
export const redirectAddress = (url: string): string => new URL(url).href;
