/** Each kind of fault of a lab, as python-gitlab meets it: what it retries, waits for, and tells. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Ashlar, FaultRule } from '../../src/lab/lab.d.cts';
import { mustEnd, startPython } from './python.ts';
import { cleanUp, makeFolder } from './support.ts';

const { startAshlar }: typeof import('../../src/lab/lab.d.cts') = createRequire(import.meta.url)(
  join(import.meta.dirname, '..', '..', 'dist', 'lab.cjs'),
);

let lab: Ashlar;
beforeAll(async () => {
  const issues = Array.from({ length: 5 }, (_, index) => ({ title: `Crack ${index + 1}` }));
  lab = await startAshlar({ seed: { projects: [{ path: 'wall', issues }] } });
});
beforeEach(() => lab.reset());
afterAll(async () => {
  await lab.stop();
  await cleanUp();
});

const issue = '/projects/:id/issues/:issue_iid';
const issues = '/projects/:id/issues';

/** Python's lines with a client, and what they print; the statuses of its requests. */
async function run(lines: string[], options = 'retry_transient_errors=True'): Promise<unknown[]> {
  const script = [
    'import sys, time, gitlab',
    `client = gitlab.Gitlab(sys.argv[1], private_token=sys.argv[2], ${options})`,
    "project = client.projects.get('root/wall', lazy=True)",
    ...lines,
  ].join('\n');
  const said = await mustEnd(startPython(makeFolder(), ['-c', script, lab.url, lab.token]));
  return [said.trim(), (await lab.log.list()).map(({ status }) => status)];
}

const read = 'print(project.issues.get(1).title)';
/** What it raises. */
const raised = (line: string): string[] => [
  'try:',
  `    ${line}`,
  'except Exception as error:',
  '    print(type(error).__name__, getattr(error, "response_code", ""))',
];

test.each<[string, FaultRule, string[], string, unknown[], string?]>([
  ['a status is retried', { route: issue, status: 502, count: 2 }, [read], 'Crack 1', [502, 502, 200]],
  [
    'and is told where it stays',
    { route: issue, status: 502 },
    raised(read),
    'GitlabGetError 502',
    [502],
    'retry_transient_errors=False',
  ],
  [
    'a throttle is waited for as long as it says',
    { route: issue, rate_limit: { limit: 10, retry_after: 2 }, count: 1 },
    ['begin = time.monotonic()', read, 'print(time.monotonic() - begin >= 2)'],
    'Crack 1\nTrue',
    [429, 200],
  ],
  [
    'a cut before the work is retried',
    { route: issue, cut: 'before', count: 1 },
    [read],
    'Crack 1',
    [null, 200],
  ],
  [
    'a cut within the answer is retried',
    { route: issue, cut: 'during', count: 1 },
    [read],
    'Crack 1',
    [200, 200],
  ],
  [
    'a cut is an error without retries',
    { route: issue, cut: 'before' },
    raised(read),
    'ConnectionError',
    [null],
    'retry_transient_errors=False',
  ],
  [
    'a retry after a lost answer does the work twice',
    { method: 'POST', route: issues, cut: 'after', count: 1 },
    ["print(project.issues.create({'title': 'New'}).iid)"],
    '7',
    [201, 201],
  ],
  [
    'a delay longer than its patience is retried',
    { route: issue, delay: 20_000, count: 1 },
    [read],
    'Crack 1',
    [null, 200],
    'retry_transient_errors=True, timeout=3',
  ],
  [
    'slow bytes end its patience',
    { route: issue, status: 200, body: { title: 'Slow' }, slow: 1 },
    raised(read),
    'ReadTimeout',
    [200],
    'timeout=0.9',
  ],
  [
    'a list without totals is read to its end by the links',
    { route: issues, missing_totals: true },
    ['found = project.issues.list(per_page=2, iterator=True)', 'print(found.total, len([*found]))'],
    'None 5',
    [200, 200, 200],
  ],
  [
    'a replica that lags does not have what was made just now',
    { route: '/projects/:id/*', stale: true },
    ["made = project.issues.create({'title': 'New'})", ...raised('project.issues.get(made.iid)')],
    'GitlabGetError 404',
    [201, 404],
  ],
])('%s', async (_name, rule, lines, said, statuses, options) => {
  await lab.faults.add(rule);
  expect(await run(lines, options)).toEqual([said, statuses]);
});
