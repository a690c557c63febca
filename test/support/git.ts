/** The git program as users run it: a home of its own, no prompts, and its output. */
import { execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export type Ran = { code: number; output: string };

const environment = (home: string): Record<string, string> => ({
  PATH: process.env.PATH ?? '/usr/bin:/bin',
  HOME: home,
  LC_ALL: 'C',
  GIT_TERMINAL_PROMPT: '0',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Ada Lovelace',
  GIT_AUTHOR_EMAIL: 'ada@example.com',
  GIT_COMMITTER_NAME: 'Ada Lovelace',
  GIT_COMMITTER_EMAIL: 'ada@example.com',
});

/** A folder to work in; the caller removes it. */
export const makeHome = (): string => mkdtempSync(join(realpathSync(tmpdir()), 'git-home-'));

/** Runs git in a folder; its output on both streams, and its exit code. */
export function runGit(folder: string, args: readonly string[], input?: string): Promise<Ran> {
  return new Promise((resolve) => {
    const child = execFile(
      'git',
      ['-c', 'init.defaultBranch=main', ...args],
      { cwd: folder, env: environment(folder), maxBuffer: 256 * 1_048_576, timeout: 100_000 },
      (error, stdout, stderr) =>
        resolve({ code: error ? Number(error.code ?? 1) : 0, output: `${stdout}${stderr}` }),
    );
    // Most commands end without reading any.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });
}

/** The same; throws when git fails. */
export async function mustGit(folder: string, args: readonly string[], input?: string): Promise<string> {
  const { code, output } = await runGit(folder, args, input);
  if (code !== 0) throw new Error(`git ${args.join(' ')} ended with ${code}: ${output}`);
  return output;
}

/** Starts git and leaves it running. */
export const startGit = (folder: string, args: readonly string[]) =>
  spawn('git', args, { cwd: folder, env: environment(folder), stdio: 'ignore' });

/** The address of a repository with a name and a password in it. */
export function addressOf(url: string, path: string, password?: string, username = 'oauth2'): string {
  const address = new URL(`/${path}.git`, url);
  if (password !== undefined) {
    address.username = username;
    address.password = password;
  }
  return address.href;
}

/** Writes the files, and commits them. */
export async function commitFiles(
  folder: string,
  files: Readonly<Record<string, string>>,
  message = 'Change',
): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  await mustGit(folder, ['add', '--all']);
  await mustGit(folder, ['commit', '--quiet', '--message', message]);
}
