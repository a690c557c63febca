/** docs/operate.md, the dashboard and the alert rules name what is there: metrics, and what a data folder holds. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { ROOT_TOKEN, siteAt, useApp } from './support/app.ts';
import { bodyOf } from './support/factories.ts';
import { namedBelow, namesIn, panels, ruleCases, rules, targets } from './support/monitoring.ts';
import { removeProgram, serve } from './support/program.ts';

describe('metrics', () => {
  const app = useApp({ still: true });

  /** Of each metric its kind, and whether it is read at all. */
  async function exposed(): Promise<Map<string, string>> {
    const { text } = await app.call('GET /-/metrics', { raw: true });
    return new Map(
      [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', kind = '']) => [name, kind]),
    );
  }

  test('each that is exposed is named for operators, and no other', async () => {
    const names = [...(await exposed()).keys()];
    expect(namedBelow('Metrics').toSorted()).toEqual(names.toSorted());
  });

  test('what counts up is a counter, and called one', async () => {
    for (const [name, kind] of await exposed())
      expect([name, kind === 'counter']).toEqual([name, name.endsWith('_total')]);
  });

  test('the gauges of the database are there, and tell how long its oldest work waits', async () => {
    const { sql } = app.app.services.database;
    await sql`delete from outbox`;
    await sql`insert into outbox (fact, payload, created_at) values ('quarry', '{}', now() - interval '330 seconds')`;
    await sql`select graphile_worker.add_job('quarry.none', run_at => now() - interval '90 seconds')`;
    await sql`select graphile_worker.add_job('quarry.later', run_at => now() + interval '1 hour')`;
    await sql`update graphile_worker._private_jobs set attempts = max_attempts where task_id in (
      select id from graphile_worker._private_tasks where identifier = 'quarry.none')`;
    await sql`insert into graphile_worker._private_jobs (task_id, payload, run_at, attempts)
      select id, '{}', now() - interval '600 seconds', 3 from graphile_worker._private_tasks
      where identifier = 'quarry.later'`;
    const { text } = await app.call('GET /-/metrics', { raw: true });
    const read = (sample: string) =>
      Number(
        text
          .split('\n')
          .find((line) => line.startsWith(sample))
          ?.split(' ')[1],
      );
    expect(read('waiting{kind="dead_jobs"}')).toBe(1);
    expect(read('waiting{kind="jobs"}')).toBe(2);
    // Not that of the dead one, nor of the one that is to come.
    expect(Math.floor(read('waiting_oldest_seconds{kind="jobs"}') / 60)).toBe(10);
    expect(read('waiting{kind="outbox"}')).toBe(1);
    expect(Math.floor(read('waiting_oldest_seconds{kind="outbox"}') / 60)).toBe(5);
  });

  /** A histogram is asked for by its parts. */
  const familyOf = (name: string) => name.replace(/(?<=_seconds)_(?:bucket|sum|count)$/, '');

  test.each([
    ['the alert rules', rules.map(({ expr }) => expr), ['up']],
    ['the dashboard', targets.map(({ expr }) => expr), []],
  ])('%s ask for what is exposed', async (_, expressions, ofPrometheus) => {
    const known = [...(await exposed()).keys(), ...ofPrometheus];
    const asked = expressions.flatMap(namesIn).map(familyOf);
    expect(asked.length).toBeGreaterThan(expressions.length - 1);
    expect(known).toEqual(expect.arrayContaining(asked));
  });

  test('the dashboard shows each', async () => {
    const shown = new Set(targets.flatMap(({ expr }) => namesIn(expr)).map(familyOf));
    expect([...(await exposed()).keys()].filter((name) => !shown.has(name))).toEqual([]);
  });
});

test.each([
  ['sum by (job) (rate(a_total{b="c"}[5m])) / on (d) e > 0.5', ['a_total', 'e']],
  ['f unless on (g) h{i=~"j k"} or absent(l)', ['f', 'h', 'l']],
  ['time() - m{n="o}p"}', ['m']],
])('names in %s', (expression, names) => {
  expect(namesIn(expression)).toEqual(names);
});

describe('alerts', () => {
  test('each is explained to operators, and no other', () => {
    expect(namedBelow('What to watch').toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted());
  });

  test('each has a case in which it fires, and one in which it does not', () => {
    const names = rules.map(({ alert }) => alert).toSorted();
    const cases = (fires: boolean) => [
      ...new Set(
        ruleCases
          .filter(({ exp_alerts = [] }) => exp_alerts.length > 0 === fires)
          .map(({ alertname }) => alertname),
      ),
    ];
    expect(cases(true).toSorted()).toEqual(names);
    expect(cases(false).toSorted()).toEqual(names);
  });

  test('each looks at Ashlar alone', () => {
    for (const { alert, expr } of rules)
      expect([alert, expr.match(/\{[^}]*\}/g)?.every((labels) => labels.includes('job="ashlar"'))]).toEqual([
        alert,
        true,
      ]);
  });
});

describe('the dashboard', () => {
  const graphs = panels.filter(({ type }) => type !== 'row');

  test('says what each graph shows, in which unit, of the chosen processes', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    for (const { title, description, fieldConfig, targets: own = [] } of graphs) {
      expect([title, description, fieldConfig?.defaults.unit]).toEqual([
        title,
        expect.stringMatching(/\.$/),
        expect.any(String),
      ]);
      expect(own.length).toBeGreaterThan(0);
      for (const { expr, datasource } of own) {
        expect(datasource.uid).toBe('$datasource');
        for (const labels of expr.match(/(?<!\$)\{[^}]*\}/g) ?? ['none'])
          expect(labels).toContain('job=~"$job", instance=~"$instance"');
        for (const [range] of expr.matchAll(/\[[^\]]*\]/g)) expect(range).toBe('[$__rate_interval]');
      }
    }
  });

  test('lays no graph over another', () => {
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, at) => `${x + (at % w)}:${y + Math.floor(at / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(Math.max(...panels.map(({ gridPos: { x, w } }) => x + w))).toBe(24);
  });
});

describe('the data folder', () => {
  const data = mkdtempSync(join(tmpdir(), 'data-folder-'));
  afterAll(() => {
    rmSync(data, { recursive: true, force: true });
    removeProgram();
  });

  /** At other times than that of a first start. */
  const rare = [
    'postgres.new/',
    'postgres.moved/',
    'postgres-17/',
    '.restore-unfinished',
    'old-postgres/',
    'uploads/',
    'ci/',
  ];

  test('what a server in use puts there is named for operators, and nothing else', async () => {
    const server = await serve({ ASHLAR_DATA: data, ASHLAR_ROOT_TOKEN: ROOT_TOKEN });
    try {
      const { root } = siteAt(server.url, ROOT_TOKEN);
      const body = { username: 'mason', name: 'Mason', email: 'mason@example.com', reset_password: true };
      bodyOf(await root('POST /users', { body }), 201);
      const { id } = bodyOf(await root('POST /projects', { body: { name: 'Wall' } }), 201);
      const address = server.url.replace('//', `//root:${ROOT_TOKEN}@`);
      execFileSync('git', ['ls-remote', `${address}/root/wall.git`]);
      const file = { branch: 'main', content: 'Dry stone', commit_message: 'Begin' };
      bodyOf(await root(`POST /projects/${id}/repository/files/README.md`, { body: file }), 201);
      expect((await root(`POST /projects/${id}/export`, { body: {} })).status).toBe(202);
      const exported = async () => bodyOf(await root(`GET /projects/${id}/export`), 200).export_status;
      await expect.poll(exported).toBe('finished');
      await expect.poll(() => readdirSync(data)).toContain('mail');
      const there = readdirSync(data).map((name) =>
        statSync(join(data, name)).isDirectory() ? `${name}/` : name,
      );
      const named = namedBelow('The data folder');
      expect(there.filter((name) => !named.includes(name))).toEqual([]);
      expect(named.filter((name) => !there.includes(name)).toSorted()).toEqual(rare.toSorted());
    } finally {
      await server.stop();
    }
  });
});
