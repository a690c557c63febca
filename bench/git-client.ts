/** Git as a client of the bench runs it, and projects filled by it. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { projectRepository, repositoryPath } from '../src/domain/repositories/store/containers.ts';
import { git, gitEnvironment, spawnGit } from '../src/platform/git/program/program.ts';
import { type Program, ROOT_TOKEN } from '../test/journeys/support.ts';

/** Runs git as a client does: with protocols, and no configuration. */
export async function client(args: string[], folder?: string): Promise<void> {
  const child = spawn('git', args, {
    cwd: folder,
    env: {
      ...gitEnvironment,
      GIT_CONFIG_COUNT: '3',
      GIT_CONFIG_KEY_0: 'safe.directory',
      GIT_CONFIG_VALUE_0: '*',
      GIT_CONFIG_KEY_1: 'gc.auto',
      GIT_CONFIG_VALUE_1: '0',
      GIT_CONFIG_KEY_2: 'pack.threads',
      GIT_CONFIG_VALUE_2: '1',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString('utf8')).slice(-2_000);
  });
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  if (code !== 0) throw new Error(`git ${args.join(' ')} ended with ${code}: ${said}`);
}

const MEBIBYTE = 1_048_576;

/** A commit of so many files of 1 MB each, which no compression and no delta makes smaller. */
export function* bigStream(files: number): Generator<string | Buffer> {
  let state = 12_345;
  yield 'commit refs/heads/main\ncommitter Ada Lovelace <ada@example.com> 1700000000 +0000\ndata 4\nbig\n\n';
  for (let file = 0; file < files; file++) {
    const content = Buffer.alloc(MEBIBYTE);
    for (let at = 0; at < content.length; at += 4) {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
      content.writeInt32LE(state ^ (state >>> 15), at);
    }
    yield `M 100644 inline big-${file}.bin\ndata ${content.length}\n`;
    yield content;
    yield '\n';
  }
}

/** A bare repository of the stream's commits. */
export async function importHistory(folder: string, stream: Iterable<string | Buffer>): Promise<void> {
  await git(['init', '-q', '--bare', folder]);
  const { stdin, stdout, ended } = await spawnGit(['fast-import', '--quiet'], { folder });
  stdout.resume();
  for (const piece of stream)
    if (!stdin.write(piece)) await new Promise<void>((resolve) => stdin.once('drain', () => resolve()));
  stdin.end();
  const { code } = await ended;
  if (code !== 0) throw new Error(`git fast-import ended with ${code}`);
}

export const withToken = (url: string): string => url.replace('http://', `http://root:${ROOT_TOKEN}@`);

/** A project with the commits of a bare repository; its address for git, and its folder. */
export async function makeProject(program: Program, name: string, source: string) {
  const response = await program.root('POST /projects', { name });
  const { id, path_with_namespace: path } = (await response.json()) as {
    id: number;
    path_with_namespace: string;
  };
  await program.root(`DELETE /projects/${id}/protected_branches/main`);
  const url = `${withToken(program.url)}/${path}.git`;
  await client(['push', '-q', url, 'refs/heads/*:refs/heads/*'], source);
  return { id, url, folder: join(program.data, 'repositories', repositoryPath(projectRepository(id))) };
}

/** Work in so many loops at once until the time is over; its rate per second. */
export async function rate(
  loops: number,
  work: (run: number) => Promise<void>,
  seconds: number,
): Promise<number> {
  const start = performance.now();
  let runs = 0;
  const loop = async () => {
    do await work(runs++);
    while (performance.now() - start < seconds * 1_000);
  };
  await Promise.all(Array.from({ length: loops }, loop));
  return runs / ((performance.now() - start) / 1_000);
}
