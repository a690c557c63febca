/** The git program as users run it: a home of its own, no prompts, and its output. */
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { launch, type Program } from '../../src/platform/git/program/spawner.ts';

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

const TIMEOUT_MS = 100_000;
const MAX_OUTPUT_BYTES = 256 * 1_048_576;

/**
 * Starts git in a folder and leaves it running. As the program does, by a small process: a worker of the tests is large, and
 * each fork of it would hold it up.
 */
export const startGit = (folder: string, args: readonly string[]): Promise<Program> =>
  launch('git', ['-C', folder, ...args], environment(folder));

/** Waits for the end of a program; what it wrote, and its exit code, which is 1 where it had to be ended. */
export async function outcomeOf(
  { stdin, stdout, ended, signal }: Program,
  input = '',
): Promise<{ code: number; output: string; complaint: string }> {
  const end = () => signal('SIGTERM');
  const deadline = setTimeout(end, TIMEOUT_MS);
  const output: Buffer[] = [];
  let bytes = 0;
  stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_OUTPUT_BYTES) end();
    else output.push(chunk);
  });
  stdin.end(input);
  const { code, complaint } = await ended;
  clearTimeout(deadline);
  return {
    code: bytes > MAX_OUTPUT_BYTES ? 1 : (code ?? 1),
    output: Buffer.concat(output).toString(),
    complaint,
  };
}

/** Runs git in a folder; its output on both streams, and its exit code. */
export async function runGit(folder: string, args: readonly string[], input?: string): Promise<Ran> {
  const program = await startGit(folder, ['-c', 'init.defaultBranch=main', ...args]);
  const { code, output, complaint } = await outcomeOf(program, input);
  return { code, output: output + complaint };
}

/** The same; throws when git fails. */
export async function mustGit(folder: string, args: readonly string[], input?: string): Promise<string> {
  const { code, output } = await runGit(folder, args, input);
  if (code !== 0) throw new Error(`git ${args.join(' ')} ended with ${code}: ${output}`);
  return output;
}

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
