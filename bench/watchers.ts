/** The figures of notification: a note on an issue that very many users watch, and the mails behind it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../src/platform/db/database.ts';
import { type Program, startProgram } from '../test/journeys/support.ts';
import { startSmtp } from '../test/support/smtp.ts';
import { databaseOf } from './database.ts';
import { median } from './measure.ts';
import { metric } from './processes.ts';
import { atMost, type Figure, merely } from './table.ts';

const MANY = 10_000;
const FEW = 10;
const NOTES = 40;
const MOST = 1.2;
/** Seconds for which leaving mails are watched. */
const SECONDS = 20;

type Watched = { path: string; watchers: number };

/** An issue in a project of its own whose members all watch it. */
async function makeWatched(program: Program, watchers: number): Promise<Watched> {
  const json = async (request: string, body: unknown) =>
    (await (await program.root(request, body)).json()) as { id: number; iid: number };
  const { id } = await json('POST /projects', { name: `Watched by ${watchers}` });
  const { iid } = await json(`POST /projects/${id}/issues`, { title: 'The bridge needs a new stone' });
  const sql = connect(databaseOf(program.data), { max: 1, statementTimeout: 0, name: 'bench' });
  await sql`
    with people as (
      insert into users (username, name, email, confirmed_at, projects_limit, can_create_group, created_at, updated_at)
      select ${`of-${watchers}-`}::text || i, 'Person ' || i, ${`of-${watchers}-`}::text || i || '@example.com', now(), 10, true, now(), now()
      from generate_series(1, ${watchers}::integer) i returning id),
    joined as (
      insert into members (user_id, project_id, access_level, created_at, updated_at)
      select id, ${id}, 30, now(), now() from people)
    insert into notification_settings (user_id, project_id, level, created_at, updated_at)
    select id, ${id}, 'watch', now(), now() from people`;
  await sql`vacuum analyze`;
  await sql.end();
  return { path: `/projects/${id}/issues/${iid}/notes`, watchers };
}

/** Milliseconds until the response to a note. */
async function writeNote(program: Program, { path }: Watched): Promise<number> {
  const start = performance.now();
  const response = await program.root(`POST ${path}`, { body: 'I have looked at it.' });
  await response.arrayBuffer();
  if (response.status !== 201) throw new Error(`${path}: ${response.status}`);
  return performance.now() - start;
}

/**
 * A note watched by 10,000 beside one watched by 10, by turns; and the program's latency while their mails
 * leave.
 */
export async function measureWatchers(): Promise<Figure[]> {
  const smtp = await startSmtp(0);
  const program = await startProgram({ env: { SMTP_URL: smtp.url } });
  await program.root('PUT /application/settings', { notes_create_limit: 0 });
  const [few, many] = [await makeWatched(program, FEW), await makeWatched(program, MANY)];
  for (let warming = 0; warming < 30; warming++) await writeNote(program, few);
  await metric(program.url, 'event_loop_delay_max_seconds');
  const times = { few: [] as number[], many: [] as number[] };
  for (let round = 0; round < NOTES; round++) {
    // They also take turns at being first: the mails of one leave while the other is measured.
    const turns = [
      { of: few, into: times.few },
      { of: many, into: times.many },
    ];
    for (const { of, into } of round % 2 === 0 ? turns : turns.toReversed())
      into.push(await writeNote(program, of));
  }
  const before = smtp.received.length;
  await sleep(SECONDS * 1_000);
  const sent = smtp.received.length - before;
  const stall = await metric(program.url, 'event_loop_delay_max_seconds');
  await program.stop();
  await smtp.stop();
  if (sent === 0) throw new Error('no mail has left');
  const ratio = median(times.many) / median(times.few);
  return [
    {
      what: 'a note on an issue watched by 10,000',
      value: `${median(times.many).toFixed(2)} ms`,
      baseline: `${median(times.few).toFixed(2)} ms (watched by 10)`,
      result: `${ratio.toFixed(2)}×`,
      target: `≤ ${MOST}×`,
      met: ratio <= MOST,
    },
    atMost('longest stall of the event loop while its mails leave', stall * 1_000, 50, 'ms'),
    merely('mails that leave meanwhile, each second', sent / SECONDS, ''),
  ];
}
