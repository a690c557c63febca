/** The pages on which administrators see jobs and queues, and the health of the site. */
import {
  type AdminContext,
  type AdminNotice,
  adminPage,
  adminToken,
  doneNote,
  idIn,
  minuteOf,
  olderLinks,
  showAdminPage,
} from '../../kernel/api/admin-page.ts';
import { type Page, redirect } from '../../kernel/api/page.ts';
import { version } from '../../package.ts';
import { notFound } from '../../platform/failure.ts';
import type { HttpResponse } from '../../platform/http/messages.ts';
import { type Html, html } from '../../platform/http/pages/html.ts';
import { type DeadJob, deadJobs, reviveJobs } from '../../platform/jobs/dead-jobs.ts';
import { countWaiting } from '../../platform/jobs/jobs.ts';
import { examineSite, type WriteCheck } from './health.ts';
import type { jobEndpoints } from './job-routes.ts';

const JOBS_PATH = '/admin/jobs';
const HEALTH_PATH = '/admin/health';
const PER_PAGE = 50;

type Metrics = ReturnType<typeof jobEndpoints>['all'];

/** Seconds in words: as much as one glance takes in. */
export function spanOf(seconds: number): string {
  const [size, word] = (
    [
      [86_400, 'day'],
      [3_600, 'hour'],
      [60, 'minute'],
    ] as const
  ).find(([each]) => seconds >= each) ?? [1, 'second'];
  const count = Math.floor(seconds / size);
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

function queueTable(queues: Readonly<Record<string, { backlog: number; latency: number }>>): Html {
  const all = Object.entries(queues);
  const busy = all.filter(([, { backlog }]) => backlog > 0);
  if (busy.length === 0) return html`<p class="none">Nothing waits in any of ${all.length} queues.</p>`;
  return html`<table>
<thead><tr><th scope="col">Queue</th><th scope="col">Waiting</th><th scope="col">The oldest for</th></tr></thead>
<tbody>${busy.map(
    ([name, { backlog, latency }]) =>
      html`<tr><th scope="row">${name}</th><td>${backlog}</td><td>${spanOf(latency)}</td></tr>`,
  )}</tbody>
</table>
<p class="hint">Nothing waits in ${all.length - busy.length} others.</p>`;
}

function deadJob({ id, task, attempts, error, failed_at }: DeadJob, token: Html): Html {
  return html`<li><div><div class="what">${task} <span class="tag quiet">${id}</span></div>
<div class="below">${error.split('\n', 1)[0]?.slice(0, 300)}<br>Attempts: ${attempts}, the last at ${minuteOf(failed_at)}</div></div>
<div class="changes"><form method="post" action="${JOBS_PATH}">${token}<input type="hidden" name="job" value="${id}"><button class="small" aria-label="Try ${task} ${id} again">Try again</button></form></div></li>
`;
}

async function showJobs(context: AdminContext, metrics: Metrics): Promise<HttpResponse> {
  const { api, db } = context;
  const before = idIn(context, 'before');
  const [{ queues, processes, jobs }, dead] = await Promise.all([
    api.one(metrics, {}),
    deadJobs(db, undefined, { before, limit: PER_PAGE + 1 }),
  ]);
  const shown = dead.slice(0, PER_PAGE);
  const token = adminToken(context);
  const note = doneNote(context, {
    again: 'It runs again as soon as a worker is free.',
    gone: 'It is not there any more: it was tried again already.',
  });
  const body = html`${note}
<dl class="facts">
<div><dt>Waiting</dt><dd>${jobs.enqueued}</dd></div>
<div><dt>Failed for good</dt><dd>${jobs.dead}</dd></div>
<div><dt>Done by this process</dt><dd>${jobs.processed}</dd></div>
<div><dt>Attempts that failed in it</dt><dd>${jobs.failed}</dd></div>
</dl>
<h2>Queues</h2>
${queueTable(queues)}
<h2>Processes</h2>
<ul class="things">${processes.map(
    ({ hostname, pid, started_at, busy, concurrency }) =>
      html`<li><div><div class="what">${hostname}</div><div class="below">Process ${pid}, since ${minuteOf(new Date(started_at))}</div></div><div class="beside">${busy} of ${concurrency} jobs at once</div></li>`,
  )}</ul>
<h2>Failed for good</h2>
<p class="hint">Their attempts are used up. Whatever made them fail is mended first, or they fail again.</p>
${
  shown.length === 0
    ? html`<p class="none">There is none.</p>`
    : html`<ul class="things">
${shown.map((job) => deadJob(job, token))}</ul>`
}
${olderLinks(JOBS_PATH, before, dead.length > PER_PAGE ? shown.at(-1)?.id : undefined)}`;
  return showAdminPage(context, { title: 'Jobs', body });
}

async function retryJob(context: AdminContext): Promise<HttpResponse> {
  const job = idIn(context, 'job');
  if (job === undefined) throw notFound('Job');
  const revived = await reviveJobs(context.db, undefined, job);
  return redirect(`${JOBS_PATH}?done=${revived === 1 ? 'again' : 'gone'}`);
}

const marks = {
  good: html`<span class="tag open">Good</span>`,
  wrong: html`<span class="tag urgent">Look here</span>`,
  unknown: html`<span class="tag quiet">For you to judge</span>`,
};

const morePages: Readonly<Record<string, string>> = {
  jobs: JOBS_PATH,
  mail: '/admin/mail',
  maintenance: '/admin/settings/operation',
};

async function showHealth(context: AdminContext, checkWrites: WriteCheck): Promise<HttpResponse> {
  const { services } = context;
  const findings = await examineSite(services, { checkWrites });
  const { tier, offering } = services.config;
  const body = html`<ul class="things">${findings.map(({ subject, state, text, advice }) => {
    const path = morePages[subject];
    const word = `${subject[0]?.toUpperCase() ?? ''}${subject.slice(1)}`;
    return html`<li><div><div class="what">${path === undefined ? word : html`<a href="${path}">${word}</a>`}</div>
<div class="below">${text}${advice !== undefined && html`<br>${advice}`}</div></div><div class="beside">${marks[state]}</div></li>
`;
  })}</ul>
<dl class="facts">
<div><dt>Version</dt><dd>${version.own}</dd></div>
<div><dt>API</dt><dd>${version.api}</dd></div>
<div><dt>Tier</dt><dd>${tier}</dd></div>
<div><dt>Offering</dt><dd>${offering.replace('_', ' ')}</dd></div>
</dl>
<p class="hint">For programs: <a href="/-/readiness">/-/readiness</a>, <a href="/-/liveness">/-/liveness</a>, and <code>/-/metrics</code> for Prometheus. <code>npx ashlar doctor</code> looks at more.</p>`;
  return showAdminPage(context, { title: 'Health', body });
}

/** Jobs that failed for good, for the first page. */
export async function deadJobsNotice({ db }: AdminContext): Promise<AdminNotice | undefined> {
  const dead = (await countWaiting(db))?.dead_jobs ?? 0;
  if (dead === 0) return undefined;
  return { text: dead === 1 ? 'One job failed for good.' : `${dead} jobs failed for good.`, path: JOBS_PATH };
}

/** `metrics` is the endpoint of all that is known of jobs. */
export const operationPages = (metrics: Metrics, checkWrites: WriteCheck): Page[] => [
  adminPage({ method: 'GET', path: JOBS_PATH, handle: (context) => showJobs(context, metrics) }),
  adminPage({ method: 'POST', path: JOBS_PATH, handle: retryJob }),
  adminPage({ method: 'GET', path: HEALTH_PATH, handle: (context) => showHealth(context, checkWrites) }),
];
