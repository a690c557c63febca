/** What chat services say of an event: one message, of which each service makes its own. Pure. */
import { NO_OBJECT, shortRef } from '../../../platform/git/names.ts';

export type ChatMessage = {
  /** One line, plain text. */
  title: string;
  /** What was written, as it was written; empty where there is nothing to be read. */
  text: string;
  link: string;
  /** `#rrggbb` */
  color: string;
};

/** As far as messages read payloads of hooks. */
export type ChatPayload = {
  object_kind: string;
  user?: { name: string; username: string };
  user_name?: string | null;
  user_username?: string | null;
  project?: { path_with_namespace: string; web_url: string; default_branch: string | null };
  group?: { full_path: string };
  object_attributes?: {
    action?: string;
    iid?: number;
    title?: string;
    description?: string | null;
    note?: string;
    message?: string;
    url?: string;
    id?: number;
    ref?: string;
    tag?: boolean;
    status?: string;
    protected_ref?: boolean;
  };
  builds?: readonly { stage: string; name: string; status: string; allow_failure: boolean }[];
  labels?: readonly { title: string }[];
  issue?: Titled;
  merge_request?: Titled;
  snippet?: Titled;
  commit?: Titled;
  ref?: string;
  ref_protected?: boolean;
  before?: string;
  after?: string;
  commits?: readonly {
    id: string;
    title: string;
    url: string;
    author: { name: string };
    added?: readonly string[];
    modified?: readonly string[];
    removed?: readonly string[];
  }[];
  total_commits_count?: number;
};
type Titled = { id: number | string; iid?: number; title?: string; labels?: readonly { title: string }[] };

const colors = { good: '#108548', bad: '#c91c00', plain: '#1f75cb' } as const;

/** Actions with their words; of others, such as changes of labels, nothing is said. */
const words: Readonly<Record<string, Readonly<Record<string, readonly [string, keyof typeof colors]>>>> = {
  issue: { open: ['opened', 'plain'], close: ['closed', 'good'], reopen: ['reopened', 'plain'] },
  merge_request: {
    open: ['opened', 'plain'],
    close: ['closed', 'bad'],
    reopen: ['reopened', 'plain'],
    merge: ['merged', 'good'],
    approved: ['approved', 'good'],
    unapproved: ['unapproved', 'bad'],
  },
  wiki_page: { create: ['created', 'good'], update: ['edited', 'plain'], delete: ['deleted', 'bad'] },
};

const whoOf = ({ user, user_name, user_username }: ChatPayload): string => {
  const name = user?.name ?? user_name;
  const username = user?.username ?? user_username;
  return name && username ? `${name} (${username})` : 'Somebody';
};
const placeOf = ({ project, group }: ChatPayload): string =>
  project?.path_with_namespace ?? group?.full_path ?? '';

/** A work item that is no issue is told as one. */
const kindOf = (kind: string): string => (kind === 'work_item' ? 'issue' : kind);
const marks: Readonly<Record<string, string>> = { issue: '#', merge_request: '!', snippet: '$' };
const nouns: Readonly<Record<string, string>> = {
  issue: 'issue',
  merge_request: 'merge request',
  snippet: 'snippet',
  commit: 'commit',
  wiki_page: 'wiki page',
};

const nameOf = (kind: string, { id, iid, title }: Pick<Titled, 'id' | 'iid' | 'title'>): string => {
  const number = kind === 'commit' ? String(id).slice(0, 8) : `${marks[kind] ?? ''}${iid ?? id}`;
  return `${nouns[kind]} ${number}${title ? `: ${title}` : ''}`;
};

function pushMessage(payload: ChatPayload): ChatMessage | undefined {
  const { project, ref = '', before, after, commits = [], total_commits_count: count = 0 } = payload;
  const short = shortRef(ref);
  if (!project || !short) return undefined;
  const what = `${short.kind} ${short.name}`;
  const path = short.name.split('/').map(encodeURIComponent).join('/');
  const page =
    short.kind === 'tag' ? `${project.web_url}/-/tags/${path}` : `${project.web_url}/-/commits/${path}`;
  const said = (verb: string) => `${whoOf(payload)} ${verb} ${what} in ${placeOf(payload)}`;
  if (after === NO_OBJECT)
    return { title: said('removed'), text: '', link: project.web_url, color: colors.bad };
  const text = commits
    .map(({ id, title, author }) => `${id.slice(0, 8)}: ${title} - ${author.name}`)
    .join('\n');
  if (before === NO_OBJECT) return { title: said('pushed new'), text, link: page, color: colors.good };
  const number = count === 1 ? '1 commit' : `${count} commits`;
  const title = short.kind === 'tag' ? said('moved') : `${said('pushed to')} (${number})`;
  const link = short.kind === 'tag' ? page : `${project.web_url}/-/compare/${before}...${after}`;
  return { title, text, link, color: colors.plain };
}

function noteMessage(payload: ChatPayload): ChatMessage | undefined {
  const { object_attributes: note } = payload;
  if (note?.action !== 'create') return undefined;
  const kind = (['issue', 'merge_request', 'snippet', 'commit'] as const).find((each) => payload[each]);
  const on = kind && payload[kind];
  return {
    title: `${whoOf(payload)} commented on ${kind && on ? nameOf(kind, on) : 'something'} in ${placeOf(payload)}`,
    text: note.note ?? '',
    link: note.url ?? '',
    color: colors.plain,
  };
}

/** Jobs that a message names. */
const MAX_FAILED_JOBS = 20;

/** Of a pipeline that ended well or badly. */
function pipelineMessage(payload: ChatPayload): ChatMessage | undefined {
  const { object_attributes: pipeline, builds = [] } = payload;
  const ended = { success: ['succeeded', 'good'], failed: ['failed', 'bad'] } as const;
  const [verb, color] = ended[pipeline?.status as keyof typeof ended] ?? [];
  if (!pipeline || !verb || !color) return undefined;
  const { id, ref, tag, url = '' } = pipeline;
  const failed = builds
    .filter(({ status, allow_failure }) => status === 'failed' && !allow_failure)
    .map(({ stage, name }) => `${stage}: ${name}`)
    .slice(0, MAX_FAILED_JOBS);
  return {
    title: `Pipeline #${id} of ${tag ? 'tag' : 'branch'} ${ref} by ${whoOf(payload)} ${verb} in ${placeOf(payload)}`,
    text: failed.join('\n'),
    link: url,
    color: colors[color],
  };
}

/** The message of an event; undefined where nothing is said of it. */
export function messageOf(payload: ChatPayload): ChatMessage | undefined {
  const { object_attributes: attributes } = payload;
  const kind = kindOf(payload.object_kind);
  if (kind === 'push' || kind === 'tag_push') return pushMessage(payload);
  if (kind === 'note') return noteMessage(payload);
  if (kind === 'pipeline') return pipelineMessage(payload);
  const [verb, color] = words[kind]?.[attributes?.action ?? ''] ?? [];
  if (!attributes || !verb || !color) return undefined;
  const { iid, title = '', description, message, url = '' } = attributes;
  const name = iid === undefined ? `${nouns[kind]} ${title}` : nameOf(kind, { id: iid, iid, title });
  const written = kind === 'wiki_page' ? message : attributes.action === 'open' ? description : '';
  return {
    title: `${whoOf(payload)} ${verb} ${name} in ${placeOf(payload)}`,
    text: written ?? '',
    link: url,
    color: colors[color],
  };
}
