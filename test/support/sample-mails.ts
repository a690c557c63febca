/** One mail of each kind, for tests and for previews. */

import { pipelineMail } from '../../src/domain/ci/registrations/pipeline-mail.ts';
import { mergeRequestMail } from '../../src/domain/merge-requests/registrations/notification-mails.ts';
import { projectMoveMail } from '../../src/domain/namespaces/projects/notification-subject.ts';
import type { MailContents } from '../../src/domain/notifications/events/mail-contents.ts';
import type { Body, MailInput } from '../../src/domain/notifications/mails/inputs.ts';
import type { NotificationEventName } from '../../src/domain/notifications/settings/levels.ts';
import { releaseMail } from '../../src/domain/releases/registrations/release-mail.ts';
import { commitMail } from '../../src/domain/repositories/registrations/notification-subject.ts';
import { snippetMail } from '../../src/domain/snippets/registrations/notification-subject.ts';
import { epicMail } from '../../src/domain/work-items/epics/registrations/notification-mails.ts';
import {
  issueMail,
  type MailedIssue,
} from '../../src/domain/work-items/issues/registrations/notification-mails.ts';

export const SITE = 'https://ashlar.example';
const PROJECT = `${SITE}/fleet/engine`;

export const bodyOf = (text: string, html: string, cut = false): Body => ({ text, html, cut });

const description = bodyOf(
  'The engine stops after **ten minutes**. See [the log](/fleet/engine/-/blob/main/log.txt).\n\n```sh\nmake run\n```\n\n- [x] seen twice\n- [ ] understood',
  `<p dir="auto">The engine stops after <strong>ten minutes</strong>. See <a href="/fleet/engine/-/blob/main/log.txt" rel="nofollow noreferrer noopener">the log</a>, <a href="#note_3">the note</a> and <span class="gl-label"><a href="${PROJECT}/-/issues?label_name[]=bug" data-reference-type="label" title="" class="gfm gfm-label gl-label-link"><span class="gl-label-text" style="background-color: #d9534f">bug</span></a></span>.</p>
<pre><code class="language-sh">make run --with=a-very-long-argument-that-does-not-fit-on-the-line-of-a-telephone-at-all
</code></pre>
<blockquote dir="auto">
<p dir="auto">It worked yesterday.</p>
</blockquote>
<table dir="auto">
<thead>
<tr>
<th>minute</th>
<th align="right">degrees</th>
</tr>
</thead>
<tbody>
<tr>
<td>1</td>
<td align="right">80</td>
</tr>
</tbody>
</table>
<ul dir="auto" class="task-list">
<li class="task-list-item"><input type="checkbox" class="task-list-item-checkbox" disabled checked> seen twice</li>
<li class="task-list-item"><input type="checkbox" class="task-list-item-checkbox" disabled> understood <gl-emoji title="eyes" data-name="eyes">👀</gl-emoji></li>
</ul>
<p dir="auto"><img alt="chart" src="${SITE}/-/project/3/uploads/0123456789abcdef0123456789abcdef/chart.png" /> and <img alt="here" src="chart.png" /></p>`,
);

export const sampleIssue: MailedIssue = {
  id: 12,
  iid: 4,
  title: 'The engine stops after ten minutes',
  url: `${PROJECT}/-/issues/4`,
  state: 'opened',
  confidential: false,
  assignees: ['Grace Hopper'],
  labels: ['bug', 'priority::high'],
  milestone: 'Spring',
  dueDate: '2027-03-05',
};

const epic = {
  id: 5,
  iid: 2,
  title: 'Across the ocean',
  url: `${SITE}/groups/fleet/-/epics/2`,
  state: 'opened',
  confidential: true,
  labels: ['travel'],
  startDate: '2027-03-01',
  dueDate: '2027-06-30',
} as const;

const mergeRequest = {
  id: 31,
  iid: 9,
  title: 'Cool the engine',
  url: `${PROJECT}/-/merge_requests/9`,
  state: 'opened',
  sourceBranch: 'cooler',
  targetBranch: 'main',
  assignees: ['Ada Lovelace'],
  reviewers: ['Grace Hopper'],
  labels: [],
  milestone: null,
} as const;

const sha = '0123456789abcdef0123456789abcdef01234567';
const commit = { sha, title: 'Add a fan', url: `${PROJECT}/-/commit/${sha}` } as const;
const snippet = { id: 6, title: 'How to start', url: `${PROJECT}/-/snippets/6` } as const;
const release = {
  id: 8,
  name: 'Spring',
  tag: 'v1.2.0',
  url: `${PROJECT}/-/releases/v1.2.0`,
} as const;

const pipeline = {
  id: 77,
  url: `${PROJECT}/-/pipelines/77`,
  ref: 'main',
  commit,
  failedJobs: [],
} as const;

const project = {
  id: 3,
  url: PROJECT,
  from: 'harbour/engine',
  to: 'fleet/engine',
} as const;

const note = {
  url: `${sampleIssue.url}#note_21`,
  reply: false,
  internal: false,
  discussionId: 'abc123',
};
const noteBody = bodyOf('Have a look, @grace', '<p dir="auto">Have a look, @grace</p>');
const change = { from: ['Grace Hopper'], to: ['Ada Lovelace', 'Alan Turing'] };

/** The event, and what is known of it. */
export type Happening = Pick<MailInput, 'event' | 'note' | 'body' | keyof MailContents>;

/** Of the event without a text. */
const happeningOf = (event: NotificationEventName, contents: MailContents): Happening => ({
  event,
  note: undefined,
  body: undefined,
  ...contents,
});

/** Of an issue. */
export const issueHappening = (
  event: NotificationEventName,
  issue: MailedIssue,
  people?: typeof change,
): Happening => happeningOf(event, issueMail(event, issue, people));

const described = (event: NotificationEventName, contents: MailContents): Happening => ({
  ...happeningOf(event, contents),
  body: description,
});

/** Of a note on the subject. */
export const notedOf = (contents: MailContents, more: Partial<typeof note> = {}): Happening => ({
  ...happeningOf('new_note', contents),
  note: { ...note, ...more },
  body: noteBody,
});

const onMergeRequest = (
  event: NotificationEventName,
  more: { state?: 'closed' | 'merged' } = {},
  changes: Parameters<typeof mergeRequestMail>[2] = {},
): Happening => happeningOf(event, mergeRequestMail(event, { ...mergeRequest, ...more }, changes));

/** The notification events, once each. */
export const happenings: readonly Happening[] = [
  described('new_release', releaseMail(release)),
  notedOf(issueMail('new_note', sampleIssue)),
  described('new_issue', issueMail('new_issue', sampleIssue)),
  happeningOf('reopen_issue', issueMail('reopen_issue', sampleIssue)),
  happeningOf('close_issue', issueMail('close_issue', { ...sampleIssue, state: 'closed' })),
  happeningOf('reassign_issue', issueMail('reassign_issue', sampleIssue, change)),
  described('issue_due', issueMail('issue_due', sampleIssue)),
  described('new_merge_request', mergeRequestMail('new_merge_request', mergeRequest)),
  onMergeRequest(
    'push_to_merge_request',
    {},
    {
      commits: [commit, { sha: sha.toUpperCase(), title: 'Oil it', url: `${PROJECT}/-/commit/${sha}` }],
      count: 25,
    },
  ),
  onMergeRequest('reopen_merge_request'),
  onMergeRequest('close_merge_request', { state: 'closed' }),
  onMergeRequest('reassign_merge_request', {}, { people: change }),
  onMergeRequest('change_reviewer_merge_request', {}, { people: { from: [], to: ['Ada Lovelace'] } }),
  onMergeRequest('merge_merge_request', { state: 'merged' }),
  happeningOf(
    'failed_pipeline',
    pipelineMail('failed_pipeline', {
      ...pipeline,
      failedJobs: [
        { name: 'unit', stage: 'test', url: `${PROJECT}/-/jobs/1` },
        { name: 'lint', stage: 'test', url: `${PROJECT}/-/jobs/2` },
      ],
    }),
  ),
  happeningOf('fixed_pipeline', pipelineMail('fixed_pipeline', pipeline)),
  happeningOf('success_pipeline', pipelineMail('success_pipeline', pipeline)),
  happeningOf('moved_project', projectMoveMail(project)),
  onMergeRequest('merge_when_pipeline_succeeds'),
  described('new_epic', epicMail('new_epic', epic)),
  onMergeRequest('approver'),
  onMergeRequest('resolve_all_threads'),
  onMergeRequest('approve_merge_request'),
  onMergeRequest('unapprove_merge_request'),
];

/** Of each kind of subject that has notes. */
export const notedSubjects: readonly MailContents[] = [
  issueMail('new_note', sampleIssue),
  epicMail('new_note', epic),
  mergeRequestMail('new_note', mergeRequest),
  commitMail(commit),
  snippetMail(snippet),
];

/** The mail about it, to a user in the time zone of Berlin. */
export const inputOf = (
  happening: Happening,
  rest: Partial<Omit<MailInput, keyof Happening>> = {},
): MailInput => ({
  name: 'fact-900',
  reason: 'watching',
  recipient: { id: 7, language: 'en', timezone: 'Europe/Berlin' },
  place:
    happening.target.kind === 'epic'
      ? {
          kind: 'group',
          id: 2,
          name: 'Fleet',
          fullName: 'Fleet',
          fullPath: 'fleet',
          url: `${SITE}/groups/fleet`,
        }
      : {
          kind: 'project',
          id: 3,
          name: 'Engine',
          fullName: 'Fleet / Engine',
          fullPath: 'fleet/engine',
          url: PROJECT,
        },
  actor: { name: 'Ada Lovelace', username: 'ada' },
  at: new Date('2027-03-04T22:30:00Z'),
  site: { url: SITE, host: 'ashlar.example', settingsUrl: `${SITE}/-/profile/notifications` },
  unsubscribeUrl: `${SITE}/-/unsubscribe/abc`,
  ...rest,
  ...happening,
});
