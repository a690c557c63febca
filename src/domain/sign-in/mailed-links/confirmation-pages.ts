/** The pages on which users confirm an address, and request its link again. */
import { notice } from '../../../kernel/api/forms.ts';
import { type Page, type PageContext, page, showPage } from '../../../kernel/api/page.ts';
import type { HttpResponse } from '../../../platform/http/messages.ts';
import { addressForm, confirmForm } from '../forms/mail-views.ts';
import { askByMail } from './ask-by-mail.ts';
import { addressToConfirm, CONFIRMATION_REQUESTED, confirmAddress } from './confirmation-actions.ts';

const TITLE = 'Confirm your email address';
const PATH = '/users/confirmation';
const ASK_PATH = `${PATH}/new`;
const SIGN_IN = { path: '/users/sign_in', label: 'Sign in' };
const HOME = { path: '/', label: 'Go on' };

function showStale({ services, session }: PageContext): HttpResponse {
  const text = 'This link is not valid: it was used before, or a newer one was sent.';
  const body = notice(TITLE, text, { path: ASK_PATH, label: 'Send another link' });
  return showPage(services, session, { title: TITLE, body, status: 422 });
}

async function showConfirm(context: PageContext): Promise<HttpResponse> {
  const { db, services, session, field } = context;
  const secret = field('confirmation_token');
  const email = await addressToConfirm(db, secret);
  if (email === undefined) return showStale(context);
  const body = confirmForm({ secret, email });
  return showPage(services, session, { title: TITLE, body, headers: { 'referrer-policy': 'same-origin' } });
}

async function confirm(context: PageContext): Promise<HttpResponse> {
  const { db, services, session, field } = context;
  if (!(await confirmAddress(db, field('confirmation_token')))) return showStale(context);
  const body = notice('Address confirmed', 'Your email address is confirmed.', session ? HOME : SIGN_IN);
  return showPage(services, session, { title: 'Address confirmed', body });
}

async function showAsk({ services, session }: PageContext): Promise<HttpResponse> {
  const text = 'Give the address that is to be confirmed, and a mail brings the link for it.';
  const body = addressForm({ title: TITLE, text, path: ASK_PATH, next: session ? HOME : SIGN_IN });
  return showPage(services, session, { title: TITLE, body });
}

async function ask({ services, session, field }: PageContext): Promise<HttpResponse> {
  await askByMail(services, CONFIRMATION_REQUESTED, field('email'));
  const text = 'If this address waits to be confirmed, a mail with a new link is on its way to it.';
  const body = notice('Check your mail', text, session ? HOME : SIGN_IN);
  return showPage(services, session, { title: TITLE, body });
}

/** Confirming an address, and asking for its link. */
export const confirmationPages: Page[] = [
  page({ method: 'GET', path: PATH, whileOverdue: true, handle: showConfirm }),
  page({ method: 'POST', path: PATH, protected: true, whileOverdue: true, handle: confirm }),
  page({ method: 'GET', path: ASK_PATH, handle: showAsk }),
  page({ method: 'POST', path: ASK_PATH, protected: true, handle: ask }),
];
