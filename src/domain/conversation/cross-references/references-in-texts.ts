/**
 * The issues that texts name, and whatever else may have notes: `#1`, `group/project!2`, and whole addresses, outside code.
 * Pure, and in time linear in the text.
 */
import { type Reference, referenceAt, scanReferences } from '../../markdown/index.ts';
import { outsideCode } from '../mentions/code-spans.ts';
import { mayNameNoteables, type NamedNoteable } from '../noteables/named-noteables.ts';

/** An issue; whether it exists is not checked. */
export type IssueReference = {
  /** As written: a full path, or without a slash the name of a project beside; undefined for the text's own project. */
  path: string | undefined;
  iid: number;
};

/** In one text: the rest of it is not read. */
const MAX_REFERENCES = 500;
/** Of the column. */
const MAX_IID = 2_147_483_647;

/** An address ends before the full stop or colon of its sentence. */
const address = /https?:\/\/[^\s<>"'`()[\],]{1,2500}(?<![.:;!?])/g;
/** Without these there is nothing to find: most texts are no longer looked at. */
const hint = /#\d|\/\d/;

/** Addresses, and others: a text of a megabyte that names one thing over and over would hold everybody up. */
const MAX_READ = 10_000;

function* referencesIn(baseUrl: string, markdown: string): Generator<Reference> {
  const text = outsideCode(markdown);
  for (const [written] of text.matchAll(address).take(MAX_READ)) {
    const reference = referenceAt(baseUrl, written.split(/[?#]/, 1)[0] ?? '');
    if (reference) yield reference;
  }
  for (const found of scanReferences(text.replaceAll(address, ' ')).take(MAX_READ))
    if ('reference' in found) yield found.reference;
}

/** The first 500 of the text, addresses before others, each once. `baseUrl` has no slash at its end. */
export function issueReferences(baseUrl: string, markdown: string): IssueReference[] {
  if (!hint.test(markdown)) return [];
  const found = new Map<string, IssueReference>();
  for (const { kind, path, name } of referencesIn(baseUrl, markdown)) {
    const iid = Number(name);
    if (kind !== 'issue' || iid === 0 || iid > MAX_IID) continue;
    found.set(`${path?.toLowerCase() ?? ''}#${iid}`, { path, iid });
    if (found.size === MAX_REFERENCES) break;
  }
  return [...found.values()];
}

/** Noteables of one text that are told that it mentions them. */
const MAX_MENTIONED = 100;
const noteableKinds: ReadonlySet<string> = new Set(['issue', 'epic', 'merge_request', 'commit']);

const isNoteable = (reference: Reference): reference is Reference & { kind: NamedNoteable['kind'] } =>
  noteableKinds.has(reference.kind);

/** The first 100 noteables of the text, addresses before others, each once. */
export function namedNoteables(baseUrl: string, markdown: string): NamedNoteable[] {
  if (!mayNameNoteables(markdown)) return [];
  const found = new Map<string, NamedNoteable>();
  for (const reference of referencesIn(baseUrl, markdown)) {
    if (!isNoteable(reference)) continue;
    const { kind, path, name } = reference;
    if (kind !== 'commit' && (Number(name) === 0 || Number(name) > MAX_IID)) continue;
    found.set(`${kind} ${path?.toLowerCase() ?? ''} ${name}`, { kind, path, name });
    if (found.size === MAX_MENTIONED) break;
  }
  return [...found.values()];
}
