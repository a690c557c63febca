/** Records from an external tracker's Sentry API, version 0. Missing members become null or empty. Pure. */
import type {
  CountRecord,
  ErrorDetailRecord,
  ErrorRecord,
  ErrorStatus,
  ExceptionRecord,
  FrameRecord,
  TagSummary,
  WholeEventRecord,
} from './schema.ts';

type ExternalRecord = Readonly<Record<string, unknown>>;

const nothing: ExternalRecord = {};
const isObject = (value: unknown): value is ExternalRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const objectOf = (value: unknown): ExternalRecord => (isObject(value) ? value : nothing);
const objectsIn = (value: unknown): ExternalRecord[] => (Array.isArray(value) ? value.filter(isObject) : []);

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

function numberOf(value: unknown): number | null {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : null;
}

function timeOf(value: unknown): string | null {
  const time = typeof value === 'string' ? new Date(value) : undefined;
  return time && !Number.isNaN(time.getTime()) ? time.toISOString() : null;
}

/** Other schemes than http and https are dropped: a browser could run code by them. */
const webAddress = (value: unknown): string =>
  typeof value === 'string' && /^https?:\/\//i.test(value) ? value : '';

const statuses: Record<string, ErrorStatus> = {
  resolved: 'resolved',
  resolvedInNextRelease: 'resolved',
  ignored: 'ignored',
  muted: 'ignored',
  archived: 'ignored',
};

/** The id and the slug of the project that an issue of the tracker belongs to. */
export const projectNames = (issue: unknown): string[] => {
  const { id, slug } = objectOf(objectOf(issue).project);
  return [textOf(id) ?? numberOf(id), textOf(slug)].flatMap((name) => (name === null ? [] : String(name)));
};

/** An issue of the tracker as an error; undefined without an id by which it can be requested. */
export function errorOf(projectId: number, said: unknown): ErrorRecord | undefined {
  const issue = objectOf(said);
  const id = numberOf(issue.id);
  const last = timeOf(issue.lastSeen) ?? timeOf(issue.firstSeen);
  if (id === null || id < 1 || last === null) return undefined;
  const { type, value } = objectOf(issue.metadata);
  const title = textOf(issue.title) ?? 'Error';
  return {
    id,
    project_id: projectId,
    name: textOf(type) ?? title,
    description: textOf(value) ?? (textOf(type) === null ? '' : title),
    actor: textOf(issue.culprit) ?? '',
    platform: textOf(issue.platform) ?? '',
    level: textOf(issue.level) ?? 'error',
    status: statuses[textOf(issue.status) ?? ''] ?? 'unresolved',
    first_seen: timeOf(issue.firstSeen) ?? last,
    last_seen: last,
    events_count: numberOf(issue.count) ?? 0,
    users_count: numberOf(issue.userCount) ?? 0,
    first_release: textOf(objectOf(issue.firstRelease).version),
    last_release: textOf(objectOf(issue.lastRelease).version),
    resolved_at: null,
    regressed_at: null,
    issue_iid: null,
    web_url: webAddress(issue.permalink),
  };
}

const MILLISECONDS = 1_000;

function countsOf(issue: ExternalRecord): CountRecord[] {
  const hours = objectOf(issue.stats)['24h'];
  if (!Array.isArray(hours)) return [];
  return hours.flatMap((pair: unknown) => {
    const [second, events] = Array.isArray(pair) ? [numberOf(pair[0]), numberOf(pair[1])] : [null, null];
    if (second === null || events === null || events < 1) return [];
    const hour = new Date(second * MILLISECONDS);
    return Number.isNaN(hour.getTime()) ? [] : [{ hour: hour.toISOString(), events }];
  });
}

const tagsOf = (issue: ExternalRecord): TagSummary[] =>
  objectsIn(issue.tags).flatMap((tag) => {
    const key = textOf(tag.key);
    const values = objectsIn(tag.topValues).flatMap(({ value, count }) => {
      const text = textOf(value);
      return text === null ? [] : [{ value: text, events: numberOf(count) ?? 0 }];
    });
    return key === null || values.length === 0 ? [] : [{ key, values }];
  });

/** The lines around a frame's own line, by their numbers. */
function contextOf({
  context,
  lineNo,
}: ExternalRecord): Pick<FrameRecord, 'pre_context' | 'context_line' | 'post_context'> {
  const here = numberOf(lineNo);
  const lines = (Array.isArray(context) ? context : []).flatMap((pair: unknown) => {
    const [at, line]: unknown[] = Array.isArray(pair) ? pair : [];
    return typeof at === 'number' && typeof line === 'string' ? [{ at, line }] : [];
  });
  const where = (is: (at: number) => boolean) => lines.filter(({ at }) => is(at)).map(({ line }) => line);
  return {
    pre_context: where((at) => here !== null && at < here),
    context_line: where((at) => at === here)[0] ?? null,
    post_context: where((at) => here !== null && at > here),
  };
}

const framesOf = (stacktrace: unknown): FrameRecord[] =>
  objectsIn(objectOf(stacktrace).frames).map((frame) => ({
    function: textOf(frame.function),
    module: textOf(frame.module),
    filename: textOf(frame.filename),
    abs_path: textOf(frame.absPath),
    lineno: numberOf(frame.lineNo),
    colno: numberOf(frame.colNo),
    in_app: frame.inApp === true,
    ...contextOf(frame),
    vars: null,
  }));

const exceptionOf = (thrown: ExternalRecord): ExceptionRecord => {
  const { handled, type } = objectOf(thrown.mechanism);
  return {
    type: textOf(thrown.type),
    value: textOf(thrown.value),
    module: textOf(thrown.module),
    handled: typeof handled === 'boolean' ? handled : null,
    mechanism: textOf(type),
    frames: framesOf(thrown.stacktrace),
    frames_omitted: 0,
  };
};

type Crumb = WholeEventRecord['breadcrumbs'][number];

const breadcrumbOf = (crumb: ExternalRecord): Crumb => ({
  timestamp: textOf(crumb.timestamp),
  type: textOf(crumb.type),
  category: textOf(crumb.category),
  level: textOf(crumb.level),
  message: textOf(crumb.message),
  data: null,
});

type User = NonNullable<WholeEventRecord['user']>;
type Request = NonNullable<WholeEventRecord['request']>;

const userOf = (said: unknown): User | null => {
  if (!isObject(said)) return null;
  const { id, username, email } = said;
  return { id: textOf(id), username: textOf(username), email: textOf(email), ip_address: null, data: {} };
};

const requestOf = (said: ExternalRecord | undefined): Request | null =>
  said === undefined
    ? null
    : {
        method: textOf(said.method),
        url: textOf(said.url),
        query_string: null,
        headers: [],
        data: null,
        env: {},
      };

/** An event of the tracker, without variables, addresses and attached data. */
export function eventOf(said: unknown): WholeEventRecord | null {
  const event = objectOf(said);
  const id = textOf(event.eventID) ?? textOf(event.id);
  const occurred = timeOf(event.dateCreated) ?? timeOf(event.dateReceived);
  if (id === null || occurred === null) return null;
  const entries = new Map(objectsIn(event.entries).map(({ type, data }) => [type, objectOf(data)]));
  const entry = (type: string): ExternalRecord => entries.get(type) ?? nothing;
  const tags = objectsIn(event.tags).flatMap(({ key, value }) => {
    const [name, text] = [textOf(key), textOf(value)];
    return name === null || text === null ? [] : [{ key: name, value: text }];
  });
  const tagged = (name: string): string | null => tags.find(({ key }) => key === name)?.value ?? null;
  const sdk = objectOf(event.sdk);
  const sdkName = textOf(sdk.name);
  return {
    event_id: id,
    level: tagged('level') ?? 'error',
    environment: tagged('environment'),
    release: textOf(objectOf(event.release).version) ?? tagged('release'),
    abridged: false,
    occurred_at: occurred,
    received_at: timeOf(event.dateReceived) ?? occurred,
    platform: textOf(event.platform) ?? '',
    logger: tagged('logger'),
    transaction: tagged('transaction'),
    server_name: tagged('server_name'),
    dist: textOf(event.dist),
    message: textOf(entry('message').formatted) ?? textOf(event.message),
    exceptions: objectsIn(entry('exception').values).map(exceptionOf),
    frames: framesOf(entries.get('stacktrace')),
    frames_omitted: 0,
    tags,
    user: userOf(event.user),
    request: requestOf(entries.get('request')),
    contexts: {},
    breadcrumbs: objectsIn(entry('breadcrumbs').values).map(breadcrumbOf),
    extra: {},
    modules: {},
    sdk: sdkName === null ? null : { name: sdkName, version: textOf(sdk.version) },
  };
}

/** An issue of the tracker with its counts, tags and latest event. */
export function detailOf(projectId: number, said: unknown, event: unknown): ErrorDetailRecord | undefined {
  const error = errorOf(projectId, said);
  const issue = objectOf(said);
  return error && { ...error, counts: countsOf(issue), tags: tagsOf(issue), latest_event: eventOf(event) };
}
