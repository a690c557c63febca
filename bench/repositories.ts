/** The figures of repositories: clone and push beside git's own gateway, reads beside a process each, memory, and moves. */
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { projectRepository, repositoryPath } from '../src/domain/repositories/store/containers.ts';
import { verifyCopy } from '../src/platform/git/copies/check.ts';
import { git } from '../src/platform/git/program/program.ts';
import { makeFolder, type Program, ROOT_TOKEN, startProgram } from '../test/journeys/support.ts';
import { historyStream } from '../test/support/history.ts';
import { bigStream, client, importHistory, makeProject, rate, withToken } from './git-client.ts';
import { type Compared, compare, compareLoad, median } from './measure.ts';
import { memoryOf, startScript } from './processes.ts';
import { atMost, type Figure } from './table.ts';

const cloning = (url: string, into: string, loops: number) => (seconds: number) =>
  rate(
    loops,
    async (run) => {
      const folder = join(into, `clone-${run}`);
      await client(['clone', '-q', '--bare', url, folder]);
      rmSync(folder, { recursive: true });
    },
    seconds,
  );

let pushes = 0;
/** Each push makes a branch of its own with one commit that no repository has yet. */
const pushing = (url: string, work: string, loops: number) => (seconds: number) =>
  rate(
    loops,
    async () => {
      const name = `push-${++pushes}`;
      const text = `${name}\n`;
      const who = `Ada Lovelace <ada@example.com> ${1_700_000_000 + pushes} +0000`;
      await git(['fast-import', '--quiet'], {
        folder: work,
        input: `commit refs/heads/${name}\ncommitter ${who}\ndata ${text.length}\n${text}from refs/heads/main\nM 100644 inline ${name}.txt\ndata ${text.length}\n${text}\n`,
      });
      await client(['push', '-q', url, `refs/heads/${name}`], work);
    },
    seconds,
  );

const percent = (
  what: string,
  { subject, baseline, ratio }: Compared,
  target: number,
  other: string,
): Figure => ({
  what,
  value: `${subject.toFixed(1)}/s`,
  baseline: `${baseline.toFixed(1)}/s (${other})`,
  result: `${(ratio * 100).toFixed(0)} %`,
  target: `≥ ${target * 100} %`,
  met: ratio >= target,
});

/** Clones and pushes beside git's own gateway, and reads beside a process for each. */
async function measureTraffic(program: Program, source: string): Promise<Figure[]> {
  const project = await makeProject(program, 'history', source);
  await program.root(`POST /projects/${project.id}/housekeeping`);
  const bare = makeFolder();
  cpSync(project.folder, join(bare, 'bench.git'), { recursive: true });
  await git(['config', 'http.receivepack', 'true'], { folder: join(bare, 'bench.git') });
  const gateway = await startScript('http-backend.ts', [bare]);
  const other = `${withToken(gateway.line)}/bench.git`;
  const into = makeFolder();
  const figures: Figure[] = [];
  for (const [name, loops] of [
    ['one after the other', 1],
    ['20 at once', 20],
  ] as const) {
    for (const [verb, make] of [
      ['clone', cloning],
      ['push', pushing],
    ] as const) {
      const place = verb === 'clone' ? into : source;
      const compared = await compare(make(project.url, place, loops), make(other, place, loops), 8);
      const figure = percent(`${verb}, ${name}`, compared, 0.9, 'git http-backend');
      process.stderr.write(`${figure.what}: ${figure.result}\n`);
      figures.push(figure);
    }
  }
  const headers = { 'private-token': ROOT_TOKEN };
  const api = `${program.url}/api/v4/projects/${project.id}/repository`;
  for (const [what, path, route] of [
    ['tree', '/tree?path=area-1%2Fpart-1&ref=main', '/tree'],
    ['file', '/files/area-1%2Fpart-1%2Ffile-1.txt?ref=main', '/file'],
    ['commit list', '/commits?ref_name=main', '/commits'],
  ] as const) {
    const { subject, baseline, ratio } = await compareLoad(
      { url: `${api}${path}`, headers },
      { url: `${gateway.line}${route}` },
      5,
    );
    figures.push({
      what: `reads of a ${what}`,
      value: `${subject.toFixed(0)}/s`,
      baseline: `${baseline.toFixed(0)}/s (a git process each)`,
      result: `${ratio.toFixed(1)}×`,
      target: '≥ 5×',
      met: ratio >= 5,
    });
  }
  await gateway.stop();
  return figures;
}

/** The memory of the program and its git processes while 500 MB are cloned, above that when idle. */
async function measureMemory(program: Program, big: string): Promise<Figure[]> {
  const { url } = await makeProject(program, 'big', big);
  await sleep(5_000);
  const idle = memoryOf(program.pid);
  const into = join(makeFolder(), 'clone');
  let ended = false;
  let most = 0;
  const clone = client(['clone', '-q', '--bare', url, into]).finally(() => {
    ended = true;
  });
  while (!ended) {
    most = Math.max(most, memoryOf(program.pid));
    await sleep(50);
  }
  await clone;
  return [atMost('memory (PSS) above idle during a clone of 500 MB', most - idle, 150, 'MB')];
}

async function runProgram(program: string, args: string[]): Promise<void> {
  const code = await new Promise((resolve) => spawn(program, args, { stdio: 'ignore' }).on('close', resolve));
  if (code !== 0) throw new Error(`${program} ended with ${code}`);
}

const settleDisk = () => runProgram('sync', []);

/** When the program's log says that a move reached a phase, in milliseconds. */
function reached(program: Program, move: number, phase: string): number {
  for (const line of program.output().split('\n').reverse()) {
    if (!line.includes('"event":"storage move"')) continue;
    const said = JSON.parse(line) as { time: string; move: number; phase: string };
    if (said.move === move && said.phase === phase) return Date.parse(said.time);
  }
  throw new Error(`the log does not say that move ${move} was ${phase}`);
}

/** Moves the project there; seconds from the start of the copy to the switch, the verification included. */
async function moveTo(program: Program, project: number, destination: string): Promise<number> {
  const made = await program.root(`POST /projects/${project}/repository_storage_moves`, {
    destination_storage_name: destination,
  });
  if (made.status !== 201) throw new Error(`the move was refused: ${await made.text()}`);
  const { id } = (await made.json()) as { id: number };
  // Until the old copy is gone, no other move can start.
  for (let state = ''; state !== 'finished'; await sleep(50)) {
    const response = await program.root(`GET /project_repository_storage_moves/${id}`);
    const move = (await response.json()) as { state: string; error_message: string | null };
    state = move.state;
    if (state === 'failed') throw new Error(`the move failed: ${move.error_message}`);
  }
  return (reached(program, id, 'switched') - reached(program, id, 'started')) / 1_000;
}

/** Seconds of a move beside `cp -r` and the verification of its copy. */
async function measureMoves(program: Program, big: string, storages: string): Promise<Figure[]> {
  const { id, folder } = await makeProject(program, 'moving', big);
  const rounds: { own: number; plain: number }[] = [];
  for (let round = 0; round < 6; round++) {
    const destination = round % 2 === 0 ? 'fast' : 'default';
    // The moves would wait for unsynced data of others.
    await settleDisk();
    const own = await moveTo(program, id, destination);
    const place = destination === 'fast' ? join(storages, repositoryPath(projectRepository(id))) : folder;
    const copy = join(makeFolder(), 'copy.git');
    await settleDisk();
    const begin = performance.now();
    await runProgram('cp', ['-r', place, copy]);
    await verifyCopy(place, copy);
    rounds.push({ own, plain: (performance.now() - begin) / 1_000 });
    rmSync(copy, { recursive: true });
  }
  // The first two allocate the disk's blocks.
  const rest = rounds.slice(2);
  const ratio = median(rest.map(({ own, plain }) => plain / own));
  return [
    {
      what: 'move of 500 MB between storages',
      value: `${median(rest.map(({ own }) => own)).toFixed(2)} s`,
      baseline: `${median(rest.map(({ plain }) => plain)).toFixed(2)} s (cp -r, and the same verification)`,
      result: `${(ratio * 100).toFixed(0)} %`,
      target: '≥ 70 %',
      met: ratio >= 0.7,
    },
  ];
}

export async function measureRepositories(): Promise<Figure[]> {
  const data = join(makeFolder(), 'data');
  const fast = join(makeFolder(), 'fast');
  mkdirSync(fast);
  const program = await startProgram({
    data,
    env: { ASHLAR_STORAGES: `default:${join(data, 'repositories')},fast:${fast}` },
  });
  const settings = {
    throttle_authenticated_api_enabled: false,
    repository_storages_weighted: { default: 100 },
  };
  await program.root('PUT /application/settings', settings);
  const sources = makeFolder();
  await importHistory(join(sources, 'history.git'), historyStream());
  await importHistory(join(sources, 'big.git'), bigStream(500));
  const figures = [
    ...(await measureTraffic(program, join(sources, 'history.git'))),
    ...(await measureMemory(program, join(sources, 'big.git'))),
    ...(await measureMoves(program, join(sources, 'big.git'), fast)),
  ];
  await program.stop();
  return figures;
}
