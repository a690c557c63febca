/** The library ashlar/lab as it is installed: under node:test and vitest, many instances, and what a killed test leaves. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { labsOf, processesOf } from '../support/left-in-folder.ts';
import { cleanUp, makeFolder } from './support.ts';

const root = join(import.meta.dirname, '..', '..');
let folder: string;

beforeAll(() => {
  // A package that has it as a dependency: a link is what `npm install` makes of a folder.
  folder = makeFolder();
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(root, join(folder, 'node_modules', 'ashlar'));
  symlinkSync(join(root, 'node_modules', 'vitest'), join(folder, 'node_modules', 'vitest'));
});
afterAll(() => cleanUp());

/** With the labs that were seen while it ran, by their folders, and the process of each. */
type Ran = {
  child: ChildProcess;
  said(): string;
  labs: Map<string, number>;
  ended: Promise<number | null>;
};

/** Milliseconds; a lab takes longer to be ready. */
const LOOK_MS = 100;

function run(args: string[]): Ran {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME };
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (said += text));
  const labs = new Map<string, number>();
  const timer = setInterval(() => {
    for (const { folder: found, pid } of labsOf(child.pid ?? 0)) labs.set(found, pid);
  }, LOOK_MS);
  const ended = once(child, 'close').then(([code]) => {
    clearInterval(timer);
    return code;
  });
  return { child, said: () => said, labs, ended };
}

/** A script that may use the library, `call` and `instances`. */
function script(name: string, body: string): string {
  writeFileSync(
    join(folder, name),
    `import { startAshlar } from 'ashlar/lab';
    const call = async (lab, method, path, body) => {
      const headers = { 'private-token': lab.token, 'content-type': 'application/json' };
      const response = await fetch(lab.url + '/api/v4' + path, { method, headers, body: body && JSON.stringify(body) });
      if (!response.ok) throw new Error(method + ' ' + path + ' ' + response.status);
      return response.json();
    };
    ${body}`,
  );
  return name;
}

/** None of its labs has a folder still, nor a process. */
async function expectNothingLeft({ labs }: Ran): Promise<void> {
  expect(labs.size).toBeGreaterThan(0);
  for (const each of labs.keys()) {
    await expect.poll(() => existsSync(each), { timeout: 30_000 }).toBe(false);
    await expect.poll(() => processesOf(each), { timeout: 10_000 }).toEqual([]);
  }
}

const tests = (imported: string): string => `${imported}
  const lab = await startAshlar({ tier: 'free' });
  test('ids start again', async () => {
    for (let turn = 0; turn < 3; turn++) {
      const { id } = await call(lab, 'POST', '/projects', { name: 'bridge', initialize_with_readme: true });
      if (id !== 1) throw new Error('the id is ' + id);
      await call(lab, 'GET', '/projects/1/repository/files/README.md?ref=main');
      await lab.reset();
    }
  });
  test('a snapshot is gone back to', async () => {
    await call(lab, 'POST', '/projects', { name: 'bridge', initialize_with_readme: true });
    await lab.snapshot('bridge');
    await lab.reset();
    await lab.restore('bridge');
    await call(lab, 'GET', '/projects/1/repository/files/README.md?ref=main');
  });
  test('its clock is moved', async () => {
    const later = new Date('2031-05-06T07:08:09.123Z');
    await lab.clock.freeze(later);
    await lab.clock.advance({ hours: 1, minutes: 2 });
    const { created_at } = await call(lab, 'POST', '/projects', { name: 'later' });
    if (created_at !== '2031-05-06T08:10:09.123Z') throw new Error(created_at);
    await lab.clock.resume();
    await lab.clock.set('2032-01-01');
    if (!((await lab.clock.now()) > new Date('2032-01-01'))) throw new Error('it stands still');
    await lab.clock.set(later);
    await lab.clock.clear();
    if (Math.abs((await lab.clock.now()) - Date.now()) > 60_000) throw new Error('it is not that of the machine');
    const refusal = await lab.clock.set('tomorrow').catch(({ message }) => message);
    if (!/now is a day/.test(refusal)) throw new Error(refusal);
  });`;

test('node:test runs with it, and ends though nobody stops the instance', async () => {
  script('a.test.mjs', tests("import test from 'node:test';"));
  const ran = run(['--test', '--test-reporter=tap', 'a.test.mjs']);
  expect([await ran.ended, ran.said()]).toEqual([0, expect.stringContaining('# pass 3')]);
  await expectNothingLeft(ran);
});

test('a module of CommonJS, as jest has them, requires it', async () => {
  writeFileSync(
    join(folder, 'required.cjs'),
    `const { startAshlar } = require('ashlar/lab');
    startAshlar().then(async (lab) => {
      console.log((await fetch(lab.url + '/-/liveness')).status);
      await lab.stop();
    });`,
  );
  const ran = run(['required.cjs']);
  expect([await ran.ended, ran.said()]).toEqual([0, '200\n']);
});

test('vitest runs with it, files at once', async () => {
  for (const name of ['one', 'two'])
    script(
      `vitest-${name}.spec.mjs`,
      tests("import { afterAll, test } from 'vitest'; afterAll(() => lab.stop());"),
    );
  const ran = run([join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', '--root', folder, 'vitest-']);
  expect([await ran.ended, ran.said()]).toEqual([0, expect.stringContaining('6 passed')]);
  await expectNothingLeft(ran);
});

test('50 instances one after the other, and 8 at once, leave no process, socket or folder', async () => {
  script(
    'many.mjs',
    `const urls = [];
    for (let count = 0; count < 50; count++) {
      await using lab = await startAshlar();
      await call(lab, 'GET', '/user');
      urls.push(lab.url);
    }
    const labs = await Promise.all(Array.from({ length: 8 }, () => startAshlar()));
    if (new Set(labs.map(({ url }) => url)).size !== 8) throw new Error('two have one address');
    const made = await Promise.all(labs.map((lab) => call(lab, 'POST', '/projects', { name: 'own' })));
    if (made.some(({ id }) => id !== 1)) throw new Error('they share their ids');
    await Promise.all(labs.map((lab) => lab.stop()));
    urls.push(...labs.map(({ url }) => url));
    for (const url of urls)
      if (await fetch(url).then(() => true, () => false)) throw new Error(url + ' still answers');
    console.log('done');`,
  );
  const ran = run(['many.mjs']);
  expect([await ran.ended, ran.said()]).toEqual([0, 'done\n']);
  await expectNothingLeft(ran);
});

test.each(['the test process', 'the lab'])('after kill -9 of %s nothing is left', async (victim) => {
  script(
    'killed.mjs',
    `const labs = [await startAshlar(), await startAshlar()];
    for (const lab of labs) await call(lab, 'POST', '/projects', { name: 'x', initialize_with_readme: true });
    console.log('ready');
    setInterval(() => {}, 1000);`,
  );
  const ran = run(['killed.mjs']);
  await expect.poll(ran.said, { timeout: 60_000 }).toBe('ready\n');
  for (const each of ran.labs.keys()) expect(processesOf(each).length).toBeGreaterThan(1);
  if (victim === 'the lab') for (const pid of ran.labs.values()) process.kill(pid, 'SIGKILL');
  else ran.child.kill('SIGKILL');
  await expectNothingLeft(ran);
  ran.child.kill('SIGKILL');
  await ran.ended;
});
