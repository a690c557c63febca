/** The figures of moving a project: its export and its import, in seconds and memory. */
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../src/platform/db/database.ts';
import { type Program, ROOT_TOKEN, startProgram } from '../test/journeys/support.ts';
import { siteAt } from '../test/support/app.ts';
import { downloaded, sendArchive } from '../test/support/transfers.ts';
import { databaseOf } from './database.ts';
import { ownMemory } from './processes.ts';
import { atMost, type Figure, merely } from './table.ts';

const ISSUES = 10_000;
const NOTES_EACH = 10;

/** Fills a project with issues and comments. */
async function fillProject({ data }: Program, id: number): Promise<void> {
  const sql = connect(databaseOf(data), { max: 1, statementTimeout: 0, name: 'bench' });
  const words = 'granite and marble are broken, cut and laid in the order of their numbers; ';
  await sql`
    insert into issues (iid, project_id, author_id, title, description, relative_position, user_notes_count, created_at, updated_at)
    select i, ${id}, (select id from users where username = 'root'), 'Issue ' || i, repeat(${words}, 8), i, ${NOTES_EACH},
      timestamptz '2026-01-01' + i * interval '1 minute', timestamptz '2026-01-01' + i * interval '1 minute'
    from generate_series(1, ${ISSUES}::integer) i`;
  await sql`
    insert into notes (project_id, issue_id, author_id, body, discussion_id, created_at, updated_at)
    select i.project_id, i.id, i.author_id, repeat(${words}, 4), encode(sha256((i.id || ' ' || n)::bytea), 'hex')::varchar(40),
      i.created_at, i.created_at
    from issues i, generate_series(1, ${NOTES_EACH}::integer) n where i.project_id = ${id}`;
  await sql`
    insert into project_counters (project_id, issues, open_issues) values (${id}, ${ISSUES}, ${ISSUES})
    on conflict (project_id) do update set issues = excluded.issues, open_issues = excluded.open_issues`;
  await sql.end({ timeout: 5 });
}

/** Seconds until it is so, and the most memory that the program had beside what it had before, in MB. */
async function watch(
  program: Program,
  isOver: () => Promise<boolean>,
): Promise<{ seconds: number; memory: number }> {
  const before = ownMemory(program.pid);
  const begin = performance.now();
  let most = before;
  while (!(await isOver())) {
    most = Math.max(most, ownMemory(program.pid));
    await sleep(100);
  }
  return { seconds: (performance.now() - begin) / 1_000, memory: most - before };
}

/** 10,000 issues with 100,000 comments, out of an instance and into another one. */
export async function measureExports(): Promise<Figure[]> {
  const [source, target] = [await startProgram(), await startProgram()];
  for (const program of [source, target])
    await program.root('PUT /application/settings', {
      project_download_export_limit: 0,
      project_export_limit: 0,
    });
  const { id } = (await (await source.root('POST /projects', { name: 'Large' })).json()) as { id: number };
  await fillProject(source, id);
  await source.root(`POST /projects/${id}/export`);
  const made = await watch(source, async () => {
    const { export_status: status } = (await (await source.root(`GET /projects/${id}/export`)).json()) as {
      export_status: string;
    };
    return status === 'finished';
  });
  const archive = await downloaded(
    siteAt(source.url, ROOT_TOKEN),
    `/projects/${id}/export/download`,
    ROOT_TOKEN,
  );
  const site = siteAt(target.url, ROOT_TOKEN);
  const sent = await sendArchive(site, '/projects/import', archive, { path: 'large' }, ROOT_TOKEN);
  const read = await watch(target, async () => {
    const { import_status: status } = (await site.root(`GET /projects/${sent.body.id}/import`)).body;
    if (status === 'failed') throw new Error('the import failed');
    return status === 'finished';
  });
  const issues = await site.root(`GET /projects/${sent.body.id}/issues`, { query: 'per_page=1' });
  if (issues.headers.get('x-total') !== String(ISSUES)) throw new Error('not all issues are there');
  await Promise.all([source.stop(), target.stop()]);
  const what = `${ISSUES.toLocaleString('en')} issues with ${(ISSUES * NOTES_EACH).toLocaleString('en')} comments`;
  return [
    atMost(`export of ${what}`, made.seconds, 60, 's', 1),
    atMost('memory of the program meanwhile, beside its own', made.memory, 128, 'MB'),
    merely('the archive', archive.length / 1_048_576, 'MB'),
    atMost(`import of ${what}`, read.seconds, 60, 's', 1),
    atMost('memory of the program meanwhile, beside its own', read.memory, 128, 'MB'),
  ];
}
