import { describe, expect, test } from 'vitest';
import { type NotificationEvent, notificationFacts } from '../../src/domain/notifications/events/events.ts';
import { notificationEvents } from '../../src/domain/notifications/settings/levels.ts';
import type { Json } from '../../src/platform/db/rows.ts';
import { useApp } from '../support/app.ts';

const app = useApp();

/** The events of a fact, as its announcer registered them. */
function eventsOf(name: string, payload: Record<string, Json>): NotificationEvent[] {
  const fact = notificationFacts.all(app.app.services).find((each) => each.name === name);
  if (!fact) throw new Error(`no mail follows ${name}`);
  return fact.eventsOf(payload);
}

const ACTOR = 1;

describe('what a fact gives to hear of', () => {
  const people = { added: [{ id: 7, username: 'ada' }], removed: [{ id: 8, username: 'bob' }] };
  const [issue, mergeRequest] = [
    { project_id: 3, user_id: ACTOR, issue_id: 5 },
    { project_id: 3, user_id: ACTOR, merge_request_id: 6 },
  ];
  const note = { note_id: 9, user_id: ACTOR, internal: false };
  const pipeline = { project_id: 3, user_id: 7, pipeline_id: 4 };
  const facts: [string, Record<string, Json>, string[]][] = [
    ['issue_created', issue, ['new_issue']],
    ['issue_updated', issue, []],
    ['issue_updated', { ...issue, changes: { assignees: people } }, ['reassign_issue']],
    ['issue_closed', issue, ['close_issue']],
    ['issue_closed', { ...issue, changes: { assignees: people } }, ['close_issue', 'reassign_issue']],
    ['issue_reopened', issue, ['reopen_issue']],
    [
      'note_created',
      {
        ...note,
        project_id: 3,
        noteable_type: 'Issue',
        noteable_id: 5,
      },
      ['new_note'],
    ],
    ['epic_created', { group_id: 2, user_id: ACTOR, epic_id: 1 }, ['new_epic']],
    ['project_moved', { project_id: 3, from: 'a/b', to: 'c/b' }, ['moved_project']],
    ['release_created', { project_id: 3, user_id: ACTOR, release_id: 1 }, ['new_release']],
    ['merge_request_created', mergeRequest, ['new_merge_request']],
    ['merge_request_approvers_called', { ...mergeRequest, approver_ids: [7] }, ['approver']],
    ['merge_request_updated', mergeRequest, []],
    [
      'merge_request_updated',
      { ...mergeRequest, changes: { assignees: people, reviewers: people } },
      ['reassign_merge_request', 'change_reviewer_merge_request'],
    ],
    ['merge_request_updated', { ...mergeRequest, changes: { title: { from: 'a', to: 'b' } } }, []],
    ['merge_request_closed', mergeRequest, ['close_merge_request']],
    [
      'merge_request_closed',
      { ...mergeRequest, changes: { reviewers: people } },
      ['close_merge_request', 'change_reviewer_merge_request'],
    ],
    ['merge_request_reopened', mergeRequest, ['reopen_merge_request']],
    ['merge_request_merged', mergeRequest, ['merge_merge_request']],
    ['merge_request_reviewed', { ...mergeRequest, note_ids: [9, 10] }, ['new_note']],
    ['merge_request_pushed', { ...mergeRequest, commits: [], count: 0 }, ['push_to_merge_request']],
    ['merge_request_threads_resolved', mergeRequest, ['resolve_all_threads']],
    ['merge_request_approved', mergeRequest, ['approve_merge_request']],
    ['merge_request_unapproved', mergeRequest, ['unapprove_merge_request']],
    ['merge_request_auto_merge_set', mergeRequest, ['merge_when_pipeline_succeeds']],
    ['pipeline_finished', { ...pipeline, status: 'failed', was_failing: true }, ['failed_pipeline']],
    ['pipeline_finished', { ...pipeline, status: 'success', was_failing: true }, ['fixed_pipeline']],
    ['pipeline_finished', { ...pipeline, status: 'success', was_failing: false }, ['success_pipeline']],
  ];

  test.each(facts)('%s %#', (name, payload, events) => {
    expect(eventsOf(name, payload).map((event) => event.name)).toEqual(events);
  });

  test('each event comes from some fact, but for reminders, which the clock sends', () => {
    const given = facts.flatMap(([, , events]) => events);
    expect(new Set([...given, 'issue_due'])).toEqual(new Set(notificationEvents));
    const registered = notificationFacts.all(app.app.services).map(({ name }) => name);
    expect(registered.toSorted()).toEqual([...new Set(facts.map(([name]) => name))].toSorted());
  });

  test('whom it concerns comes along, and a pipeline has no doer', () => {
    const [reassigned] = eventsOf('issue_updated', { ...issue, changes: { assignees: people } });
    expect(reassigned).toMatchObject({
      actorId: ACTOR,
      projectId: 3,
      subject: { kind: 'issue', id: 5 },
      involved: { assigned: [7], unassigned: [8], reviewing: [] },
    });
    const [, reviewed] = eventsOf('merge_request_updated', {
      ...mergeRequest,
      changes: { assignees: people, reviewers: people },
    });
    expect(reviewed?.involved).toMatchObject({ assigned: [], reviewing: [7], noLongerReviewing: [8] });
    const [failed] = eventsOf('pipeline_finished', {
      ...pipeline,
      status: 'failed',
      was_failing: false,
    });
    expect(failed).toMatchObject({ actorId: undefined, involved: { owner: 7 } });
  });

  test('a note knows what it is on', () => {
    const on = (
      noteable_type: 'Epic' | 'MergeRequest' | 'Commit' | 'Snippet' | 'AlertManagement::Alert',
      id: number | null,
      sha?: string,
    ) =>
      eventsOf('note_created', {
        ...note,
        internal: true,
        noteable_type,
        noteable_id: id,
        ...(sha !== undefined && { commit_id: sha }),
      })[0];
    expect(on('Epic', 4)).toMatchObject({ subject: { kind: 'epic', id: 4 }, noteId: 9 });
    expect(on('Commit', null, 'abc')?.subject).toEqual({ kind: 'commit', sha: 'abc' });
    expect(on('MergeRequest', 4)?.subject).toEqual({ kind: 'merge_request', id: 4 });
    expect(on('Snippet', 4)?.subject).toEqual({ kind: 'snippet', id: 4 });
    expect(on('AlertManagement::Alert', 4)?.subject).toEqual({ kind: 'alert', id: 4 });
  });
});
