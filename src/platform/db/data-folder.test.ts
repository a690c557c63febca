import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { narrowDataFolder, openDataFolder, readOrCreateSecretFile } from './data-folder.ts';

let parent: string;
let folder: string;
const children: ChildProcess[] = [];

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'data-folder-'));
  folder = join(parent, 'new', 'data');
});

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  rmSync(parent, { recursive: true });
});

const mode = (path: string) => statSync(path).mode & 0o777;

/** Starts a process that opens the folder, reports the outcome, and stays. What it holds must not be collected as garbage. */
async function rival(): Promise<{ child: ChildProcess; pid: string; said: string }> {
  const script = `
    import { openDataFolder } from ${JSON.stringify(join(import.meta.dirname, 'data-folder.ts'))};
    globalThis.held = await openDataFolder(${JSON.stringify(folder)}).catch((error) => console.log(error.message));
    if (globalThis.held) console.log('held');
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const [said] = await once(child.stdout, 'data');
  return { child, pid: String(child.pid), said: String(said).trim() };
}

test('the folder is made, private, and free again after close', async () => {
  const first = await openDataFolder(folder);
  expect(first.path).toBe(folder);
  expect(mode(folder)).toBe(0o700);
  await first.close();
  await first.close();
  const second = await openDataFolder(folder);
  await second.close();
  expect(existsSync(join(folder, 'pid'))).toBe(false);
});

test('a second one is refused in one line that names the holder, in the same process and in another', async () => {
  const held = await openDataFolder(folder);
  const refusal = `data folder ${folder}: in use by process ${process.pid}; stop that first, or choose another folder with ASHLAR_DATA`;
  await expect(openDataFolder(folder)).rejects.toThrow(refusal);
  expect((await rival()).said).toBe(refusal);
  await held.close();
  expect((await rival()).said).toBe('held');
});

test('of many at once one holds the folder, and after its kill -9 one of the next', async () => {
  for (let round = 0; round < 2; round++) {
    const rivals = await Promise.all([rival(), rival(), rival(), rival(), rival()]);
    const winners = rivals.filter(({ said }) => said === 'held');
    expect(winners).toHaveLength(1);
    expect(readFileSync(join(folder, 'pid'), 'utf8').trim()).toBe(winners[0]?.pid);
    const ends = rivals.map(({ child }) => once(child, 'exit'));
    for (const { child } of rivals) child.kill('SIGKILL');
    await Promise.all(ends);
  }
  const held = await openDataFolder(folder);
  await held.close();
});

test('a folder that cannot be made is an error that names it', async () => {
  const file = join(parent, 'file');
  writeFileSync(file, '');
  await expect(openDataFolder(join(file, 'data'))).rejects.toThrow(/^data folder \/.*: ENOTDIR/);
  await expect(openDataFolder(file)).rejects.toThrow(/^data folder \/.*: is not a folder/);
  await expect(openDataFolder('/proc/ashlar/data')).rejects.toThrow(/^data folder \/proc\/ashlar\/data: E/);
});

test('a secret is made once, private, and the same for all who ask at once', async () => {
  let made = 0;
  const ask = () => readOrCreateSecretFile(parent, 'key', () => `secret ${++made}`);
  const responses = await Promise.all(Array.from({ length: 10 }, ask));
  expect(new Set(responses).size).toBe(1);
  expect(await ask()).toBe(responses[0]);
  expect(mode(join(parent, 'key'))).toBe(0o600);
  expect(readFileSync(join(parent, 'key'), 'utf8')).toBe(`${responses[0]}\n`);
  expect(readdirSync(parent)).toEqual(['key']);
});

test('a folder that others could enter is narrowed, with what the program keeps in it, and a line for each', async () => {
  mkdirSync(folder, { recursive: true });
  const write = (name: string, mode: number) => {
    writeFileSync(join(folder, name), 'x', { mode });
    chmodSync(join(folder, name), mode);
  };
  write('secret-key', 0o644);
  write('postgres-run', 0o664);
  write('postgres-password', 0o600);
  write('notes-of-the-owner', 0o644);
  mkdirSync(join(folder, 'repositories'));
  chmodSync(join(folder, 'repositories'), 0o755);
  const elsewhere = join(parent, 'mounted');
  writeFileSync(elsewhere, 'x');
  chmodSync(elsewhere, 0o644);
  symlinkSync(elsewhere, join(folder, 'root-password'));
  chmodSync(folder, 0o2775);
  const lines = narrowDataFolder(folder);
  expect(lines).toEqual([
    `${folder} was open to other users (mode 775) and is not any more (700)`,
    `${join(folder, 'secret-key')} was open to other users (mode 644) and is not any more (600)`,
    `${join(folder, 'postgres-run')} was open to other users (mode 664) and is not any more (600)`,
    `${join(folder, 'repositories')} was open to other users (mode 755) and is not any more (700)`,
  ]);
  expect([mode(folder), mode(join(folder, 'secret-key')), mode(join(folder, 'repositories'))]).toEqual([
    0o700, 0o600, 0o700,
  ]);
  expect([mode(elsewhere), mode(join(folder, 'notes-of-the-owner'))]).toEqual([0o644, 0o644]);
  expect(narrowDataFolder(folder)).toEqual([]);
});
