/** The options of a git push that open and change merge requests: `-o merge_request.create` (facts-merge-requests §2.1). Pure. */

/** The short prefix is an alias that public clients use. */
const PREFIXES: ReadonlySet<string> = new Set(['merge_request', 'mr']);

const flags = ['create', 'draft', 'remove_source_branch', 'squash', 'auto_merge'] as const;
const texts = ['target', 'target_project', 'title', 'description', 'milestone'] as const;
const lists = ['label', 'unlabel', 'assign', 'unassign'] as const;

type Flag = (typeof flags)[number];
type Text = (typeof texts)[number];
type List = (typeof lists)[number];

/** The deprecated name. */
const aliases = new Map<string, Flag>([['merge_when_pipeline_succeeds', 'auto_merge']]);

/** By id, or by username as it is written. */
export type NamedUsers = { ids: number[]; usernames: string[] };

/** Undefined is what no option says. */
export type MergeRequestOptions = {
  /** Opens a merge request where the pushed branch has none. */
  create: boolean;
  /** A branch. */
  target: string | undefined;
  /** A full path. */
  targetProject: string | undefined;
  title: string | undefined;
  description: string | undefined;
  draft: boolean | undefined;
  /** Names. */
  labels: { add: string[]; remove: string[] };
  /** A title. */
  milestone: string | undefined;
  assignees: { add: NamedUsers; remove: NamedUsers };
  removeSourceBranch: boolean | undefined;
  squash: boolean | undefined;
  autoMerge: boolean | undefined;
};

export type ParsedPushOptions = {
  /** Undefined for a push without any option for merge requests. */
  options: MergeRequestOptions | undefined;
  /** One line for each option that is not followed as it was written, for the one who pushes. */
  messages: string[];
};

const MAX_MESSAGES = 20;
/** Characters of an option in a message. */
const MAX_QUOTED_LENGTH = 100;
/** Labels, and users, that one push adds or removes. */
const MAX_NAMES = 200;

type Collected = {
  flags: Map<Flag, boolean>;
  texts: Map<Text, string>;
  lists: Map<List, Set<string>>;
  messages: string[];
};

/** Without characters that a terminal obeys, or that end the line. */
const quoted = (text: string): string =>
  `"${text.slice(0, MAX_QUOTED_LENGTH).replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '\ufffd')}"`;

const isOneOf = <T extends string>(names: readonly T[], name: string): name is T =>
  (names as readonly string[]).includes(name);

const booleans = new Map([
  ['', true],
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

/** Keeps the last of different values. */
function keep<K, V>(collected: Collected, into: Map<K, V>, key: K, value: V, name: string): void {
  const before = into.get(key);
  if (before !== undefined && before !== value)
    collected.messages.push(`${name} has different values: the last one counts.`);
  into.set(key, value);
}

function addToList(collected: Collected, key: List, value: string, name: string): void {
  const all = collected.lists.get(key) ?? new Set();
  collected.lists.set(key, all);
  if (all.size < MAX_NAMES || all.has(value)) all.add(value);
  else
    collected.messages.push(`${name} is given more than ${MAX_NAMES} times: ${quoted(value)} is left out.`);
}

function collect(collected: Collected, key: string, value: string): void {
  const { messages } = collected;
  const name = `merge_request.${key}`;
  const flag = aliases.get(key) ?? key;
  if (isOneOf(flags, flag)) {
    const answer = booleans.get(value.toLowerCase());
    if (answer === undefined) messages.push(`${name} takes true or false, not ${quoted(value)}.`);
    else keep(collected, collected.flags, flag, answer, name);
    return;
  }
  const isText = isOneOf(texts, key);
  if (!isText && !isOneOf(lists, key)) messages.push(`${quoted(name)} is not a push option.`);
  else if (value === '') messages.push(`${name} needs a value: ${name}=VALUE.`);
  else if (isText) keep(collected, collected.texts, key, value, name);
  else addToList(collected, key, value, name);
}

/** Names that are added and removed are removed, as by requests to the API. */
function withoutBoth({ lists, messages }: Collected, add: List, remove: List) {
  const removed = lists.get(remove) ?? new Set();
  const added = [...(lists.get(add) ?? [])].filter((name) => {
    if (!removed.has(name)) return true;
    messages.push(
      `merge_request.${add} and merge_request.${remove} both have ${quoted(name)}: it is removed.`,
    );
    return false;
  });
  return { add: added, remove: [...removed] };
}

function namedUsers(names: readonly string[]): NamedUsers {
  const isId = (name: string): boolean => /^\d{1,15}$/.test(name);
  return {
    ids: names.filter(isId).map(Number),
    usernames: names.filter((name) => !isId(name)).map((name) => name.replace(/^@/, '')),
  };
}

function mergeRequestOptions(collected: Collected): MergeRequestOptions {
  const { flags, texts } = collected;
  const labels = withoutBoth(collected, 'label', 'unlabel');
  const assignees = withoutBoth(collected, 'assign', 'unassign');
  return {
    create: flags.get('create') ?? false,
    target: texts.get('target'),
    targetProject: texts.get('target_project'),
    title: texts.get('title'),
    // git takes no line breaks in options.
    description: texts.get('description')?.replaceAll('\\n', '\n'),
    draft: flags.get('draft'),
    milestone: texts.get('milestone'),
    removeSourceBranch: flags.get('remove_source_branch'),
    squash: flags.get('squash'),
    autoMerge: flags.get('auto_merge'),
    labels,
    assignees: { add: namedUsers(assignees.add), remove: namedUsers(assignees.remove) },
  };
}

/** The parts of `prefix.key=value`; spaces around them do not count. */
function partsOf(option: string): { prefix: string; key: string; value: string } {
  const sign = option.indexOf('=');
  const name = sign < 0 ? option : option.slice(0, sign);
  const dot = name.indexOf('.');
  return {
    prefix: name.slice(0, Math.max(0, dot)).trim(),
    key: name.slice(dot + 1).trim(),
    value: sign < 0 ? '' : option.slice(sign + 1).trim(),
  };
}

function bounded(messages: readonly string[]): string[] {
  const left = messages.length - MAX_MESSAGES;
  return left <= 0
    ? [...messages]
    : [...messages.slice(0, MAX_MESSAGES), `There are ${left} more such options.`];
}

/** The options of a push for merge requests; those for others, such as `ci.skip`, are passed over. */
export function parsePushOptions(given: readonly string[]): ParsedPushOptions {
  const collected: Collected = { flags: new Map(), texts: new Map(), lists: new Map(), messages: [] };
  const own = given.map(partsOf).filter(({ prefix }) => PREFIXES.has(prefix));
  for (const { key, value } of own) collect(collected, key, value);
  const options = own.length > 0 ? mergeRequestOptions(collected) : undefined;
  return { options, messages: bounded(collected.messages) };
}
