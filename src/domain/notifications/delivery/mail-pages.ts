/** The page on which administrators try the mail server, and see dead mails and send them again. */
import {
  type AdminContext,
  adminPage,
  adminToken,
  doneNote,
  idIn,
  minuteOf,
  olderLinks,
  showAdminPage,
} from '../../../kernel/api/admin-page.ts';
import { type Page, redirect } from '../../../kernel/api/page.ts';
import type { HttpResponse } from '../../../platform/http/messages.ts';
import { type Html, html } from '../../../platform/http/pages/html.ts';
import { type DeadJob, deadJobs, reviveJobs } from '../../../platform/jobs/dead-jobs.ts';
import type { Mailer } from '../../../platform/mail/mailer.ts';
import { type MailRefusal, mailRefusal } from '../../../platform/mail/refusals.ts';
import { randomHex } from '../../../platform/secret.ts';
import { composeMail } from '../account-mails/layout.ts';
import { testMail } from '../account-mails/mails.ts';
import { namesOf, selectAddressee } from './queries.ts';
import type { Sending } from './send.ts';

const PATH = '/admin/mail';
const TEST_PATH = `${PATH}/test`;
const PER_PAGE = 50;

const accountMails: Record<string, string> = {
  'mail.confirmation': 'Confirmation of an address',
  'mail.password_reset': 'A new password',
};

/** A dead mail; `userId` is undefined where the fan-out failed before recipients were found. */
type DeadLetter = { job: DeadJob; what: string; userId: number | undefined };

function deadLetterOf(job: DeadJob): DeadLetter {
  const account = accountMails[job.task];
  if (account !== undefined) return { job, what: account, userId: Number(job.payload.user_id) };
  // Jobs of fan-out.ts name event and recipient; a job of a fact names neither.
  const { job: hearing, userId } = job.payload as Partial<Sending>;
  if (!hearing) return { job, what: job.task.replace('notifications.', ''), userId };
  const { subject, name: event } = hearing.event;
  const named = subject.sha?.slice(0, 8) ?? subject.id;
  return { job, what: `${event} (${subject.kind} ${named})`, userId };
}

const retryForm = (token: Html, label: string, id?: number): Html =>
  html`<form method="post" action="${PATH}">${token}${id !== undefined && html`<input type="hidden" name="job" value="${id}">`}<button class="small">${label}</button></form>`;

function list(mails: readonly DeadLetter[], names: Map<number, string>, token: Html): Html {
  const item = ({ job, what, userId }: DeadLetter): Html => {
    const name = names.get(userId ?? 0);
    const whom = name === undefined ? 'somebody who is gone' : html`<a href="/${name}">@${name}</a>`;
    const error = job.error.split('\n', 1)[0]?.slice(0, 300);
    return html`<li><div><div class="what">${what} to ${userId === undefined ? 'whoever hears of it' : whom}</div>
<div class="below">${error}<br>Attempts: ${job.attempts}, the last at ${minuteOf(job.failed_at)}</div></div>
<div class="changes">${retryForm(token, 'Try again', job.id)}</div></li>
`;
  };
  return html`<ul class="things">
${mails.map(item)}</ul>
${mails.length > 1 && retryForm(token, 'Try all again')}`;
}

const testForm = (
  view: { address: string; server: string | undefined; token: Html },
  refusal: MailRefusal | undefined,
): Html =>
  html`<p>${
    view.server === undefined
      ? html`No mail server is set: mails become files in <code>mail/</code> in the data folder. <code>SMTP_URL</code> names one.`
      : html`Mails go to <code>${view.server}</code>.`
  }</p>
${
  refusal &&
  html`<div class="message" id="test_problem" role="alert"><p>${refusal.words}</p><p><code>${refusal.said}</code></p></div>`
}
<form method="post" action="${TEST_PATH}">${view.token}<button class="small"${refusal && html` aria-describedby="test_problem"`}>Send a test mail to ${view.address}</button></form>`;

/** Host and port of the mail server; not what it is signed in to with. */
function serverOf({ services }: AdminContext): string | undefined {
  const url = URL.parse(services.config.smtpUrl ?? '');
  return url === null ? undefined : `${url.protocol}//${url.host}`;
}

async function show(
  context: AdminContext,
  tasks: readonly string[],
  refusal?: MailRefusal,
): Promise<HttpResponse> {
  const { db, session, field } = context;
  const before = idIn(context, 'before');
  const [addressee, jobs] = await Promise.all([
    selectAddressee(db, session.actor.id),
    deadJobs(db, tasks, { before, limit: PER_PAGE + 1 }),
  ]);
  const mails = jobs.slice(0, PER_PAGE).map(deadLetterOf);
  const names = await namesOf(
    db,
    mails.flatMap(({ userId }) => userId ?? []),
  );
  const again = field('again');
  const token = adminToken(context);
  const address = addressee.email;
  const note = doneNote(context, {
    sent: `The mail server took the mail. Look into the mailbox of ${address}; if it is not there, its spam folder, and the log of the mail server.`,
    filed: 'The mail is a file in mail/ in the data folder: no mail server is set.',
  });
  const body = html`${note}${/^\d+$/.test(again) && html`<p class="note done" role="status">Tried again: ${Number(again)}.</p>`}
${testForm({ address, server: serverOf(context), token }, refusal)}
<h2>Mail that could not be sent</h2>
${mails.length === 0 ? html`<p class="none">There is none.</p>` : list(mails, names, token)}
${olderLinks(PATH, before, jobs.length > PER_PAGE ? mails.at(-1)?.job.id : undefined)}`;
  return showAdminPage(context, { title: 'Mail', body, status: refusal ? 422 : 200 });
}

/** Retries one mail, or all. */
async function retry(context: AdminContext, tasks: readonly string[]): Promise<HttpResponse> {
  const revived = await reviveJobs(context.db, tasks, idIn(context, 'job'));
  return redirect(`${PATH}?again=${revived}`);
}

/** Sends a mail to the administrator's own address, now and once, as other mails are sent. */
async function sendTest(
  context: AdminContext,
  mailer: Mailer,
  tasks: readonly string[],
): Promise<HttpResponse> {
  const { db, services, session } = context;
  const to = await selectAddressee(db, session.actor.id);
  const baseUrl = services.baseUrl();
  const mail = { id: `test-${randomHex(16)}`, to: to.email, ...composeMail(testMail(to, baseUrl), baseUrl) };
  try {
    // A mail server may take its time, and is no load.
    await services.park(() => mailer.send(mail));
  } catch (error) {
    services.log.error('the test mail was not taken', error);
    return show(context, tasks, mailRefusal(error));
  }
  return redirect(`${PATH}?done=${services.config.smtpUrl === undefined ? 'filed' : 'sent'}`);
}

/** The pages for dead jobs of these tasks and of account mails, and the test of the mailer. */
export function mailPages(mailer: Mailer, tasks: () => readonly string[]): Page[] {
  const all = () => [...tasks(), ...Object.keys(accountMails)];
  return [
    adminPage({ method: 'GET', path: PATH, handle: (context) => show(context, all()) }),
    adminPage({ method: 'POST', path: PATH, handle: (context) => retry(context, all()) }),
    adminPage({ method: 'POST', path: TEST_PATH, handle: (context) => sendTest(context, mailer, all()) }),
  ];
}
