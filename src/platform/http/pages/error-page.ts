/** Failures as pages, for browsers. */
import type { Failure } from '../../failure.ts';
import type { HttpResponse } from '../messages.ts';
import { html, htmlPage, htmlResponse } from './html.ts';

/** Whether the client is a browser: programs accept JSON, or anything. */
export const wantsPage = (accept: string | undefined): boolean => /\btext\/html\b/i.test(accept ?? '');

const header = html`<header><a class="brand" href="/">Ashlar</a>
<a href="/api/docs">API</a></header>`;

function errorPage(
  status: number,
  page: { title: string; text: string; headers?: Record<string, string> | undefined },
): HttpResponse {
  const body = html`<div class="card"><h1>${page.title}</h1>
<p>${page.text}</p>
<p><a href="/">To the start page</a></p></div>`;
  // Programs get another response at the same address.
  return htmlResponse(status, htmlPage(page.title, body, { header }), {
    vary: 'Accept, Origin',
    ...page.headers,
  });
}

export const notFoundPage = (): HttpResponse =>
  errorPage(404, {
    title: 'Page not found',
    text: 'There is nothing at this address, or nothing that you may see. Check the address, or sign in and try again.',
  });

/** A page with the failure's text instead of the API's body. */
export function failurePage(failure: Failure): HttpResponse {
  const { publicMessage, status, kind, details } = failure;
  const text = typeof publicMessage === 'string' ? publicMessage : 'The request is not valid.';
  const page =
    kind === 'not_found'
      ? notFoundPage()
      : errorPage(status, { title: 'That did not work', text, headers: details.headers });
  return { ...page, failure: kind };
}

/** The page of an internal error: it has only the request id, for reports. */
export const serverErrorPage = (requestId: string): HttpResponse => ({
  ...errorPage(500, {
    title: 'Something went wrong',
    text: `This is our fault, and it has been noted. Try again later; if it happens again, tell your administrator this number: ${requestId}`,
  }),
  failure: 'server_error',
});
