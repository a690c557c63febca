/** The git program on the started program: everyday work, and no remains of it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addressOf, commitFiles, mustGit, runGit, startGit } from '../support/git.ts';
import { cleanUp, makeFolder, type Program, ROOT_TOKEN, startProgram } from './support.ts';

let program: Program;
let home = '';
beforeAll(async () => {
  program = await startProgram();
  home = makeFolder();
});
afterAll(() => cleanUp());

let made = 0;
async function makeProject(): Promise<string> {
  made += 1;
  const response = await program.root('POST /projects', { name: `p${made}`, path: `p${made}` });
  expect(response.status).toBe(201);
  return addressOf(program.url, `root/p${made}`, ROOT_TOKEN);
}

/** Processes of git that work in the program's folder. */
function gitProcesses(): string[] {
  return readdirSync('/proc').flatMap((name) => {
    try {
      const line = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
      return line.includes(program.data) && /upload-pack|receive-pack|index-pack/.test(line) ? [line] : [];
    } catch {
      return [];
    }
  });
}

test('clone, push, fetch, tags, shallow and partial clones, a forced push', async () => {
  const address = await makeProject();
  const work = join(home, 'work');
  await mustGit(home, ['clone', '-q', address, work]);
  await mustGit(work, ['checkout', '-q', '-B', 'main']);
  await commitFiles(work, { 'README.md': 'Hello\n', 'src/a.ts': 'export {};\n' }, 'First');
  await commitFiles(work, { 'src/b.ts': 'export {};\n' }, 'Second');
  await mustGit(work, ['tag', '-a', 'v1.0', '-m', 'One']);
  await mustGit(work, ['push', '-q', '--follow-tags', '-u', 'origin', 'main']);

  const other = join(home, 'other');
  await mustGit(home, ['clone', '-q', address, other]);
  expect(await mustGit(other, ['describe'])).toBe('v1.0\n');
  await mustGit(other, ['checkout', '-q', '-b', 'feature/one']);
  await commitFiles(other, { 'c.txt': 'c\n' }, 'Third');
  await mustGit(other, ['push', '-q', 'origin', 'feature/one']);
  await mustGit(work, ['fetch', '-q']);
  expect(await mustGit(work, ['log', '-1', '--format=%s', 'origin/feature/one'])).toBe('Third\n');

  const shallow = join(home, 'shallow');
  await mustGit(home, ['clone', '-q', '--depth=1', '--branch=main', address, shallow]);
  expect(await mustGit(shallow, ['rev-list', '--count', 'HEAD'])).toBe('1\n');
  const partial = join(home, 'partial');
  await mustGit(home, ['clone', '-q', '--filter=blob:none', address, partial]);
  expect(await mustGit(partial, ['show', 'HEAD:README.md'])).toBe('Hello\n');

  await mustGit(work, ['commit', '-q', '--amend', '-m', 'Rewritten']);
  const forced = await runGit(work, ['push', '--force', 'origin', 'main']);
  expect(forced.code).not.toBe(0);
  expect(forced.output).toContain('remote: You are not allowed to force push code to a protected branch');
  await mustGit(other, ['push', '-q', 'origin', ':feature/one']);

  const branches = await (await program.root(`GET /projects/${made}`)).json();
  expect(branches).toMatchObject({ default_branch: 'main', empty_repo: false });
  expect((await runGit(home, ['ls-remote', addressOf(program.url, 'root/p1')])).code).not.toBe(0);
});

test('the end of the program ends what it started', async () => {
  const address = await makeProject();
  const work = join(home, 'large');
  await mustGit(home, ['clone', '-q', address, work]);
  const noise = Array.from({ length: 400_000 }, () => Math.random().toString(36)).join('\n');
  await commitFiles(work, { 'noise.txt': noise });
  await mustGit(work, ['push', '-q', 'origin', 'HEAD:refs/heads/main']);
  // A client that stops reading keeps the other side waiting.
  const clone = await startGit(home, ['clone', '-q', address, join(home, 'stopped')]);
  for (let tries = 0; tries < 500 && gitProcesses().length === 0; tries += 1) await sleep(5);
  clone.signal('SIGSTOP');
  expect((await program.stop()).code).toBe(0);
  clone.signal('SIGKILL');
  expect(gitProcesses()).toEqual([]);
});
