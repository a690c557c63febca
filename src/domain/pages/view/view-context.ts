/** Opens every page of this capability: the reader, their abilities, and one response for all that is hidden from them. */
import { Moved } from '../../../kernel/access/find.ts';
import type { Caller } from '../../../kernel/actor.ts';
import { card } from '../../../kernel/api/forms.ts';
import { type InternalApiClient, internalApiClient } from '../../../kernel/api/internal-api-client.ts';
import {
  type Page,
  type PageContext,
  page,
  redirect,
  SIGN_IN_PATH,
  showPage,
} from '../../../kernel/api/page.ts';
import { Failure, type FailureKind } from '../../../platform/failure.ts';
import { type HttpResponse, json } from '../../../platform/http/messages.ts';
import { wantsPage } from '../../../platform/http/pages/error-page.ts';
import { between, type Html, html } from '../../../platform/http/pages/html.ts';

/** The context of a page: its reader, and the API as they would read it. */
export type ViewContext = PageContext &
  InternalApiClient & {
    caller: Caller;
    /** Characters of Markdown that the page may still render. */
    budget: { characters: number };
    /** A parameter of the path, decoded; empty when there is none of that name. */
    param(name: string): string;
    /** All values of a parameter of the query, given as `name` or `name[]`. */
    fields(name: string): string[];
    /** The value of a parameter of the query; the first of these values when it has none, or another. */
    choice<const V extends string>(name: string, values: readonly [V, ...V[]]): V;
    /** The parameters that the page has read until now, with the values that count; none for any. */
    filters: Map<string, readonly string[]>;
  };

export type Show = (view: ViewContext) => Promise<HttpResponse>;

/** All refusals look the same, so that a reader does not learn that there is a hidden page. */
const hidden: ReadonlySet<FailureKind> = new Set(['not_found', 'forbidden', 'unauthenticated']);

/** As long as the longest file that is shown; rendering several texts takes no longer than one. */
const MAX_RENDERED_LENGTH = 1_048_576;

const NOT_THERE = 'There is nothing at this address, or nothing that you may see.';

/** The same response for a missing and a hidden page; with a hint to sign in. */
export function missingPage({ services, session, request }: PageContext): HttpResponse {
  if (!wantsPage(request.headers.accept?.toString()))
    return { ...json(404, { message: '404 Not Found', error: '404 Not Found' }), failure: 'not_found' };
  const here = `${SIGN_IN_PATH}?return_to=${encodeURIComponent(request.path)}`;
  const hint = session
    ? html`<p>${NOT_THERE} Check the address, or ask whoever gave it to you for access.</p>`
    : html`<p>${NOT_THERE} Check the address, or <a href="${here}">sign in</a> and try again.</p>`;
  const body = card('Page not found', hint, html`<p><a href="/">To the start page</a></p>`);
  const headers = { vary: 'Accept, Origin' };
  return {
    ...showPage(services, session, { title: 'Page not found', body, status: 404, headers }),
    failure: 'not_found',
  };
}

/** The same address below the path that the project has now. */
function movedResponse({ request }: ViewContext, { fullPath }: Moved): HttpResponse {
  const dash = request.path.indexOf('/-/');
  const query = request.query === '' ? '' : `?${request.query}`;
  return redirect(`/${fullPath}${dash < 0 ? '' : request.path.slice(dash)}${query}`);
}

/** Responds with a page; every refusal is a page that is not there. */
async function open(view: ViewContext, show: Show): Promise<HttpResponse> {
  try {
    return await show(view);
  } catch (error) {
    if (error instanceof Moved) return movedResponse(view, error);
    if (error instanceof Failure && hidden.has(error.kind)) return missingPage(view);
    throw error;
  }
}

/** The route of a page; its module is loaded with the first request. */
export const readingPage = (path: string, load: () => Promise<Show>): Page =>
  page({
    method: 'GET',
    path,
    handle: async (context) => {
      const { services, request, settings, session } = context;
      const caller = session?.actor;
      const requested = new Map<string, readonly string[]>();
      const query = new URLSearchParams(request.query);
      const view: ViewContext = {
        ...context,
        ...internalApiClient({ services, settings, caller, request }),
        caller,
        budget: { characters: MAX_RENDERED_LENGTH },
        param: (name) => request.params[name] ?? '',
        field(name) {
          requested.set(name, []);
          return context.field(name);
        },
        fields(name) {
          requested.set(name, []);
          return [...query].flatMap(([key, value]) => (nameOf(key) === name ? value : []));
        },
        choice(name, values) {
          requested.set(name, values);
          const given = context.field(name);
          return values.find((value) => value === given) ?? values[0];
        },
        filters: requested,
      };
      return open(view, await load());
    },
  });

/** The parameter that a key of the query names. */
const nameOf = (key: string): string => key.replace(/\[\]$/, '');

/** Ignored parameters that the note lists, and their length. */
const MAX_LISTED_PARAMETERS = 5;
const MAX_LISTED_LENGTH = 50;

/**
 * The parameters of the query that the page ignored: a mistyped filter must not pass for one that finds
 * nothing.
 */
function ignoredNote({ request, filters: requested }: ViewContext): Html | undefined {
  const ignored = [...new URLSearchParams(request.query)].filter(([key, value]) => {
    const values = requested.get(nameOf(key));
    return values === undefined || (values.length > 0 && value !== '' && !values.includes(value));
  });
  if (ignored.length === 0) return undefined;
  const told = ignored
    .slice(0, MAX_LISTED_PARAMETERS)
    .map(([key, value]) => html`<code>${`${key}=${value}`.slice(0, MAX_LISTED_LENGTH)}</code>`);
  const known = [...requested].map(
    ([name, values]) =>
      html`<code>${name}</code>${values.length > 0 && ` (${values.filter(Boolean).join(', ')})`}`,
  );
  return html`<p class="message" role="status">Ignored, since this page does not know it: ${between(told)}${ignored.length > MAX_LISTED_PARAMETERS && ' …'}.
${known.length > 0 ? html`It knows ${between(known)}.` : 'It takes no parameters.'}</p>`;
}

/** A page of this capability in the site's layout. */
export const show = (view: ViewContext, title: string, body: Html): HttpResponse =>
  showPage(view.services, view.session, { title, body: html`${ignoredNote(view)}${body}` });
