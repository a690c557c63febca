/** Reads the errors of an external tracker through its Sentry-compatible API, with the guarded client. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Caller } from '../../../kernel/actor.ts';
import type { Context } from '../../../kernel/api/endpoint.ts';
import { type Fetch, outboundFetch } from '../../../kernel/api/outbound-fetch.ts';
import { monotonic } from '../../../platform/clock.ts';
import { badRequest, Failure, notFound } from '../../../platform/failure.ts';
import { createShare } from '../../../platform/fair-share.ts';
import { OutboundFailure } from '../../../platform/outbound/outbound.ts';
import type { Page, PageRequest } from '../../../platform/pagination/page.ts';
import { unseal } from '../../../platform/secret.ts';
import { selectSettings } from '../settings/queries.ts';
import { detailOf, errorOf, projectNames } from './external-records.ts';
import type { ErrorQuery } from './queries.ts';
import type { ErrorDetailRecord, ErrorOrder, ErrorRecord } from './schema.ts';

type Situation = Pick<Context<unknown, unknown, Caller>, 'db' | 'services' | 'settings'>;

/** An external tracker, and the deadline of its responses. */
export type Tracker = {
  fetch: Fetch;
  projectId: number;
  /** The address of the project's API, with a slash at the end. */
  url: URL;
  token: string;
  /** Monotonic milliseconds. */
  deadline: number;
};

/** For all calls that one request makes. */
const RESPONSE_TIMEOUT_MS = 10_000;
const MAX_RESPONSE_BYTES = 4 * 1_048_576;

/** The project's external tracker; undefined while errors are stored here. */
export async function findTracker(
  { db, services, settings }: Situation,
  project: Pick<AuthorizedProject, 'id'>,
): Promise<Tracker | undefined> {
  const row = await selectSettings(db, project.id);
  if (!row?.active || row.integrated) return undefined;
  const url = URL.parse(row.api_url ?? '');
  if (!url) throw unavailable('it has no address');
  return {
    fetch: outboundFetch(services, settings),
    projectId: project.id,
    // Query and fragment are no part of the project's address.
    url: new URL(`${url.pathname.replace(/\/*$/, '')}/`, url.origin),
    token: row.token_sealed === null ? '' : unseal(services.secretKey, row.token_sealed.toString()),
    deadline: monotonic() + RESPONSE_TIMEOUT_MS,
  };
}

const unavailable = (reason: string, headers: Record<string, string> = {}, cause?: unknown): Failure =>
  new Failure('unavailable', `503 Service Unavailable: the external tracker cannot be read: ${reason}`, {
    headers,
    cause,
  });

/** A request makes one call at a time, or two. */
const calls = createShare({
  of: 'external trackers being read',
  places: 32,
  perCaller: 16,
  waitingPerCaller: 0,
  waiting: 0,
  timeoutMs: 1,
});

/** Calls the tracker; returns the JSON body and the cursor of the next page, undefined for 404. */
async function ask(
  tracker: Tracker,
  url: URL,
): Promise<{ said: unknown; next: string | undefined } | undefined> {
  const { fetch, token, deadline } = tracker;
  try {
    const { status, headers, body } = await calls.run(() =>
      fetch(url.href, {
        headers: { accept: 'application/json', ...(token !== '' && { authorization: `Bearer ${token}` }) },
        timeoutMilliseconds: Math.max(1, Math.floor(deadline - monotonic())),
        maximumBytes: MAX_RESPONSE_BYTES,
      }),
    );
    if (status === 404) return undefined;
    if (status !== 200) {
      const wait = String(headers['retry-after'] ?? '');
      throw unavailable(
        `it answered with status ${status}`,
        /^\d{1,5}$/.test(wait) ? { 'retry-after': wait } : {},
      );
    }
    return { said: JSON.parse(body.toString()), next: nextCursor(headers.link) };
  } catch (error) {
    if (error instanceof OutboundFailure) throw unavailable(error.message, {}, error);
    if (error instanceof SyntaxError) throw unavailable('its answer is not JSON', {}, error);
    throw error;
  }
}

/** `<…>; rel="next"; results="true"; cursor="0:100:0"`, one among others in a list. */
export function nextCursor(link: string | string[] | undefined): string | undefined {
  for (const part of [link ?? '']
    .flat()
    .join(',')
    .split(/,\s*(?=<)/)) {
    if (!/;\s*rel="next"/.test(part) || !/;\s*results="true"/.test(part)) continue;
    return /;\s*cursor="([^"]*)"/.exec(part)?.[1];
  }
  return undefined;
}

const orders: Record<ErrorOrder, string> = { last_seen: 'date', first_seen: 'new', frequency: 'freq' };

/** Errors of one call: the tracker's own maximum. */
const MAX_AT_ONCE = 100;
/** Errors that can be paged through: the tracker's cursors lead only from page to page. */
const MAX_READ = 1_000;
const MAX_CALLS = 20;

/**
 * A page of the tracker's errors, newest or most frequent first; 503 with the reason where the tracker fails.
 */
export async function listExternal(
  tracker: Tracker,
  { status, search = '', by, sort }: ErrorQuery,
  page: PageRequest,
): Promise<Page<ErrorRecord>> {
  if (page.kind === 'keyset') {
    const text = 'Keyset pagination is not yet available for this type of request';
    throw new Failure('method_not_allowed', text, { error: text, headers: { allow: 'GET, HEAD' } });
  }
  if (sort === 'asc') throw badRequest('an external tracker lists errors in descending order only');
  const end = page.offset + page.perPage;
  if (end > MAX_READ) throw badRequest(`an external tracker is read up to its error number ${MAX_READ}`);
  const errors: ErrorRecord[] = [];
  let cursor: string | undefined;
  for (let calls = 0; calls < MAX_CALLS && errors.length <= end; calls++) {
    const url = new URL('issues/', tracker.url);
    const query = [status === 'all' ? '' : `is:${status}`, search].join(' ').trim();
    url.search = new URLSearchParams({
      query,
      sort: orders[by],
      limit: String(Math.min(MAX_AT_ONCE, end + 1)),
      ...(cursor !== undefined && { cursor }),
    }).toString();
    const response = await ask(tracker, url);
    if (!Array.isArray(response?.said)) throw unavailable('it has no list of errors there');
    errors.push(...response.said.flatMap((issue) => errorOf(tracker.projectId, issue) ?? []));
    cursor = response.next;
    if (cursor === undefined) break;
  }
  return { items: errors.slice(page.offset, end), total: undefined, more: errors.length > end };
}

/** One error of the tracker's project with its latest event; 404 when the project has no such error. */
export async function showExternal(tracker: Tracker, id: number): Promise<ErrorDetailRecord> {
  const [, root, project] = /^(.*)\/projects\/[^/]+\/([^/]+)\/$/.exec(tracker.url.href) ?? [];
  if (root === undefined || project === undefined) throw unavailable('its address is not that of a project');
  const issue = `${root}/issues/${id}/`;
  const [error, event] = await Promise.all([
    ask(tracker, new URL(issue)),
    ask(tracker, new URL('events/latest/', issue)),
  ]);
  // The token may open other projects, which members of this one may not read.
  const isThere = projectNames(error?.said).includes(project);
  const record = isThere ? detailOf(tracker.projectId, error?.said, event?.said) : undefined;
  if (!record) throw notFound('Error');
  return record;
}
