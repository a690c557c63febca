import { describe, expect, test } from 'vitest';
import {
  bodyOf,
  type Happening,
  happenings,
  inputOf,
  issueHappening,
  notedOf,
  notedSubjects,
  SITE,
  sampleIssue,
} from '../../../../test/support/sample-mails.ts';
import { reasons } from '../events/events.ts';
import { dayIn } from '../events/mail-contents.ts';
import { mailTexts } from '../events/mail-texts.ts';
import { notificationEvents } from '../settings/levels.ts';
import { composeMail } from './mail.ts';
import { timeIn } from './times.ts';

const named = happenings.map((happening) => ({ event: happening.event, happening }));
const of = (event: Happening['event']): Happening => {
  const found = happenings.find((each) => each.event === event);
  if (!found) throw new Error(event);
  return found;
};
const linksOf = (page: string): string[] =>
  [...page.matchAll(/\s(?:href|src)="([^"]*)"/g)].map(([, url = '']) => url);

describe('each letter', () => {
  test('there is one for each event', () => {
    expect(happenings.map(({ event }) => event).toSorted()).toEqual(notificationEvents.toSorted());
  });

  const subjects: Record<Happening['event'], [string, string]> = {
    new_release: ['Engine | New release: Spring (v1.2.0)', 'Ada Lovelace published a release'],
    new_note: ['Re: Engine | The engine stops after ten minutes (#4)', 'Ada Lovelace commented on an issue'],
    new_issue: ['Engine | The engine stops after ten minutes (#4)', 'Ada Lovelace opened an issue'],
    reopen_issue: ['Re: Engine | The engine stops after ten minutes (#4)', 'Ada Lovelace reopened an issue'],
    close_issue: ['Re: Engine | The engine stops after ten minutes (#4)', 'Ada Lovelace closed an issue'],
    reassign_issue: [
      'Re: Engine | The engine stops after ten minutes (#4)',
      'Ada Lovelace reassigned an issue',
    ],
    issue_due: ['Re: Engine | The engine stops after ten minutes (#4)', 'An issue is due tomorrow'],
    new_merge_request: ['Engine | Cool the engine (!9)', 'Ada Lovelace opened a merge request'],
    push_to_merge_request: ['Re: Engine | Cool the engine (!9)', 'Ada Lovelace pushed to a merge request'],
    reopen_merge_request: ['Re: Engine | Cool the engine (!9)', 'Ada Lovelace reopened a merge request'],
    close_merge_request: ['Re: Engine | Cool the engine (!9)', 'Ada Lovelace closed a merge request'],
    reassign_merge_request: ['Re: Engine | Cool the engine (!9)', 'Ada Lovelace reassigned a merge request'],
    change_reviewer_merge_request: [
      'Re: Engine | Cool the engine (!9)',
      'Ada Lovelace changed who reviews a merge request',
    ],
    merge_merge_request: ['Re: Engine | Cool the engine (!9)', 'Ada Lovelace merged a merge request'],
    failed_pipeline: ['Engine | Failed pipeline for main (01234567)', 'A pipeline of yours failed'],
    fixed_pipeline: ['Engine | Fixed pipeline for main (01234567)', 'A pipeline of yours works again'],
    success_pipeline: ['Engine | Successful pipeline for main (01234567)', 'A pipeline of yours succeeded'],
    moved_project: ['Engine | Project was moved', 'A project has moved'],
    merge_when_pipeline_succeeds: [
      'Re: Engine | Cool the engine (!9)',
      'Ada Lovelace set a merge request to be merged as soon as its checks pass',
    ],
    new_epic: ['Fleet | Across the ocean (&2)', 'Ada Lovelace opened an epic'],
    approver: ['Engine | Cool the engine (!9)', 'Ada Lovelace opened a merge request that you can approve'],
    approve_merge_request: ['Re: Engine | Cool the engine (!9)', 'Ada Lovelace approved a merge request'],
    unapprove_merge_request: [
      'Re: Engine | Cool the engine (!9)',
      'Ada Lovelace took back the approval of a merge request',
    ],
    resolve_all_threads: [
      'Re: Engine | Cool the engine (!9)',
      'Ada Lovelace resolved all threads of a merge request',
    ],
  };

  test.each(named)('$event: subject and sentence', ({ event, happening }) => {
    const mail = composeMail(inputOf(happening));
    const [subject, headline] = subjects[event];
    expect(mail.subject).toBe(subject);
    expect(mail.language).toBe('en');
    for (const part of [mail.text, mail.html]) expect(part).toContain(headline);
  });

  test.each(named)('$event: both parts lead to the thing, the settings and out of it', ({ happening }) => {
    const input = inputOf(happening);
    const mail = composeMail(input);
    const { fullName } = input.place;
    const { url } = happening.note ?? happening.target;
    const links = [url, `${SITE}/-/unsubscribe/abc`, `${SITE}/-/profile/notifications`];
    expect(mail.text.split('\n')).toEqual(expect.arrayContaining(links));
    expect(linksOf(mail.html)).toEqual(expect.arrayContaining(links));
    for (const link of linksOf(mail.html)) expect(link).toMatch(/^https:\/\//);
    for (const part of [mail.text, mail.html]) {
      expect(part).toContain(`because you watch ${fullName}.`);
      expect(part).toContain('Thursday, 4 March 2027 at 23:30 CET');
      expect(part).not.toMatch(/undefined|null|\[object/);
    }
  });

  test.each(named)('$event: in German', ({ event, happening }) => {
    const recipient = { id: 7, language: 'de', timezone: 'America/New_York' };
    const mail = composeMail(inputOf(happening, { recipient }));
    expect(mail.language).toBe('de');
    expect(mail.html).toContain('<html lang="de">');
    for (const part of [mail.text, mail.html]) {
      expect(part).toContain('Donnerstag, 4. März 2027 um 17:30');
      expect(part).toContain('Sie erhalten diese Mail, weil Sie Fleet');
      expect(part).not.toContain(subjects[event][1]);
      expect(part).not.toMatch(/You get|View the|Sent by/);
    }
  });

  test.each(notedSubjects.map((contents) => [contents.target.kind, contents] as const))(
    'a note on: %s',
    (kind, contents) => {
      const mail = composeMail(inputOf(notedOf(contents, { reply: true })));
      expect(mail.text).toContain(
        `Ada Lovelace replied on a${/^[ie]/.test(kind) ? 'n' : ''} ${kind.replace('_', ' ')}:`,
      );
      expect(mail.subject).toMatch(/^Re: (Engine|Fleet) \| .+ \([#&!$]?\w+\)$/);
      expect(mail.text).toContain('Have a look, @grace');
      expect(mail.headers).toMatchObject({ 'X-GitLab-Discussion-ID': 'abc123' });
    },
  );

  test.each(reasons)('says why: %s', (reason) => {
    const mails = ['en', 'de'].map((language) =>
      composeMail(inputOf(of('new_issue'), { reason, recipient: { id: 7, language, timezone: null } })),
    );
    const whys = mails.map(({ text }) => /^-- \n(.+)$/m.exec(text)?.[1] ?? '');
    expect(whys[0]).toMatch(/^You get this mail because .+\.$/);
    expect(whys[1]).toMatch(/^Sie erhalten diese Mail, weil .+\.$/);
  });
});

describe('what a mail tells', () => {
  const text = (happening: Happening): string => composeMail(inputOf(happening)).text;
  test.each<[Happening['event'], string[]]>([
    [
      'new_issue',
      [
        'Assigned to: Grace Hopper',
        'Labels: bug, priority::high',
        'Milestone: Spring',
        'Due: Friday, 5 March 2027',
      ],
    ],
    ['issue_due', ['Due: Friday, 5 March 2027', 'Assigned to: Grace Hopper']],
    ['reassign_issue', ['Assigned to: Grace Hopper → Ada Lovelace, Alan Turing']],
    ['reassign_merge_request', ['Assigned to: Grace Hopper → Ada Lovelace, Alan Turing']],
    ['change_reviewer_merge_request', ['Reviewers: nobody → Ada Lovelace']],
    [
      'new_merge_request',
      ['Branches: cooler → main', 'Assigned to: Ada Lovelace', 'Reviewers: Grace Hopper'],
    ],
    ['approver', ['Branches: cooler → main']],
    ['push_to_merge_request', ['25 new commits:', '* 01234567 Add a fan', 'and 23 more']],
    ['failed_pipeline', ['Branch: main', 'Commit: 01234567 Add a fan', 'Failed jobs:', '* test: unit']],
    ['new_release', ['Tag: v1.2.0']],
    [
      'moved_project',
      ['Before: harbour/engine', 'Now: fleet/engine', `Clone from: ${SITE}/fleet/engine.git`],
    ],
    ['new_epic', ['This is confidential: not everybody sees it.', 'Starts: Monday, 1 March 2027']],
  ])('%s', (event, lines) => {
    expect(text(of(event)).split('\n')).toEqual(expect.arrayContaining(lines));
  });

  test('what is not there is not told', () => {
    const bare = { ...sampleIssue, assignees: [], labels: [], milestone: null, dueDate: null };
    const mail = text(issueHappening('new_issue', bare));
    expect(mail).not.toMatch(/^(Assigned to|Labels|Milestone|Due):/m);
    expect(text(of('close_issue'))).not.toMatch(/^(Assigned to|Labels):/m);
    expect(text(of('fixed_pipeline'))).not.toContain('Failed jobs');
    const unnamed = composeMail(inputOf(of('new_issue'), { actor: undefined, unsubscribeUrl: undefined }));
    expect(unnamed.text).toContain('Somebody opened an issue:');
    expect(unnamed.text).not.toContain('No more mails');
  });

  test('a note for the team says so, and a long one that it goes on', () => {
    const [contents] = notedSubjects;
    if (!contents) throw new Error('none');
    const noted = notedOf(contents, { internal: true });
    const mail = composeMail(inputOf({ ...noted, body: bodyOf('Long', '<p>Long</p>', true) }));
    for (const part of [mail.text, mail.html]) {
      expect(part).toContain('An internal note: only the team reads it.');
      expect(part).toContain('This is the beginning of a long text.');
    }
  });

  test('what people call themselves and others stays text, and one line of it', () => {
    const rude = '<img src=x onerror=alert(1)>\n\nPay here: https://evil.example';
    const issue = { ...sampleIssue, title: rude };
    const happening = issueHappening('reassign_issue', issue, { from: [rude], to: [] });
    const mail = composeMail(inputOf(happening, { actor: { name: rude, username: 'x' } }));
    expect(mail.html).not.toContain('<img');
    expect(mail.html).toContain('&lt;img src=x onerror=alert(1)&gt;');
    expect(mail.text).not.toMatch(/^Pay here/m);
    expect(mail.subject).not.toContain('\n');
  });

  test('nor do they steer the terminal in which it is read, or turn the mail around', () => {
    const rude = 'a\u001b[2Jb\u202ec\u0007d';
    const happening = issueHappening('close_issue', { ...sampleIssue, title: rude });
    const mail = composeMail(inputOf(happening, { actor: { name: rude, username: 'x' } }));
    expect(mail.text).toContain('a [2Jb c d closed an issue:\na [2Jb c d (#4)');
    for (const mark of ['\u0007', '\u001b', '\u202e']) expect(mail.text).not.toContain(mark);
  });
});

describe('words and times', () => {
  test.each([
    ['en', 'en'],
    ['de', 'de'],
    ['de_AT', 'de'],
    ['DE-ch', 'de'],
    ['pt_BR', 'en'],
    ['', 'en'],
    ['constructor', 'en'],
  ])('whoever reads %j gets %s', (language, expected) => {
    expect(mailTexts(language).language).toBe(expected);
  });

  test.each([
    [null, 'Wednesday, 30 December 2026 at 23:30 UTC'],
    ['Asia/Tokyo', 'Thursday, 31 December 2026 at 08:30 GMT+9'],
    ['No/Where', 'Wednesday, 30 December 2026 at 23:30 UTC'],
  ])('in the zone %s', (timezone, expected) => {
    const recipient = { id: 1, language: 'en', timezone };
    expect(timeIn(mailTexts('en'), new Date('2026-12-30T23:30:00Z'), recipient)).toBe(expected);
  });

  test('a day is the same everywhere', () => {
    expect(dayIn(mailTexts('en'), '2027-01-01')).toBe('Friday, 1 January 2027');
    expect(dayIn(mailTexts('de'), '2027-01-01')).toBe('Freitag, 1. Januar 2027');
  });
});
