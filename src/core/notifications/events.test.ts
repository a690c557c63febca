import { describe, expect, test } from 'vitest';
import { notificationEventsOf, notificationFact, notificationFactNames } from './events.ts';
import { notificationEvents } from './levels.ts';

const ACTOR = 1;

describe('what a fact gives to hear of', () => {
  const people = { added: [{ id: 7, username: 'ada' }], removed: [{ id: 8, username: 'bob' }] };
  const [issue, mergeRequest] = [
    { project_id: 3, user_id: ACTOR, issue_id: 5 },
    { project_id: 3, user_id: ACTOR, merge_request_id: 6 },
  ];
  const note = { note_id: 9, user_id: ACTOR, internal: false };
  const pipeline = { project_id: 3, user_id: 7, pipeline_id: 4 };
  const told = [
    [notificationEventsOf('issue_created', issue), ['new_issue']],
    [notificationEventsOf('issue_updated', issue), []],
    [notificationEventsOf('issue_updated', { ...issue, changes: { assignees: people } }), ['reassign_issue']],
    [notificationEventsOf('issue_closed', issue), ['close_issue']],
    [
      notificationEventsOf('issue_closed', { ...issue, changes: { assignees: people } }),
      ['close_issue', 'reassign_issue'],
    ],
    [notificationEventsOf('issue_reopened', issue), ['reopen_issue']],
    [
      notificationEventsOf('issue_due', { project_id: 3, issue_id: 5, due_date: '2026-01-02' }),
      ['issue_due'],
    ],
    [
      notificationEventsOf('note_created', {
        ...note,
        project_id: 3,
        noteable_type: 'Issue',
        noteable_id: 5,
      }),
      ['new_note'],
    ],
    [notificationEventsOf('epic_created', { group_id: 2, user_id: ACTOR, epic_id: 1 }), ['new_epic']],
    [notificationEventsOf('project_moved', { project_id: 3, from: 'a/b', to: 'c/b' }), ['moved_project']],
    [
      notificationEventsOf('release_created', { project_id: 3, user_id: ACTOR, release_id: 1 }),
      ['new_release'],
    ],
    [
      notificationEventsOf('merge_request_created', { ...mergeRequest, approver_ids: [] }),
      ['new_merge_request'],
    ],
    [
      notificationEventsOf('merge_request_created', { ...mergeRequest, approver_ids: [7] }),
      ['new_merge_request', 'approver'],
    ],
    [notificationEventsOf('merge_request_updated', mergeRequest), []],
    [
      notificationEventsOf('merge_request_updated', {
        ...mergeRequest,
        assignees: people,
        reviewers: people,
      }),
      ['reassign_merge_request', 'change_reviewer_merge_request'],
    ],
    [notificationEventsOf('merge_request_closed', mergeRequest), ['close_merge_request']],
    [notificationEventsOf('merge_request_reopened', mergeRequest), ['reopen_merge_request']],
    [notificationEventsOf('merge_request_merged', mergeRequest), ['merge_merge_request']],
    [
      notificationEventsOf('merge_request_pushed', { ...mergeRequest, commits: [], count: 0 }),
      ['push_to_merge_request'],
    ],
    [notificationEventsOf('merge_request_auto_merge_set', mergeRequest), ['merge_when_pipeline_succeeds']],
    [
      notificationEventsOf('pipeline_finished', { ...pipeline, status: 'failed', was_failing: true }),
      ['failed_pipeline'],
    ],
    [
      notificationEventsOf('pipeline_finished', { ...pipeline, status: 'success', was_failing: true }),
      ['fixed_pipeline'],
    ],
    [
      notificationEventsOf('pipeline_finished', { ...pipeline, status: 'success', was_failing: false }),
      ['success_pipeline'],
    ],
  ] as const;

  test.each(told)('case %#', (occasions, events) => {
    expect(occasions.map(({ name: event }) => event)).toEqual(events);
  });

  test('each event comes from some fact', () => {
    const given = told.flatMap(([occasions]) => occasions.map(({ name: event }) => event));
    expect(new Set(given)).toEqual(new Set(notificationEvents));
    expect(notificationFactNames).toHaveLength(17);
  });

  test('whom it concerns comes along, and a pipeline has no doer', () => {
    const [reassigned] = notificationEventsOf('issue_updated', { ...issue, changes: { assignees: people } });
    expect(reassigned).toMatchObject({
      actorId: ACTOR,
      projectId: 3,
      subject: { kind: 'issue', id: 5 },
      involved: { assigned: [7], unassigned: [8], reviewing: [] },
    });
    const [, reviewed] = notificationEventsOf('merge_request_updated', {
      ...mergeRequest,
      assignees: people,
      reviewers: people,
    });
    expect(reviewed?.involved).toMatchObject({ assigned: [], reviewing: [7], noLongerReviewing: [8] });
    const [failed] = notificationEventsOf('pipeline_finished', {
      ...pipeline,
      status: 'failed',
      was_failing: false,
    });
    expect(failed).toMatchObject({ actorId: undefined, involved: { owner: 7 } });
  });

  test('a note knows what it is on', () => {
    const on = (
      noteable_type: 'Epic' | 'Commit' | 'Snippet' | 'MergeRequest',
      id: number | null,
      sha?: string,
    ) =>
      notificationEventsOf('note_created', {
        ...note,
        internal: true,
        noteable_type,
        noteable_id: id,
        ...(sha !== undefined && { commit_id: sha }),
      })[0];
    expect(on('Epic', 4)).toMatchObject({ subject: { kind: 'epic', id: 4 }, noteId: 9, internal: true });
    expect(on('Commit', null, 'abc')?.subject).toEqual({ kind: 'commit', sha: 'abc' });
    expect(on('Snippet', 4)?.subject).toEqual({ kind: 'snippet', id: 4 });
    expect(on('MergeRequest', 4)?.subject).toEqual({ kind: 'merge_request', id: 4 });
  });

  test('a fact is what it was made of', () => {
    expect(notificationFact('issue_due', { project_id: 3, issue_id: 5, due_date: '2026-01-02' })).toEqual({
      name: 'issue_due',
      payload: { project_id: 3, issue_id: 5, due_date: '2026-01-02' },
    });
  });
});
