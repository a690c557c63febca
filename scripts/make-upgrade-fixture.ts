/**
 * Makes the fixture of a release, by that release's own program: `node scripts/make-upgrade-fixture.ts PROGRAM NAME`, where
 * PROGRAM is a folder with the release's sources, installed and built, and NAME a folder of test/releases. The program is
 * started, filled by requests, asked for all that it holds, started again and asked again; what it says alike is kept.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../src/platform/db/database.ts';
import { reachEmbedded, startEmbedded } from '../src/platform/db/embedded/embedded.ts';
import { type Answers, alike, collectAnswers } from '../test/releases/answers.ts';
import { fill, git, ROOT_PASSWORD, ROOT_TOKEN } from '../test/releases/contents.ts';
import { type Said, writeFixture } from '../test/releases/fixture.ts';

const [program, name] = process.argv.slice(2);
if (program === undefined || name === undefined)
  throw new Error('usage: node scripts/make-upgrade-fixture.ts PROGRAM NAME');
const release = resolve(program);
const work = mkdtempSync(join(tmpdir(), 'ashlar-release-'));
const data = join(work, 'data');
const options = { max: 1, statementTimeout: 0, name: 'fixture' };

/** Runs `use` on the release's program, until it has nothing left to do. */
async function running<T>(use: (url: string) => Promise<T>): Promise<T> {
  const child = spawn(process.execPath, [join(release, 'bin', 'ashlar.js'), 'serve'], {
    env: {
      PATH: process.env.PATH,
      ASHLAR_DATA: data,
      ASHLAR_PORT: '0',
      ASHLAR_URL: 'http://ashlar.example',
      ASHLAR_ROOT_TOKEN: ROOT_TOKEN,
      ASHLAR_ROOT_PASSWORD: ROOT_PASSWORD,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-100_000);
  });
  try {
    const address = () => /listening on (http:\S+)\)/.exec(said)?.[1];
    while (address() === undefined && child.exitCode === null) await sleep(50);
    const result = await use(address() ?? '');
    await idle();
    return result;
  } catch (error) {
    process.stderr.write(`${said.slice(-300)}\n`);
    throw error;
  } finally {
    child.kill('SIGTERM');
    await ended;
  }
}

/** Waits until no job and no fact waits, but what is put off. */
async function idle(): Promise<void> {
  const target = await reachEmbedded(data);
  if (!target) throw new Error('no database');
  const sql = connect(target, options);
  try {
    for (;;) {
      const [left] = await sql<{ count: number }[]>`
        select (select count(*) from outbox)
          + (select count(*) from graphile_worker.jobs where run_at < now() + interval '2 s' and attempts = 0) as count`;
      if (left?.count === 0) return;
      await sleep(200);
    }
  } finally {
    await sql.end();
  }
}

try {
  const document = JSON.parse(readFileSync(join(release, 'openapi.json'), 'utf8'));
  const contents = await running(fill);
  const first = await running((url) => collectAnswers(url, ROOT_TOKEN, document));
  const second = await running((url) => collectAnswers(url, ROOT_TOKEN, document));
  const answers: Answers = {};
  for (const [path, answer] of Object.entries(first)) {
    const common = alike(answer, second[path]);
    if (common !== undefined) answers[path] = common;
  }
  const refs = await running(async (url) => {
    const all: Said['refs'] = {};
    for (const path of contents.repositories)
      all[path] = git(work, 'ls-remote', `${url.replace('://', `://root:${ROOT_TOKEN}@`)}/${path}.git`);
    return all;
  });
  const server = await startEmbedded(data);
  const sql = connect(server.connection, options);
  try {
    await writeFixture(name, sql, data, { contents, answers, refs });
  } finally {
    await sql.end();
    await server.stop();
  }
  const size = execFileSync('du', ['-sh', join('test', 'releases', name)], { encoding: 'utf8' });
  process.stdout.write(`${Object.keys(answers).length} answers; ${size}`);
} finally {
  rmSync(work, { recursive: true, force: true });
}
