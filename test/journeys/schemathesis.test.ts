/**
 * An independent fuzzer, schemathesis, over the whole inventory: it makes requests from openapi.json, follows
 * its links, and validates every reply against it. .ci/run installs the packages of requirements.txt.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, existsSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, expect, test } from 'vitest';
import { type Caller, makeFuzzWorld } from './schemathesis-world.ts';
import { cleanUp, makeFolder, startProgram } from './support.ts';

const SCHEMATHESIS = join(homedir(), '.cache', 'ashlar', 'journeys', 'bin', 'schemathesis');
const SEED = 16;
/** Requests of each operation by each caller; with those along the links they are more than LEAST_REQUESTS in all. */
const EXAMPLES = 13;
/** Walks along the links of a capability by each caller. */
const WALKS = 10;
const LEAST_REQUESTS = 20_000;

/** Only the links of the document are followed, not those that the fuzzer would guess. */
const configuration = '[phases.stateful.inference]\nalgorithms = []\n';

const checks = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
].join(',');

/** Requests that the world does not recover from are fuzzed last. */
const SETTINGS = '/application/settings';

afterAll(() => cleanUp());

type Outcome = { requests: number; linked: number; refusedCallers: number; failures: string[] };

/** Some minutes on quiet cores; the time on busy ones decides nothing. */
const TIMEOUT_MS = 2_400_000;

test('every reply to what the document allows, and to what it does not, is one of the document', {
  timeout: TIMEOUT_MS,
}, async () => {
  if (!existsSync(SCHEMATHESIS))
    throw new Error(
      `no ${SCHEMATHESIS}: install schemathesis, as .ci/run does with test/journeys/requirements.txt`,
    );
  const program = await startProgram({ env: { ASHLAR_TIER: 'ultimate' } });
  const folder = makeFolder();
  const world = join(folder, 'world.json');
  const document = join(folder, 'openapi.json');
  writeFileSync(world, JSON.stringify(await makeFuzzWorld(program)));
  writeFileSync(join(folder, 'schemathesis.toml'), configuration);
  const api = await (await program.root('GET /openapi.json')).text();
  writeFileSync(document, api);
  const linkedTags = tagsWithLinks(JSON.parse(api));

  async function fuzz(caller: Caller, name: string, options: string[]): Promise<Outcome> {
    const events = join(folder, `${name}.ndjson`);
    const child = spawn(
      SCHEMATHESIS,
      [
        ...['run', document, '--url', `${program.url}/api/v4`, '--checks', checks, '--continue-on-failure'],
        ...[
          '--seed',
          String(SEED),
          '--generation-database',
          'none',
          '--no-shrink',
          '--no-color',
          '--mode',
          'all',
        ],
        ...['--generation-with-security-parameters', 'false', '--generation-allow-x00', 'false'],
        ...[
          '--report',
          'ndjson',
          '--report-ndjson-path',
          events,
          '--suppress-health-check',
          'all',
          ...options,
        ],
      ],
      {
        cwd: folder,
        stdio: ['ignore', 'pipe', 'pipe'],
        env: {
          PATH: process.env.PATH,
          PYTHONPATH: import.meta.dirname,
          SCHEMATHESIS_HOOKS: 'schemathesis-hooks',
          ASHLAR_FUZZ_WORLD: world,
          ASHLAR_FUZZ_DOCUMENT: document,
          ASHLAR_FUZZ_CALLER: caller,
        },
      },
    );
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output = (output + text).slice(-20_000);
      });
    await once(child, 'close');
    // 1: failures, which the events list in full; any other code is no run.
    if (child.exitCode !== 0 && child.exitCode !== 1) throw new Error(output);
    return outcomeOf(events);
  }

  /** One after the other, so that the walks find their world as the rest leaves it. */
  async function whole(caller: Caller): Promise<Outcome[]> {
    const each = ['--max-examples', String(EXAMPLES), '--exclude-path', SETTINGS];
    const outcomes = [await fuzz(caller, caller, ['--phases', 'fuzzing', ...each])];
    // Among the links of the whole inventory a walk hardly ever finds one that it can take.
    for (const tag of linkedTags) {
      const along = ['--phases', 'stateful', '--max-examples', String(WALKS), '--include-tag', tag];
      outcomes.push(await fuzz(caller, `${caller}-${tag}`, along));
    }
    return outcomes;
  }
  const last = ['--phases', 'fuzzing', '--max-examples', '100', '--include-path', SETTINGS];
  const outcomes = [
    ...(await Promise.all([whole('administrator'), whole('user')])).flat(),
    await fuzz('administrator', 'settings', last),
  ];
  const total = (of: (outcome: Outcome) => number): number =>
    outcomes.reduce((sum, each) => sum + of(each), 0);
  const requests = total((outcome) => outcome.requests);
  const refused = total(({ refusedCallers }) => refusedCallers);
  process.stdout.write(
    `schemathesis: ${requests} requests, ${total(({ linked }) => linked)} by links, ${refused} answered with 401\n`,
  );
  expect([...new Set(outcomes.flatMap(({ failures }) => failures))]).toEqual([]);
  expect(requests).toBeGreaterThan(LEAST_REQUESTS);
  expect(total(({ linked }) => linked)).toBeGreaterThan(100);
  // Otherwise a caller was locked out, and the rest was not tested.
  expect(refused).toBeLessThan(requests / 100);
});

type Operations = Record<string, { tags: string[]; responses: Record<string, { links?: object }> }>;

/** The capabilities that have links. */
const tagsWithLinks = ({ paths }: { paths: Record<string, Operations> }): string[] => [
  ...new Set(
    Object.values(paths)
      .flatMap((operations) => Object.values(operations))
      .filter(({ responses }) => Object.values(responses).some(({ links }) => links))
      .flatMap(({ tags }) => tags),
  ),
];

type Recorded = {
  ScenarioFinished?: {
    phase: string;
    recorder: {
      cases?: Record<string, { value: { method: string; path: string }; is_transition_applied?: boolean }>;
      interactions?: Record<string, { response?: { status_code: number } }>;
      checks?: Record<string, { name: string; status: string }[]>;
    };
  };
  NonFatalError?: { label: string; info?: { title?: string } };
};

/** The outcome of a run, from its events: of each operation every kind of failure once. */
async function outcomeOf(events: string): Promise<Outcome> {
  const outcome: Outcome = { requests: 0, linked: 0, refusedCallers: 0, failures: [] };
  for await (const line of createInterface({ input: createReadStream(events) })) {
    const { ScenarioFinished: scenario, NonFatalError: error } = JSON.parse(line) as Recorded;
    if (error)
      outcome.failures.push(`${error.label}: the fuzzer gave up: ${JSON.stringify(error).slice(0, 500)}`);
    const { cases = {}, interactions = {}, checks: checked = {} } = scenario?.recorder ?? {};
    for (const [id, { value, is_transition_applied: linked }] of Object.entries(cases)) {
      const status = interactions[id]?.response?.status_code;
      if (interactions[id]) outcome.requests += 1;
      if (linked) outcome.linked += 1;
      if (status === 401) outcome.refusedCallers += 1;
      for (const check of checked[id] ?? [])
        if (check.status === 'failure')
          outcome.failures.push(`${value.method} ${value.path}: ${status}: ${check.name}`);
    }
  }
  return outcome;
}
