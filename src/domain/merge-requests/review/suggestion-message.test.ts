/** Commits that apply suggestions: what they say, and by whom. */
import { expect, test } from 'vitest';
import {
  type CommitUser,
  type SuggestionCommit,
  suggestionAuthor,
  suggestionMessage,
} from './suggestion-message.ts';

const user = (id: number, username: string): CommitUser => ({
  id,
  username,
  name: `${username.toUpperCase()} %{username}`,
  email: `${username}@example.com`,
});
const [ann, bob, carl] = [user(1, 'ann'), user(2, 'bob'), user(3, 'carl')];
const commit: SuggestionCommit = {
  branch: 'topic',
  project: { name: 'The project', path: 'project' },
  paths: ['b.ts', 'a.ts', 'b.ts'],
  authors: [bob, ann, bob],
  applier: carl,
};
const BOB = 'Co-authored-by: BOB %{username} <bob@example.com>';
const ANN = 'Co-authored-by: ANN %{username} <ann@example.com>';

test.each<[template: string | null | undefined, message: string]>([
  [undefined, `Apply 3 suggestion(s) to 2 file(s)\n\n${BOB}\n${ANN}`],
  [null, `Apply 3 suggestion(s) to 2 file(s)\n\n${BOB}\n${ANN}`],
  [' \n', `Apply 3 suggestion(s) to 2 file(s)\n\n${BOB}\n${ANN}`],
  ['Fixed', 'Fixed'],
  ['%{branch_name}: %{file_paths}\r\n\r\n%{files_count}\r\n', 'topic: a.ts, b.ts\n\n2'],
  ['%{project_name} %{project_path} %{username}', 'The project project carl'],
  ['%{user_full_name}', 'CARL %{username}'],
  ['%{title} %{constructor} %{__proto__} %{username', '%{title} %{constructor} %{__proto__} %{username'],
])('the message of %j', (template, message) => {
  expect(suggestionMessage(template, commit)).toBe(message);
});

test('a user who applies their own is not named again', () => {
  expect(suggestionMessage(undefined, { ...commit, paths: ['a'], authors: [carl] })).toBe(
    'Apply 1 suggestion(s) to 1 file(s)',
  );
});

test('variables make no message very long', () => {
  const message = suggestionMessage('%{branch_name} '.repeat(50_000), {
    ...commit,
    branch: 'x'.repeat(60_000),
  });
  expect(message.slice(59_999, 60_020)).toBe('x %{branch_name} %{br');
});

test.each<[authors: CommitUser[], author: CommitUser]>([
  [[bob, bob], bob],
  [[bob, ann], carl],
  [[carl], carl],
  [[], carl],
])('the author of suggestions by %j', (authors, author) => {
  expect(suggestionAuthor({ authors, applier: carl })).toBe(author);
});
