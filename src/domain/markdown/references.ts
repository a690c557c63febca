/**
 * References in texts: `#1`, `group/project#1`, `!2`, `&3`, `$4`, `~label`, `%milestone`, `@user`, a commit, and those to other
 * trackers: `STONE-1`. Pure.
 */

export type ReferenceKind =
  | 'issue'
  | 'merge_request'
  | 'epic'
  | 'snippet'
  | 'milestone'
  | 'label'
  | 'commit'
  | 'user'
  | 'external_issue';

export type Reference = {
  kind: ReferenceKind;
  /** The full path of its project or group; undefined for that of the text. */
  path: string | undefined;
  /** Its number, name, title or id. */
  name: string;
  /** The text as written, which stays where it does not resolve. */
  text: string;
  /** Whether it was a whole address of this instance. */
  address?: boolean;
};

export type Found = { start: number; end: number; reference: Reference } | Emoji;
type Emoji = { start: number; end: number; emoji: string };

const PATH = String.raw`[A-Za-z0-9_][\w.\-]{0,254}(?:\/[\w.\-]{1,255}){0,20}`;
const QUOTED = String.raw`"[^"\n]{1,255}"`;

// Every repetition is bounded or ends where the next part begins: linear time.
const pattern = new RegExp(
  [
    String.raw`(?<![\w/.@#&~%$\-])(?:`,
    `(?<path>${PATH})?(?:`,
    String.raw`#(?<issue>\d{1,10})(?!\w)`,
    String.raw`|(?<!!)!(?<mergeRequest>\d{1,10})(?!\w)`,
    String.raw`|&(?<epic>\d{1,10})(?!\w)`,
    String.raw`|\$(?<snippet>\d{1,10})(?!\w)`,
    String.raw`|%(?<milestone>${QUOTED}|\w[\w.\-]{0,253}\w|\w)`,
    String.raw`|~(?<label>${QUOTED}|[\w?.&:\-]{0,254}[\w?&])`,
    String.raw`|@(?<sha>[0-9a-f]{7,40})(?!\w)`,
    ')',
    `|@(?<user>${PATH})`,
    String.raw`|(?<bare>[0-9a-f]{7,40})(?![\w/@\-]|\.\w)`,
    String.raw`|(?<external>[A-Z][A-Z0-9_]{0,31}-\d{1,10}|T\d{1,10}|CU-[0-9a-z]{1,20}|(?:[Bb]ug|[Tt]ask|[Ww]ork ?item|[Rr]tcwi|RTCWI|[Dd]efect) \d{1,10})(?![\w/@\-]|\.\w)`,
    String.raw`|:(?<emoji>[a-z0-9_+\-]{1,64}):`,
    ')',
  ].join(''),
  'g',
);

const unquoted = (name: string): string => (name.startsWith('"') ? name.slice(1, -1) : name);

/** The references and emoji of a plain text, in order; whether they exist is not checked. */
export function* scanReferences(text: string): Generator<Found> {
  for (const match of text.matchAll(pattern)) {
    const { path, issue, mergeRequest, epic, snippet, milestone, label, sha, user, bare, external, emoji } =
      match.groups ?? {};
    const start = match.index;
    if (emoji !== undefined) {
      yield { start, end: start + match[0].length, emoji };
      continue;
    }
    // A full stop or a dash after a username belongs to the sentence.
    const whole = user === undefined ? match[0] : match[0].replace(/[.-]+$/, '');
    const found = (kind: ReferenceKind, name: string): Found => ({
      start,
      end: start + whole.length,
      reference: { kind, path, name: unquoted(name), text: whole },
    });
    if (issue !== undefined) yield found('issue', issue);
    else if (mergeRequest !== undefined) yield found('merge_request', mergeRequest);
    else if (epic !== undefined) yield found('epic', epic);
    else if (snippet !== undefined) yield found('snippet', snippet);
    else if (milestone !== undefined) yield found('milestone', milestone);
    else if (label !== undefined) yield found('label', label);
    else if (sha !== undefined) yield found('commit', sha);
    else if (user !== undefined) yield found('user', whole.slice(1));
    else if (bare !== undefined) yield found('commit', bare);
    else if (external !== undefined) yield found('external_issue', external);
  }
}

const projectAddress =
  /^\/(?!groups\/)([^?#]{1,2000}?)\/-\/(?:(issues|work_items|merge_requests|snippets)\/(\d{1,10})|commit\/([0-9a-f]{7,40}))$/;
const groupAddress = /^\/groups\/([^?#]{1,2000}?)\/-\/epics\/(\d{1,10})$/;
const kindsOfFolders = new Map<string, ReferenceKind>([
  ['issues', 'issue'],
  ['work_items', 'issue'],
  ['merge_requests', 'merge_request'],
  ['snippets', 'snippet'],
]);

/** The reference of a whole address of this instance; undefined for any other address. */
export function referenceAt(baseUrl: string, address: string): Reference | undefined {
  if (!address.startsWith(`${baseUrl}/`)) return undefined;
  const below = address.slice(baseUrl.length);
  const common = { text: address, address: true };
  const [, group, epic] = groupAddress.exec(below) ?? [];
  if (group !== undefined && epic !== undefined) return { ...common, kind: 'epic', path: group, name: epic };
  const [, path, folder, number, sha] = projectAddress.exec(below) ?? [];
  if (sha !== undefined) return { ...common, kind: 'commit', path, name: sha };
  const kind = kindsOfFolders.get(folder ?? '');
  return kind && number !== undefined ? { ...common, kind, path, name: number } : undefined;
}
