/**
 * The figures of backup and restore, beside those of pg_dump, pg_restore, tar and zstd on the same data; and what the server's
 * clients notice meanwhile. BENCH_BACKUP is the part of the size, for trying it out.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../src/platform/db/database.ts';
import { startDebians } from '../test/journeys/debians-postgres.ts';
import { launcher, makeFolder, type Program, startProgram } from '../test/journeys/support.ts';
import { withoutIndexes } from './database.ts';
import { bigStream, importHistory, makeProject } from './git-client.ts';
import { percentile } from './measure.ts';
import { memoryOf, workDone } from './processes.ts';
import { atMost, type Figure, merely, ratioOf } from './table.ts';

const PART = Number(process.env.BENCH_BACKUP || 1);
const PROJECTS = Math.ceil(50 * PART);
const MEGABYTES_EACH = 100;
/** Issues, and as many comments. */
const ISSUES = Math.ceil(1_000_000 * PART);
/** Of each kind of request, so that the 99th percentile is one of many. */
const QUIET_MS = 60_000 * Math.max(PART, 0.2);

/** Rows whose text is half words, half what compression cannot foresee. */
async function fillDatabase(url: string): Promise<void> {
  const sql = connect(url, { max: 1, statementTimeout: 0, name: 'bench' });
  const words = 'The gate of the northern wall does not close when it rains ';
  await sql`set synchronous_commit = off`;
  await sql`alter table issues disable trigger user`;
  await sql`alter table notes disable trigger user`;
  await withoutIndexes(
    sql,
    'issues',
    () => sql`
      insert into issues (iid, project_id, author_id, title, description, relative_position, created_at, updated_at)
      select 1 + i / ${PROJECTS}, (select min(id) from projects) + i % ${PROJECTS}, (select id from users where username = 'root'),
        'Issue ' || i, ${words} || md5(i::text) || md5((-i)::text), i, t, t
      from (select i, timestamptz '2020-01-01' + i * interval '1 second' as t
        from generate_series(0, ${ISSUES - 1}::integer) i) made`,
  );
  await withoutIndexes(
    sql,
    'notes',
    () => sql`
      insert into notes (project_id, issue_id, author_id, body, discussion_id, created_at, updated_at)
      select project_id, id, author_id, ${words} || md5(id::text), encode(sha256(id::text::bytea), 'hex')::varchar(40), created_at, created_at
      from issues`,
  );
  await sql`alter table issues enable trigger user`;
  await sql`alter table notes enable trigger user`;
  await sql`
    insert into project_counters (project_id, issues, open_issues)
    select project_id, max(iid), count(*) from issues group by project_id
    on conflict (project_id) do update set issues = excluded.issues, open_issues = excluded.open_issues`;
  await sql`vacuum analyze`;
  await sql`checkpoint`;
  await sql.end({ timeout: 5 });
}

type Run = { seconds: number; memory: number };

/** Seconds of a command to its end, and the most memory of its processes in MB; throws with what it says where it fails. */
async function run(program: string, args: string[], env: Record<string, string> = {}): Promise<Run> {
  const begin = performance.now();
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(program, args, { env: { PATH, HOME, ...env }, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-10_000);
  });
  let memory = 0;
  const watching = setInterval(() => {
    if (child.pid !== undefined) memory = Math.max(memory, memoryOf(child.pid));
  }, 250);
  const code = await new Promise((resolve) => child.on('close', resolve));
  clearInterval(watching);
  const seconds = (performance.now() - begin) / 1_000;
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}: ${said}`);
  process.stderr.write(`${args.join(' ')}: ${seconds.toFixed(1)} s\n`);
  return { seconds, memory };
}

/** Neither side waits for what others have not yet written to the disk. */
const settleDisk = () => run('sync', []);

/** All of a pipe has to end well. */
const shell = (command: string, env: Record<string, string> = {}) =>
  run('bash', ['-c', `set -o pipefail; ${command}`], env);

const ashlar = (args: string[], data: string, url: string) =>
  run(process.execPath, [launcher, ...args], { ASHLAR_DATA: data, DATABASE_URL: url });

const speed = (what: string, own: number, baseline: number, other: string): Figure => ({
  what,
  value: `${own.toFixed(1)} s`,
  baseline: `${baseline.toFixed(1)} s (${other})`,
  result: `${((baseline / own) * 100).toFixed(0)} %`,
  target: '≥ 60 %',
  met: baseline / own >= 0.6,
});

/** Requests that are sent by turns, one after the other. */
const requestsTo = (project: number, issue: number) => [
  { what: 'a list of issues', request: `GET /projects/${project}/issues?per_page=20` },
  {
    what: 'a list of files',
    request: `GET /projects/${project}/repository/tree?ref=main`,
  },
  {
    what: 'a new comment',
    request: `POST /projects/${project}/issues/${issue}/notes`,
    body: { body: 'It closes again.' },
  },
];

/** Milliseconds of each kind of request until the work is done. */
async function timesUntil(
  program: Program,
  requests: ReturnType<typeof requestsTo>,
  work: Promise<unknown>,
): Promise<number[][]> {
  let isDone = false;
  const ended = work.finally(() => {
    isDone = true;
  });
  const times: number[][] = requests.map(() => []);
  while (!isDone)
    for (const [kind, { request, body }] of requests.entries()) {
      const begin = performance.now();
      const response = await program.root(request, body);
      await response.arrayBuffer();
      if (!response.ok) throw new Error(`${request}: ${response.status}`);
      times[kind]?.push(performance.now() - begin);
      await sleep(5);
    }
  await ended;
  return times;
}

/** What clients notice of a backup, in the milliseconds that 99 of 100 requests stay below. */
async function measureOthers(program: Program, project: number, backup: () => Promise<Run>) {
  const requests = requestsTo(project, 1);
  await timesUntil(program, requests, sleep(5_000));
  const quiet = await timesUntil(program, requests, sleep(QUIET_MS));
  const before = memoryOf(program.pid);
  let most = before;
  const watching = setInterval(() => {
    most = Math.max(most, memoryOf(program.pid));
  }, 250);
  const during = await timesUntil(program, requests, backup());
  clearInterval(watching);
  const figures = requests.map(({ what }, kind): Figure => {
    const [own, other] = [percentile(during[kind] ?? [], 0.99), percentile(quiet[kind] ?? [], 0.99)];
    const value = `${own.toFixed(1)} ms`;
    return ratioOf(`p99 of ${what} during a backup`, value, `${other.toFixed(1)} ms (quiet)`, own / other, 2);
  });
  return { figures, growth: most - before };
}

export async function measureBackup(): Promise<Figure[]> {
  const debians = await startDebians();
  const work = makeFolder();
  const at = (name: string): string => join(work, name);
  const remove = (...names: string[]) => {
    for (const name of names) rmSync(at(name), { recursive: true, force: true });
  };
  try {
    const url = debians.create('ashlar');
    const data = at('data');
    const program = await startProgram({ data, env: { DATABASE_URL: url } });
    await program.root('PUT /application/settings', {
      throttle_authenticated_api_enabled: false,
      notes_create_limit: 0,
    });
    const source = at('source.git');
    await importHistory(source, bigStream(MEGABYTES_EACH));
    let project = 0;
    for (let each = 1; each <= PROJECTS; each++)
      project = (await makeProject(program, `project-${each}`, source)).id;
    await workDone(program);
    await fillDatabase(url);
    const size = `${((PROJECTS * MEGABYTES_EACH) / 1_000).toFixed(1)} GB of repositories and ${(2 * ISSUES).toLocaleString('en')} rows`;

    await settleDisk();
    const dump = await run('pg_dump', ['-Fc', '-f', at('plain.dump'), url]);
    const tar = await shell(`tar -C ${data} -c repositories | zstd -q -3 -o ${at('plain.tar.zst')}`);
    await settleDisk();
    const whole = await ashlar(['backup', at('whole.backup')], data, url);
    await settleDisk();
    const lent = ['backup', '--base', at('whole.backup'), at('next.backup')];
    const next = await ashlar(lent, data, url);
    const size1 = statSync(at('whole.backup')).size;
    remove('next.backup', 'next.backup.index');
    await settleDisk();
    const others = await measureOthers(program, project, () =>
      ashlar(['backup', at('other.backup')], data, url),
    );
    remove('other.backup', 'other.backup.index');
    await program.stop();

    const plain = debians.create('plain');
    mkdirSync(at('plain'));
    await settleDisk();
    const rows = await run('pg_restore', ['--jobs=1', '-d', plain, at('plain.dump')]);
    const files = await shell(`zstd -q -d -c ${at('plain.tar.zst')} | tar -C ${at('plain')} -x`);
    const { seconds: flushing } = await settleDisk();
    remove('plain', 'plain.dump', 'plain.tar.zst');
    const into = debians.create('restored');
    await settleDisk();
    const restored = await ashlar(['restore', at('whole.backup')], at('restored'), into);
    if (!existsSync(at('restored/repositories'))) throw new Error('nothing was restored');

    return [
      speed(
        `backup of ${size}`,
        whole.seconds,
        dump.seconds + tar.seconds,
        'pg_dump -Fc, and tar to zstd -3',
      ),
      merely('its file', size1 / 1_048_576, 'MB'),
      ratioOf(
        'another by --base, without changes',
        `${next.seconds.toFixed(1)} s`,
        `${whole.seconds.toFixed(1)} s (whole)`,
        next.seconds / whole.seconds,
        0.1,
      ),
      ...others.figures,
      atMost('memory (PSS) of the backup, and what the server grew', whole.memory + others.growth, 100, 'MB'),
      merely('of it the server', others.growth, 'MB'),
      speed(
        `restore of it`,
        restored.seconds,
        rows.seconds + files.seconds,
        'pg_restore --jobs=1, and zstd -d to tar -x',
      ),
      merely('the baseline’s files reach the disk after further', flushing, 's'),
      merely('memory (PSS) of the restore', restored.memory, 'MB'),
    ];
  } finally {
    await debians.stop();
  }
}
