/** Danger, which reviews a merge request by a Dangerfile: what it reads, and the comments that it keeps up to date. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { addressOf, commitFiles, mustGit } from '../support/git.ts';
import { soon, useGitbeaker } from './gitbeaker-client.ts';
import { runInstalled } from './programs.ts';
import { makeFolder, ROOT_TOKEN } from './support.ts';

const gitbeaker = useGitbeaker();

/** Writes down what it was given, and says what the merge request asks for. */
const dangerfile = `
const { writeFileSync } = require('node:fs');
const { git, gitlab } = danger;
schedule(async () => {
  const { diff, added } = await git.diffForFile('numbers.txt');
  const words = [...(await git.structuredDiffForFile('numbers.txt')).chunks[0].changes]
    .filter(({ type, content }) => type === 'add' && /[a-z]/.test(content));
  for (const { ln, content } of words) fail('No words here: ' + content.slice(1), 'numbers.txt', ln);
  if (git.deleted_files.length > 0) warn('Files go: ' + git.deleted_files);
  if (gitlab.approvals.approved_by.length === 0) message('Nobody has approved it');
  if (words.length > 0) await gitlab.utils.addLabels('words');
  else await gitlab.utils.removeLabels('words');
  writeFileSync('seen.json', JSON.stringify({
    metadata: gitlab.metadata,
    title: gitlab.mr.title,
    author: gitlab.mr.author.username,
    branches: [gitlab.mr.source_branch, gitlab.mr.target_branch],
    state: gitlab.mr.state,
    commits: gitlab.commits.map(({ title }) => title),
    approvers: gitlab.approvals.approved_by.map(({ user }) => user.username),
    approvals_left: gitlab.approvals.approvals_left,
    files: [git.modified_files, git.created_files, git.deleted_files],
    messages: git.commits.map(({ sha, message, author, parents }) => [sha, message, author.email, parents]),
    lines: await git.linesOfCode(),
    added,
    rules: await gitlab.utils.fileContents('rules.md'),
    missing: await gitlab.utils.fileContents('missing.md'),
    branchesOfProject: (await gitlab.api.Branches.all(gitlab.mr.project_id)).map(({ name }) => name),
  }));
});
`;

const numbers = (fifth: string) => `1\n2\n3\n4\n${fifth}\n6\n7\n8\n`;

type Note = { id: number; type: string | null; body: string };

/** A merge request, from a fork or not, and a bot that reviews it. */
async function makeReviewed(name: string, fifth: string, { forked = false } = {}) {
  const { root } = gitbeaker;
  const home = makeFolder();
  const work = join(home, name);
  const { id } = await root.Projects.create({ name });
  await mustGit(home, ['clone', '-q', addressOf(gitbeaker.url, `root/${name}`, ROOT_TOKEN), work]);
  await mustGit(work, ['checkout', '-q', '-B', 'main']);
  await commitFiles(
    work,
    { 'numbers.txt': numbers('5'), 'rules.md': '# Rules\n', 'old.txt': 'old\n' },
    'First',
  );
  await mustGit(work, ['push', '-q', '-u', 'origin', 'main']);
  const base = (await mustGit(work, ['rev-parse', 'HEAD'])).trim();
  let source = id;
  if (forked) {
    source = (await root.Projects.fork(id, { name: 'fork', path: 'fork' })).id;
    const imported = async () => (await root.Projects.show(source)).import_status;
    await expect.poll(imported, soon).toBe('finished');
    await mustGit(work, ['remote', 'set-url', 'origin', addressOf(gitbeaker.url, 'root/fork', ROOT_TOKEN)]);
  }
  await mustGit(work, ['checkout', '-q', '-b', 'topic']);
  await mustGit(work, ['rm', '-q', 'old.txt']);
  await commitFiles(work, { 'numbers.txt': numbers(fifth), 'new.txt': 'new\n' }, 'Fifth\n\nIt reads better.');
  await mustGit(work, ['push', '-q', 'origin', 'topic']);
  await root.MergeRequests.create(source, 'topic', 'main', 'Topic', { targetProjectId: id });
  const bot = await gitbeaker.makeUser(`${name}-danger`);
  await root.ProjectMembers.add(id, 30, { userId: bot.id });
  writeFileSync(join(home, 'dangerfile.js'), dangerfile);
  const head = async () => (await mustGit(work, ['rev-parse', 'HEAD'])).trim();
  const merge = { id, base, bot, head };
  return {
    ...merge,
    /** As a job of a pipeline runs it: its exit code, and what it read. */
    async review(args: readonly string[] = [], env: Record<string, string> = {}) {
      const { code, output } = await runInstalled(
        'danger',
        'danger/distribution/commands/danger-ci.js',
        args,
        {
          folder: home,
          home,
          env: {
            GITLAB_CI: 'true',
            CI_PROJECT_PATH: `root/${name}`,
            CI_MERGE_REQUEST_IID: '1',
            CI_COMMIT_SHA: await head(),
            DANGER_GITLAB_HOST: gitbeaker.url,
            ...(env.DANGER_GITLAB_API_OAUTH_TOKEN === undefined && { DANGER_GITLAB_API_TOKEN: bot.token }),
            ...env,
          },
        },
      );
      expect(existsSync(join(home, 'seen.json')), output).toBe(true);
      return { code, output, seen: JSON.parse(readFileSync(join(home, 'seen.json'), 'utf8')) };
    },
    async push(files: Record<string, string>, message: string) {
      await commitFiles(work, files, message);
      await mustGit(work, ['push', '-q', 'origin', 'topic']);
      const pushed = await head();
      const sha = async () => (await root.MergeRequests.show(id, 1)).sha;
      await expect.poll(sha, soon).toBe(pushed);
    },
    /** What the bot has said: on the merge request as a whole, and on its lines. */
    async said(): Promise<{ main: Note[]; inline: Note[] }> {
      const notes = await root.MergeRequestNotes.all(id, 1, { sort: 'asc', orderBy: 'created_at' });
      const own = notes.filter(({ author, system }) => author.id === bot.id && !system) as unknown as Note[];
      return {
        main: own.filter(({ type }) => type !== 'DiffNote'),
        inline: own.filter(({ type }) => type === 'DiffNote'),
      };
    },
  };
}

const has = (...texts: string[]) => expect.stringMatching(new RegExp(texts.join('[^]*')));

test('it reads the merge request, comments, and changes and removes its comments', async () => {
  const { root } = gitbeaker;
  const { id, base, head, review, push, said } = await makeReviewed('site', 'five');
  const critic = await gitbeaker.makeUser('critic');
  await root.ProjectMembers.add(id, 30, { userId: critic.id });

  const first = await review(['--failOnErrors']);
  expect(first.code, first.output).toBe(1);
  expect(first.seen).toEqual({
    metadata: { repoSlug: 'root/site', pullRequestID: '1' },
    title: 'Topic',
    author: 'root',
    branches: ['topic', 'main'],
    state: 'opened',
    commits: ['Fifth'],
    approvers: [],
    approvals_left: 0,
    files: [['numbers.txt'], ['new.txt'], ['old.txt']],
    messages: [[await head(), 'Fifth\n\nIt reads better.\n', 'ada@example.com', [base]]],
    lines: 4,
    added: '+five',
    rules: '# Rules\n',
    missing: '',
    branchesOfProject: ['main', 'topic'],
  });
  const then = await said();
  expect(then.main).toMatchObject([
    { type: null, body: has('Files go: old.txt', 'Nobody has approved it'), resolvable: false },
  ]);
  expect(then.inline).toMatchObject([
    {
      body: has('No words here: five'),
      resolvable: true,
      position: { new_path: 'numbers.txt', new_line: 5 },
    },
  ]);
  expect(await root.MergeRequests.show(id, 1)).toMatchObject({ labels: ['words'], user_notes_count: 2 });

  await push({ 'numbers.txt': numbers('cinq') }, 'Other words');
  await critic.api.MergeRequestApprovals.approve(id, 1);
  const second = await review();
  expect(second.code, second.output).toBe(0);
  expect(second.seen).toMatchObject({ commits: ['Other words', 'Fifth'], approvers: ['critic'] });
  const now = await said();
  expect(now.main).toMatchObject([{ id: then.main[0]?.id, body: has('Files go: old.txt') }]);
  expect(now.main[0]?.body).not.toContain('Nobody has approved it');
  // It sends them as a form, whose lines end otherwise than those it looks for: it replaces the one that it has.
  expect(now.inline).toMatchObject([
    { body: has('No words here: cinq'), position: { new_line: 5, head_sha: await head() } },
  ]);

  await push({ 'numbers.txt': numbers('50'), 'old.txt': 'old\n' }, 'Numbers again');
  // The push removed the first approval.
  await critic.api.MergeRequestApprovals.approve(id, 1);
  const third = await review(['--failOnErrors']);
  expect(third.code, third.output).toBe(0);
  expect(await said()).toEqual({ main: [], inline: [] });
  expect(await root.MergeRequests.show(id, 1)).toMatchObject({ labels: [], user_notes_count: 0 });
});

test('from a fork, in threads of its own, as a bearer of a token', async () => {
  const { bot, review, push, said } = await makeReviewed('forked', '50', { forked: true });
  const env = { DANGER_GITLAB_USE_THREADS: 'true', DANGER_GITLAB_API_OAUTH_TOKEN: bot.token };
  const first = await review([], env);
  expect(first.code, first.output).toBe(0);
  expect(first.seen).toMatchObject({
    files: [['numbers.txt'], ['new.txt'], ['old.txt']],
    added: '+50',
    rules: '# Rules\n',
    branchesOfProject: ['main'],
  });
  const then = await said();
  expect(then).toMatchObject({
    main: [{ type: 'DiscussionNote', body: has('Files go: old.txt'), resolvable: true }],
    inline: [],
  });

  await push({ 'old.txt': 'old\n' }, 'Restored');
  const second = await review([], env);
  expect(second.code, second.output).toBe(0);
  const [changed, ...none] = (await said()).main;
  expect(none).toEqual([]);
  expect(changed).toMatchObject({ id: then.main[0]?.id, body: has('Nobody has approved it') });
  expect(changed?.body).not.toContain('Files go');

  const third = await review(['--newComment'], env);
  expect(third.code, third.output).toBe(0);
  expect((await said()).main).toHaveLength(2);
  const fourth = await review(['--removePreviousComments'], env);
  expect(fourth.code, fourth.output).toBe(0);
  const last = await said();
  expect(last.main).toHaveLength(1);
  expect(last.main[0]?.id).toBeGreaterThan(then.main[0]?.id ?? 0);
});
