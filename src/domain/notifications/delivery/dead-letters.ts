/** The page on which administrators see dead mails, and send them again. */
import { pageLinks, panel } from '../../../kernel/api/forms.ts';
import {
  type Page,
  type PageContext,
  pageNumber,
  redirect,
  sessionPage,
  showPage,
  tokenField,
} from '../../../kernel/api/page.ts';
import type { Session } from '../../../kernel/identity/sessions.ts';
import { notFound } from '../../../platform/failure.ts';
import type { HttpResponse } from '../../../platform/http/messages.ts';
import { type Html, html } from '../../../platform/http/pages/html.ts';
import { type DeadJob, deadJobs, reviveJobs } from '../../../platform/jobs/dead-jobs.ts';
import { namesOf } from './queries.ts';
import type { Sending } from './send.ts';

const PATH = '/admin/mail';
const PER_PAGE = 50;

type Context = PageContext<Session>;

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

const timeOf = (time: Date): Html =>
  html`<time datetime="${time.toISOString()}">${time.toISOString().slice(0, 16).replace('T', ' ')}</time>`;

const retryForm = (token: Html, label: string, id?: number): Html =>
  html`<form method="post" action="${PATH}">${token}${id !== undefined && html`<input type="hidden" name="job" value="${id}">`}<button class="plain">${label}</button></form>`;

function list(mails: readonly DeadLetter[], names: Map<number, string>, token: Html): Html {
  const item = ({ job, what, userId }: DeadLetter): Html => {
    const name = names.get(userId ?? 0);
    const whom = name === undefined ? 'somebody who is gone' : html`<a href="/${name}">@${name}</a>`;
    const error = job.error.split('\n', 1)[0]?.slice(0, 300);
    return html`<li>
<div><strong>${what}</strong> to ${userId === undefined ? 'whoever hears of it' : whom}
<p class="hint">${error}<br>Attempts: ${job.attempts}, the last at ${timeOf(job.failed_at)} UTC</p></div>
${retryForm(token, 'Try again', job.id)}
</li>
`;
  };
  return html`<ul class="rows">
${mails.map(item)}</ul>
${mails.length > 1 && retryForm(token, 'Try all again')}`;
}

/** 404 for other users, so that the page's existence is not revealed. */
function refuseOthers({ session }: Context): void {
  if (!session.actor.admin) throw notFound('Page');
}

async function show(context: Context, tasks: readonly string[]): Promise<HttpResponse> {
  refuseOthers(context);
  const { db, services, session, field } = context;
  const page = pageNumber(field('page'));
  const jobs = await deadJobs(db, tasks, { offset: (page - 1) * PER_PAGE, limit: PER_PAGE + 1 });
  const mails = jobs.slice(0, PER_PAGE).map(deadLetterOf);
  const names = await namesOf(
    db,
    mails.flatMap(({ userId }) => userId ?? []),
  );
  const again = field('again');
  const body = panel(
    'Mail that could not be sent',
    /^\d+$/.test(again) && html`<p class="note" role="status">Tried again: ${Number(again)}.</p>`,
    mails.length === 0 ? html`<p>There is none.</p>` : list(mails, names, tokenField(services, session)),
    pageLinks(PATH, page, jobs.length > PER_PAGE),
  );
  return showPage(services, session, { title: 'Mail', body });
}

/** Retries one mail, or all. */
async function retry(context: Context, tasks: readonly string[]): Promise<HttpResponse> {
  refuseOthers(context);
  const { db, field } = context;
  const job = field('job');
  if (job !== '' && !/^\d{1,15}$/.test(job)) throw notFound('Mail');
  const revived = await reviveJobs(db, tasks, job === '' ? undefined : Number(job));
  return redirect(`${PATH}?again=${revived}`);
}

/** The pages for dead jobs of these tasks and of account mails. */
export function deadLetterPages(tasks: () => readonly string[]): Page[] {
  const all = () => [...tasks(), ...Object.keys(accountMails)];
  return [
    sessionPage({ method: 'GET', path: PATH, handle: (context) => show(context, all()) }),
    sessionPage({ method: 'POST', path: PATH, handle: (context) => retry(context, all()) }),
  ];
}
