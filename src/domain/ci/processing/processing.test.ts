import { describe, expect, test } from 'vitest';
import { advance, type JobState, type RunsWhen } from './advance.ts';
import { durationOf } from './durations.ts';
import { type Counted, composite, type Status } from './status.ts';

/** `failed?` may fail. */
const counted = (text: string): Counted => ({
  status: text.replace('?', '') as Status,
  allow_failure: text.endsWith('?'),
});

describe('the composite', () => {
  test.each<[string, Status]>([
    ['', 'success'],
    ['success', 'success'],
    ['skipped', 'skipped'],
    ['skipped manual?', 'skipped'],
    ['success skipped', 'success'],
    ['success failed?', 'success'],
    ['success canceled? manual?', 'success'],
    ['created', 'created'],
    ['created manual?', 'created'],
    ['created success', 'running'],
    ['preparing failed?', 'preparing'],
    ['success failed', 'failed'],
    ['success canceled', 'canceled'],
    ['failed canceled', 'failed'],
    ['pending pending', 'pending'],
    ['pending created skipped', 'pending'],
    ['pending success', 'running'],
    ['failed running', 'running'],
    ['failed pending', 'running'],
    ['waiting_for_resource success', 'waiting_for_resource'],
    ['manual success', 'manual'],
    ['manual failed', 'manual'],
    ['manual created', 'manual'],
    ['scheduled success', 'scheduled'],
    ['scheduled manual', 'manual'],
    ['failed created', 'running'],
    ['canceling canceled', 'canceling'],
    ['canceling running', 'running'],
  ])('of %j is %s', (jobs, status) =>
    expect(composite(jobs.split(' ').filter(Boolean).map(counted))).toBe(status),
  );
});

describe('jobs go on', () => {
  /** `name stage status[?] [when] [<need,need]`, one a line. */
  const jobsOf = (text: string): JobState[] =>
    text
      .trim()
      .split('\n')
      .map((line, id) => {
        const [name = '', stage, status = '', ...rest] = line.trim().split(/\s+/);
        const needs = rest.find((word) => word.startsWith('<'))?.slice(1);
        const runs_when = (rest.find((word) => !word.startsWith('<')) ?? 'on_success') as RunsWhen;
        return {
          id,
          kind: name.startsWith('*') ? 'status' : 'job',
          name,
          stage_index: Number(stage),
          runs_when,
          needs: needs === undefined ? null : needs.split(',').filter(Boolean),
          ...counted(status),
        };
      });
  test.each<[string, string, Record<string, Status>, Status]>([
    [
      'the first stage begins',
      `a 1 created
       b 1 created
       c 2 created`,
      { a: 'pending', b: 'pending' },
      'pending',
    ],
    [
      'the next stage waits for all of a stage',
      `a 1 success
       b 1 running
       c 2 created`,
      {},
      'running',
    ],
    [
      'the next stage begins after all of a stage',
      `a 1 success
       b 1 failed?
       c 2 created
       d 3 created`,
      { c: 'pending' },
      'running',
    ],
    [
      'after a failure the rest is skipped, but what is for failures and for always',
      `a 1 failed
       b 2 created
       c 2 created on_failure
       d 3 created always
       e 3 created manual
       f 3 created delayed`,
      { b: 'skipped', c: 'pending' },
      'running',
    ],
    [
      'always waits for what is for failures',
      `a 1 failed
       c 2 success on_failure
       d 3 created always
       e 3 created`,
      { d: 'pending', e: 'skipped' },
      'running',
    ],
    [
      'what is for failures is skipped without one',
      `a 1 success
       b 2 created on_failure
       c 3 created`,
      { b: 'skipped', c: 'pending' },
      'running',
    ],
    [
      'after a cancellation nothing runs',
      `a 1 canceled
       b 2 created always
       c 2 created on_failure
       d 2 created`,
      { b: 'skipped', c: 'skipped', d: 'skipped' },
      'canceled',
    ],
    [
      'a manual job that may be left out holds nothing up',
      `a 1 created? manual
       b 2 created`,
      { a: 'manual', b: 'pending' },
      'pending',
    ],
    [
      'one that may not blocks the pipeline',
      `a 1 created manual
       b 2 created`,
      { a: 'manual' },
      'manual',
    ],
    [
      'a delayed job waits for its time',
      `a 1 created delayed
       b 2 created`,
      { a: 'scheduled' },
      'scheduled',
    ],
    [
      'needs pass over stages',
      `a 1 success
       b 1 running
       c 2 created <a
       d 2 created <
       e 3 created <c,b`,
      { c: 'pending', d: 'pending' },
      'running',
    ],
    [
      'what needs a skipped job is skipped, in the same stage too',
      `a 1 failed
       b 2 created <a
       c 2 created <b
       d 3 created <c always
       e 3 created <a on_failure`,
      { b: 'skipped', c: 'skipped', d: 'pending', e: 'pending' },
      'running',
    ],
    [
      'needs within a stage, whatever their order',
      `b 1 created <a
       a 1 skipped`,
      { b: 'skipped' },
      'skipped',
    ],
    [
      'what needs a manual job that may be left out is skipped',
      `a 1 manual?
       b 2 created <a`,
      { b: 'skipped' },
      'skipped',
    ],
    ['a need that is not in the pipeline is none', `a 1 created <elsewhere`, { a: 'pending' }, 'pending'],
    [
      'what other programs said counts for the pipeline alone',
      `* 1000000 failed
       a 1 success
       b 2 created`,
      { b: 'pending' },
      'running',
    ],
  ])('%s', (_, text, expected, status) => {
    const jobs = jobsOf(text);
    const after = advance(jobs);
    expect(Object.fromEntries(after.changes.map((change) => [jobs[change.id]?.name, change.status]))).toEqual(
      expected,
    );
    expect(after.status).toBe(status);
  });

  test('twenty thousand that are skipped one for the other, the last first', () => {
    const count = 20_000;
    const lines = Array.from({ length: count }, (_, id) =>
      id === count - 1 ? `j${id} 1 created on_failure` : `j${id} 1 created <j${id + 1}`,
    );
    const { changes, status } = advance(jobsOf(lines.join('\n')));
    expect(new Set(changes.map((change) => change.status))).toEqual(new Set(['skipped']));
    expect(changes).toHaveLength(count);
    expect(status).toBe('skipped');
  });

  test('never twice, and to an end: every job of an ended pipeline has ended', () => {
    const whens: RunsWhen[] = ['on_success', 'on_failure', 'always'];
    const ends: Status[] = ['success', 'failed', 'canceled'];
    for (let seed = 1; seed <= 200; seed++) {
      let state = seed;
      const random = (below: number): number => {
        state = (state * 48_271) % 2_147_483_647;
        return state % below;
      };
      let jobs: JobState[] = Array.from({ length: 12 }, (_, id) => ({
        id,
        kind: 'job',
        name: `job ${id}`,
        status: 'created',
        stage_index: Math.floor(id / 3),
        runs_when: whens[random(3)] as RunsWhen,
        needs: random(2) === 0 || id === 0 ? null : [`job ${random(id)}`],
        allow_failure: random(4) === 0,
      }));
      const turns = 30;
      for (let turn = 0; turn < turns; turn++) {
        const { changes } = advance(jobs);
        const of = new Map(changes.map(({ id, status }) => [id, status]));
        expect(of.size).toBe(changes.length);
        jobs = jobs.map((job) => ({ ...job, status: of.get(job.id) ?? job.status }));
        expect(advance(jobs).changes).toEqual([]);
        const next = jobs.find(({ status }) => status === 'pending');
        if (next)
          jobs = jobs.with(next.id, { ...next, status: ends[random(10) > 1 ? 0 : 1 + random(2)] as Status });
      }
      expect(jobs.filter(({ status }) => status === 'created' || status === 'pending')).toEqual([]);
    }
  });
});

test.each<[[number | null, number | null][], number | undefined]>([
  [[], undefined],
  [[[null, null]], undefined],
  [
    [
      [0, 10],
      [5, 20],
      [null, 3],
    ],
    20,
  ],
  [
    [
      [0, 10],
      [30, 40],
    ],
    20,
  ],
  [
    [
      [30, 40],
      [0, 100],
    ],
    100,
  ],
  [[[90, null]], 10],
])('jobs that ran %j take %s seconds', (ran, seconds) => {
  const at = (second: number | null) => (second === null ? null : new Date(second * 1_000));
  const jobs = ran.map(([from, to]) => ({ started_at: at(from), finished_at: at(to) }));
  expect(durationOf(jobs, new Date(100_000))).toBe(seconds);
});
