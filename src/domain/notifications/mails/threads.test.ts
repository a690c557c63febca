import { describe, expect, test } from 'vitest';
import {
  type Happening,
  happenings,
  inputOf,
  notedOf,
  notedSubjects,
  SITE,
} from '../../../../test/support/sample-mails.ts';
import { composeMail } from './mail.ts';
import { isFollowing, threadHeaders } from './threads.ts';

const of = (event: Happening['event']): Happening => {
  const found = happenings.find((each) => each.event === event);
  if (!found) throw new Error(event);
  return found;
};
const headersOf = (event: Happening['event'], rest = {}): Record<string, string> =>
  composeMail(inputOf(of(event), rest)).headers;

describe('threads', () => {
  test.each<[Happening['event'], string, string | undefined]>([
    ['new_issue', 'issue-12-7', undefined],
    ['new_epic', 'epic-5-7', undefined],
    ['new_merge_request', 'merge_request-31-7', undefined],
    ['approver', 'merge_request-31-7', undefined],
    ['new_release', 'release-8-7', undefined],
    ['new_note', 'fact-900-new_note-7', '<issue-12-7@ashlar.example>'],
    ['close_issue', 'fact-900-close_issue-7', '<issue-12-7@ashlar.example>'],
    ['issue_due', 'fact-900-issue_due-7', '<issue-12-7@ashlar.example>'],
    ['merge_merge_request', 'fact-900-merge_merge_request-7', '<merge_request-31-7@ashlar.example>'],
    ['failed_pipeline', 'fact-900-failed_pipeline-7', undefined],
    ['moved_project', 'fact-900-moved_project-7', undefined],
  ])('%s is %s', (event, id, reference) => {
    const expected = reference === undefined ? {} : { 'In-Reply-To': reference, References: reference };
    expect(threadHeaders(inputOf(of(event)))).toEqual({ id, headers: expected });
    expect(isFollowing(of(event))).toBe(reference !== undefined);
  });

  test('what follows refers to the mail that the same person got first', () => {
    const recipient = { id: 8, language: 'en', timezone: null };
    const { id } = composeMail(inputOf(of('new_issue'), { recipient }));
    const later = composeMail(inputOf(of('close_issue'), { recipient }));
    expect(later.headers).toMatchObject({ References: `<${id}@ashlar.example>` });
  });

  test('a commit is a thread of its own', () => {
    const contents = notedSubjects.find(({ target }) => target.kind === 'commit');
    if (!contents) throw new Error('none');
    const { headers } = threadHeaders(inputOf(notedOf(contents)));
    expect(headers).toMatchObject({
      References: '<commit-0123456789abcdef0123456789abcdef01234567-7@ashlar.example>',
    });
  });

  test('no two mails to different people, or of different occasions, have one name', () => {
    const mails = happenings.flatMap((happening) =>
      [7, 8].flatMap((id) =>
        ['fact-1', 'fact-2'].map((occasion) => ({
          first: !isFollowing(happening),
          id: threadHeaders(
            inputOf(happening, { name: occasion, recipient: { id, language: 'en', timezone: null } }),
          ).id,
        })),
      ),
    );
    const following = mails.filter(({ first }) => !first).map(({ id }) => id);
    expect(new Set(following).size).toBe(following.length);
    for (const { id } of mails) expect(id).toMatch(/^[\w.-]{1,200}$/);
  });
});

describe('headers', () => {
  test('of an issue, under both names', () => {
    expect(headersOf('close_issue', { reason: 'assigned' })).toMatchObject({
      'X-Ashlar-Project': 'Engine',
      'X-GitLab-Project': 'Engine',
      'X-GitLab-Project-Id': '3',
      'X-GitLab-Project-Path': 'fleet/engine',
      'X-Ashlar-Issue-ID': '12',
      'X-GitLab-Issue-ID': '12',
      'X-GitLab-Issue-IID': '4',
      'X-GitLab-Issue-State': 'closed',
      'X-GitLab-ConfidentialIssue': 'false',
      'X-Ashlar-NotificationReason': 'assigned',
      'X-GitLab-NotificationReason': 'assigned',
    });
  });

  test.each<[Happening['event'], Record<string, string>]>([
    ['new_epic', { 'X-GitLab-Group-Id': '2', 'X-GitLab-Group-Path': 'fleet', 'X-GitLab-Epic-ID': '5' }],
    ['merge_merge_request', { 'X-GitLab-MergeRequest-ID': '31', 'X-GitLab-MergeRequest-State': 'merged' }],
    ['failed_pipeline', { 'X-GitLab-Pipeline-Id': '77', 'X-GitLab-Pipeline-Ref': 'main' }],
    ['new_release', { 'X-GitLab-Release-ID': '8' }],
    ['new_note', { 'X-GitLab-Discussion-ID': 'abc123', 'X-Ashlar-Discussion-ID': 'abc123' }],
  ])('of %s', (event, expected) => {
    expect(headersOf(event)).toMatchObject(expected);
  });

  test('an epic is of no project, and a reason that clients do not know has our name only', () => {
    const headers = headersOf('new_epic', { reason: 'watching' });
    expect(Object.keys(headers).filter((name) => name.includes('Project'))).toEqual([]);
    expect(headers).toMatchObject({ 'X-Ashlar-NotificationReason': 'watching' });
    expect(headers).not.toHaveProperty('X-GitLab-NotificationReason');
  });

  test('the list, and one click to leave it', () => {
    expect(headersOf('new_issue')).toMatchObject({
      'List-Id': 'fleet/engine <3.engine.fleet.ashlar.example>',
      'List-Unsubscribe': `<${SITE}/-/unsubscribe/abc>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    });
    const { place } = inputOf(of('new_issue'));
    const deep = { ...place, fullPath: Array.from({ length: 20 }, () => 'x'.repeat(255)).join('/') };
    expect(headersOf('new_issue', { place: deep })['List-Id']).toBe('<project-3.ashlar.example>');
    expect(headersOf('moved_project', { unsubscribeUrl: undefined })).not.toHaveProperty('List-Unsubscribe');
  });
});
