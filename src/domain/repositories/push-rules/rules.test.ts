/** What push rules refuse. */
import { expect, test } from 'vitest';
import { NO_OBJECT } from '../../../platform/git/names.ts';
import {
  contentsRefusal,
  fileNamePatterns,
  hasPatterns,
  isSignedOff,
  type Judged,
  type JudgedCommit,
  type Meets,
  nameRefusal,
  type PushRule,
  readsCommits,
  readsFiles,
} from './rules.ts';

const none: PushRule = {
  commit_message_regex: null,
  commit_message_negative_regex: null,
  branch_name_regex: null,
  author_email_regex: null,
  file_name_regex: null,
  max_file_size: 0,
  deny_delete_tag: false,
  member_check: false,
  prevent_secrets: false,
  commit_committer_check: false,
  commit_committer_name_check: false,
  reject_unsigned_commits: false,
  reject_non_dco_commits: false,
};

/** The patterns here are such that both engines agree; `(?m)` is a flag in the other syntax. */
const meets: Meets = (pattern, text) =>
  pattern.startsWith('(?m)') ? new RegExp(pattern.slice(4), 'm').test(text) : new RegExp(pattern).test(text);

const oid = 'a'.repeat(40);

test.each<[rule: Partial<PushRule>, ref: string, after: string, refusal: string | undefined]>([
  [{ branch_name_regex: '^feature-' }, 'refs/heads/feature-1', oid, undefined],
  [
    { branch_name_regex: '^feature-' },
    'refs/heads/x',
    oid,
    "Branch name 'x' does not follow the pattern '^feature-'",
  ],
  [{ branch_name_regex: '^feature-' }, 'refs/heads/x', NO_OBJECT, undefined],
  [{ branch_name_regex: '^feature-' }, 'refs/heads/main', oid, undefined],
  [{ branch_name_regex: '^feature-' }, 'refs/tags/x', oid, undefined],
  [{ branch_name_regex: '' }, 'refs/heads/x', oid, undefined],
  [{ deny_delete_tag: true }, 'refs/tags/x', NO_OBJECT, 'You cannot delete a tag'],
  [{ deny_delete_tag: true }, 'refs/tags/x', oid, undefined],
  [{ deny_delete_tag: true }, 'refs/heads/x', NO_OBJECT, undefined],
  [{ deny_delete_tag: true }, 'refs/notes/x', NO_OBJECT, undefined],
])('%j: %s to %s: %s', (rule, ref, after, refusal) => {
  expect(nameRefusal({ ...none, ...rule }, 'main', { ref, before: oid, after }, meets)).toBe(refusal);
});

const commit: JudgedCommit = {
  message: 'Add it\n\nJIRA-1\n',
  author: { name: 'Ada', email: 'ada@example.com' },
  committer: { name: 'Bob', email: 'Bob@example.com' },
  isSigned: false,
  isMade: false,
};
const bob = { name: 'Bob', addresses: new Map([['bob@example.com', true]]) };
const unconfirmed = { name: 'Bob', addresses: new Map([['bob@example.com', false]]) };

test.each<[rule: Partial<PushRule>, given: Partial<Judged>, refusal: string | undefined]>([
  [{}, {}, undefined],
  [{ commit_message_regex: '^JIRA-[0-9]+$' }, {}, undefined],
  [{ commit_message_regex: 'X-1' }, {}, "Commit message does not follow the pattern 'X-1'"],
  [{ commit_message_negative_regex: '^JIRA' }, {}, "Commit message contains the forbidden pattern '^JIRA'"],
  [{ author_email_regex: '@example.com$' }, {}, undefined],
  [{ author_email_regex: '^Bob' }, {}, "Author's email 'ada@example.com' does not follow the pattern '^Bob'"],
  [
    { author_email_regex: '^ada' },
    {},
    "Committer's email 'Bob@example.com' does not follow the pattern '^ada'",
  ],
  [{ commit_committer_check: true }, { pusher: bob }, undefined],
  [
    { commit_committer_check: true },
    { pusher: unconfirmed },
    "Committer's email 'Bob@example.com' is not verified",
  ],
  [
    { commit_committer_check: true },
    {},
    "You cannot push commits for 'Bob@example.com'. You can only push commits if the committer email is one of your own verified emails.",
  ],
  [{ commit_committer_name_check: true }, { pusher: bob }, undefined],
  [
    { commit_committer_name_check: true },
    { pusher: { ...bob, name: 'bob' } },
    'Your git username is inconsistent with the name of your account',
  ],
  [{ reject_unsigned_commits: true }, {}, 'Commit must be signed'],
  [{ reject_unsigned_commits: true }, { commits: [{ ...commit, isSigned: true }] }, undefined],
  [{ reject_unsigned_commits: true }, { commits: [{ ...commit, isMade: true }] }, undefined],
  [{ reject_non_dco_commits: true }, {}, 'Commit message must contain a DCO signoff'],
  [{ reject_non_dco_commits: true }, { commits: [{ ...commit, isMade: true }] }, undefined],
  [{ member_check: true }, {}, "Author 'ada@example.com' is not a member of team"],
  [
    { member_check: true },
    { known: new Set(['ada@example.com']) },
    "Committer 'Bob@example.com' is not a member of team",
  ],
  [{ member_check: true }, { known: new Set(['ada@example.com', 'bob@example.com']) }, undefined],
  [
    { file_name_regex: 'jar$' },
    { newPaths: ['a', 'lib/x.jar'] },
    'File name lib/x.jar was prohibited by the pattern "jar$"',
  ],
  [{ file_name_regex: '' }, { newPaths: ['a'] }, undefined],
  [
    { commit_message_regex: 'JIRA' },
    { commits: [commit, { ...commit, message: 'no' }] },
    "Commit message does not follow the pattern 'JIRA'",
  ],
])('%j of %j: %s', (rule, given, refusal) => {
  const judged = { rule: { ...none, ...rule }, commits: [commit], known: new Set<string>(), newPaths: [] };
  expect(contentsRefusal({ pusher: undefined, ...judged, ...given }, meets)).toBe(refusal);
});

test.each([
  ['aws/credentials', true],
  ['x/.aws/credentials', true],
  ['.ssh/personal_rsa', true],
  ['config/server_ed25519', true],
  ['id_rsa', true],
  ['x/id_ecdsa', true],
  ['id_rsa.pub', false],
  ['private.pem', true],
  ['secret.key', true],
  ['keys.ts', false],
  ['.bash_history', true],
  ['x.history', true],
  ['history', false],
])('%s has secrets: %s', (path, isSecret) => {
  const patterns = fileNamePatterns({ ...none, prevent_secrets: true });
  expect(patterns.some((pattern) => meets(pattern, path))).toBe(isSecret);
});

test.each([
  ['x\n\nSigned-off-by: Ada <ada@example.com>', true],
  ['x\n Signed-off-by: A <a@b>\n', true],
  ['Signed-off-by: <ada@example.com>', true],
  ['Signed-off-by:<ada@example.com>', false],
  ['Signed-off-by: Ada ada@example.com', false],
  ['Signed-off-by: Ada <@>', false],
  ['Signed-off-by: Ada <a@>', false],
  ['Signed-off-by: Ada\n<ada@example.com>', false],
  ['signed-off-by: Ada <ada@example.com>', false],
])('%j is signed off: %s', (message, expected) => expect(isSignedOff(message)).toBe(expected));

test.each<[rule: Partial<PushRule>, commits: boolean, files: boolean, patterns: boolean]>([
  [{}, false, false, false],
  [{ branch_name_regex: 'x', deny_delete_tag: true }, false, false, false],
  [{ commit_message_regex: 'x' }, true, false, true],
  [{ member_check: true }, true, false, false],
  [{ reject_unsigned_commits: true }, true, false, false],
  [{ max_file_size: 1 }, false, true, false],
  [{ prevent_secrets: true }, false, true, true],
])('%j reads commits: %s, files: %s, and runs patterns: %s', (given, commits, files, patterns) => {
  const rule = { ...none, ...given };
  expect([readsCommits(rule), readsFiles(rule), hasPatterns(rule)]).toEqual([commits, files, patterns]);
});
