/** Histories of every shape, made by `git fast-import`, and what git does with them in a checkout. */
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { git, gitEnvironment, gitText } from '../../src/platform/git/program/program.ts';
import { launch } from '../../src/platform/git/program/spawner.ts';
import { outcomeOf } from './git.ts';

/** A file of a commit: its text, or its mode with its text or the id that it points to; null removes it. */
export type File =
  | string
  | { mode: '100755' | '120000'; text: string }
  | { mode: '160000'; oid: string }
  | null;

/** A commit, which the branch of its name points to. */
export type Step = {
  name: string;
  /** Names of earlier steps; of several with one name, the last. */
  parents?: readonly string[];
  /** Old names and new ones, before `files`. */
  moved?: Record<string, string>;
  files?: Record<string, File>;
  message?: string;
  /** `Name <address> seconds zone`. */
  author?: string;
  /** Of the author and the message, whose bytes these are then, as latin1. */
  encoding?: string;
};

/** The stream is bytes as latin1, so that a message may have any encoding. */
const bytes = (text: string): string => Buffer.from(text).toString('latin1');
const data = (text: string): string => `data ${text.length}\n${text}\n`;

function change([path, file]: [string, File]): string {
  if (file === null) return `D ${bytes(path)}\n`;
  if (typeof file === 'string') return `M 100644 inline ${bytes(path)}\n${data(bytes(file))}`;
  if ('oid' in file) return `M ${file.mode} ${file.oid} ${bytes(path)}\n`;
  return `M ${file.mode} inline ${bytes(path)}\n${data(bytes(file.text))}`;
}

/** Makes the commits in a bare repository, a second apart; returns their ids by their names. */
export async function makeHistory(folder: string, steps: readonly Step[]): Promise<Record<string, string>> {
  const marks = new Map<string, number>();
  const parts = steps.map(({ name, parents = [], moved = {}, files = {}, ...rest }, index) => {
    const time = 1_700_000_000 + index;
    const { author = `Ada <ada@example.com> ${time} +0130`, message = name, encoding } = rest;
    const encoded = encoding === undefined ? bytes : (text: string) => text;
    const upon = parents.map((parent, nth) => `${nth === 0 ? 'from' : 'merge'} :${marks.get(parent)}\n`);
    marks.set(name, index + 1);
    return [
      // A commit without a parent begins the branch anew.
      `reset refs/heads/${name}\n\ncommit refs/heads/${name}\nmark :${index + 1}\n`,
      `author ${encoded(author)}\ncommitter Bob <bob@example.com> ${time} +0000\n`,
      encoding === undefined ? '' : `encoding ${encoding}\n`,
      data(encoded(message)),
      ...upon,
      ...Object.entries(moved).map(([from, to]) => `R ${bytes(from)} ${bytes(to)}\n`),
      ...Object.entries(files).map(change),
      '\n',
    ].join('');
  });
  await git(['fast-import', '--quiet', '--force'], { folder, input: Buffer.from(parts.join(''), 'latin1') });
  const format = '--format=%(refname:lstrip=2) %(objectname)';
  const refs = (await gitText(['for-each-ref', format, 'refs/heads/'], { folder })).trim();
  return Object.fromEntries(refs.split('\n').map((line) => line.split(' ')));
}

/** A checkout that shares the repository's objects. */
export type Checkout = {
  /** Runs git; a code other than 0 is no failure. */
  run(...args: string[]): ReturnType<typeof outcomeOf>;
  /** The output of git, trimmed; throws for a code other than 0. */
  text(...args: string[]): Promise<string>;
  remove(): void;
};

/** When checkouts commit, seconds since 1970: what they make has the same id each time. */
export const CHECKOUT_TIME = 1_750_000_000;

const checkoutEnvironment = {
  ...gitEnvironment,
  GIT_AUTHOR_NAME: 'Grace',
  GIT_AUTHOR_EMAIL: 'grace@example.com',
  GIT_COMMITTER_NAME: 'Grace',
  GIT_COMMITTER_EMAIL: 'grace@example.com',
  GIT_COMMITTER_DATE: `${CHECKOUT_TIME} +0000`,
  GIT_EDITOR: 'true',
};

/** A checkout of a commit of the bare repository, without a branch. */
export async function checkOut(folder: string, commit: string): Promise<Checkout> {
  const work = join(dirname(folder), `work-${randomBytes(6).toString('hex')}`);
  const run = async (...args: string[]) =>
    outcomeOf(await launch('git', ['-c', 'core.fsync=none', ...args], checkoutEnvironment));
  const inWork = (...args: string[]) => run('-C', work, ...args);
  const text = async (...args: string[]): Promise<string> => {
    const { code, output, complaint } = await inWork(...args);
    if (code !== 0) throw new Error(`git ${args[0]} ended with ${code}: ${complaint}`);
    return output.trim();
  };
  await run('clone', '--quiet', '--shared', '--no-checkout', folder, work);
  await text('checkout', '--quiet', '--detach', commit);
  return { run: inWork, text, remove: () => rmSync(work, { recursive: true, force: true }) };
}
