/** One mail of each kind, for tests and for previews. */
import type { Body, Happening, MailInput } from '../../src/domain/notifications/mails/inputs.ts';

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

const issue = {
  kind: 'issue',
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
} as const;

const epic = {
  kind: 'epic',
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
  kind: 'merge_request',
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
const commit = { kind: 'commit', sha, title: 'Add a fan', url: `${PROJECT}/-/commit/${sha}` } as const;
const snippet = { kind: 'snippet', id: 6, title: 'How to start', url: `${PROJECT}/-/snippets/6` } as const;
const release = {
  kind: 'release',
  id: 8,
  name: 'Spring',
  tag: 'v1.2.0',
  url: `${PROJECT}/-/releases/v1.2.0`,
} as const;

const pipeline = {
  kind: 'pipeline',
  id: 77,
  url: `${PROJECT}/-/pipelines/77`,
  ref: 'main',
  commit,
  failedJobs: [],
} as const;

const project = {
  kind: 'project',
  id: 3,
  url: PROJECT,
  from: 'harbour/engine',
  to: 'fleet/engine',
  cloneUrl: `${PROJECT}.git`,
} as const;

const note = {
  url: `${issue.url}#note_21`,
  reply: false,
  internal: false,
  discussionId: 'abc123',
  body: bodyOf('Have a look, @grace', '<p dir="auto">Have a look, @grace</p>'),
};
const change = { from: ['Grace Hopper'], to: ['Ada Lovelace', 'Alan Turing'] };

/** The notification events, once each. */
export const happenings: readonly Happening[] = [
  { event: 'new_release', target: release, description },
  { event: 'new_note', target: issue, note },
  { event: 'new_issue', target: issue, description },
  { event: 'reopen_issue', target: issue },
  { event: 'close_issue', target: { ...issue, state: 'closed' } },
  { event: 'reassign_issue', target: issue, change },
  { event: 'issue_due', target: issue, description },
  { event: 'new_merge_request', target: mergeRequest, description },
  {
    event: 'push_to_merge_request',
    target: mergeRequest,
    commits: [commit, { sha: sha.toUpperCase(), title: 'Oil it', url: `${PROJECT}/-/commit/${sha}` }],
    count: 25,
  },
  { event: 'reopen_merge_request', target: mergeRequest },
  { event: 'close_merge_request', target: { ...mergeRequest, state: 'closed' } },
  { event: 'reassign_merge_request', target: mergeRequest, change },
  {
    event: 'change_reviewer_merge_request',
    target: mergeRequest,
    change: { from: [], to: ['Ada Lovelace'] },
  },
  { event: 'merge_merge_request', target: { ...mergeRequest, state: 'merged' } },
  {
    event: 'failed_pipeline',
    target: {
      ...pipeline,
      failedJobs: [
        { name: 'unit', stage: 'test', url: `${PROJECT}/-/jobs/1` },
        { name: 'lint', stage: 'test', url: `${PROJECT}/-/jobs/2` },
      ],
    },
  },
  { event: 'fixed_pipeline', target: pipeline },
  { event: 'success_pipeline', target: pipeline },
  { event: 'moved_project', target: project },
  { event: 'merge_when_pipeline_succeeds', target: mergeRequest },
  { event: 'new_epic', target: epic, description },
  { event: 'approver', target: mergeRequest, description: undefined },
];

/** The noteables, and a note. */
export const notedTargets = [issue, epic, mergeRequest, commit, snippet];
export const sampleNote = note;

/** The mail about it, to a user in the time zone of Berlin. */
export const inputOf = (
  happening: Happening,
  rest: Partial<Omit<MailInput, 'event' | 'target'>> = {},
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
