/** Finds relative references and uploads in a text, and rewrites them for another project or group. Pure. */

import { outsideCode } from '../../../conversation/index.ts';
import { scanReferences } from '../../../markdown/index.ts';

const kinds = ['issue', 'merge_request', 'epic', 'snippet', 'milestone', 'label'] as const;

/** `#1`, `&2`, `$3`, `%v1`, `~bug` or `!4`, without a path before it. */
export type RelativeReference = {
  kind: (typeof kinds)[number];
  /** The number, title or name. */
  name: string;
  start: number;
};

/** Addresses, link targets and HTML, which may look like references. */
const notText = /https?:\/\/[^\s<>"]+|\]\([^\s()]*|<[a-z/][^<>]*>/gi;

const isMoved = (kind: string): kind is (typeof kinds)[number] => (kinds as readonly string[]).includes(kind);

/** More references in one text stay as they are: each path makes it longer. */
const MAX_REFERENCES = 500;

/** The relative references of the text, outside code, addresses and HTML, in their order; the first 500 of them. */
export function relativeReferences(markdown: string): RelativeReference[] {
  if (!/[#&$%~!]/.test(markdown)) return [];
  const text = outsideCode(markdown).replaceAll(notText, (part) => ' '.repeat(part.length));
  const found: RelativeReference[] = [];
  for (const each of scanReferences(text)) {
    if (found.length === MAX_REFERENCES) break;
    if ('emoji' in each) continue;
    const { kind, path, name } = each.reference;
    if (path === undefined && isMoved(kind)) found.push({ kind, name, start: each.start });
  }
  return found;
}

/** The text with paths before the references. */
export function withPaths(
  markdown: string,
  references: readonly RelativeReference[],
  pathOf: (reference: RelativeReference) => string | undefined,
): string {
  const parts: string[] = [];
  let from = 0;
  for (const reference of references) {
    const path = pathOf(reference);
    if (path === undefined) continue;
    parts.push(markdown.slice(from, reference.start), path);
    from = reference.start;
  }
  return [...parts, markdown.slice(from)].join('');
}

/** The secret of an uploaded file, and the position of its address. */
export type UploadAddress = { secret: string; projectId: number | undefined; start: number; end: number };

const upload = /(?<![\w./-])(?:\/-\/project\/(\d{1,15}))?\/uploads\/([0-9a-f]{32})(?=\/)/g;

/** The addresses of uploaded files in the text, outside code. */
export function uploadAddresses(markdown: string): UploadAddress[] {
  if (!markdown.includes('/uploads/')) return [];
  return [...outsideCode(markdown).matchAll(upload)].map(({ 0: text, 1: id, 2: secret = '', index }) => ({
    secret,
    projectId: id === undefined ? undefined : Number(id),
    start: index,
    end: index + text.length,
  }));
}

/** The text with these addresses replaced. */
export function withAddresses(
  markdown: string,
  addresses: readonly UploadAddress[],
  addressOf: (address: UploadAddress) => string,
): string {
  const parts: string[] = [];
  let from = 0;
  for (const address of addresses) {
    parts.push(markdown.slice(from, address.start), addressOf(address));
    from = address.end;
  }
  return [...parts, markdown.slice(from)].join('');
}
