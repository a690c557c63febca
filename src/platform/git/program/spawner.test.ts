/** Programs of the spawner: input, output, exit codes, and the end of their children. */
import { execFileSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { type Bounds, launch } from './spawner.ts';

const env = { PATH: '/usr/local/bin:/usr/bin:/bin' };
const shell = (script: string) => launch('sh', ['-c', script], env);

/** Ids of processes whose command line contains the pattern. */
const running = (pattern: string): string[] => {
  try {
    return execFileSync('pgrep', ['-f', pattern], { encoding: 'utf8' }).split('\n').filter(Boolean);
  } catch {
    // There is none.
    return [];
  }
};

async function untilNone(pattern: string): Promise<string[]> {
  for (let times = 0; times < 100 && running(pattern).length > 0; times += 1) await pause(50);
  return running(pattern);
}

test('what is written to it is what it reads, and what it writes is read to the end', async () => {
  const bytes = Buffer.alloc(3_000_000, 'all of it ');
  const programs = Array.from({ length: 20 }, async () => {
    const { stdin, stdout, ended } = await launch('cat', [], env);
    stdin.end(bytes);
    expect((await text(stdout)) === bytes.toString()).toBe(true);
    expect(await ended).toEqual({ code: 0, killedBy: null, complaint: '' });
  });
  await Promise.all(programs);
});

test('its code and its complaint are told; it has the environment that it was given, and no other', async () => {
  const script = 'echo "$GIVEN $HOME."; echo no >&2; exit 3';
  const { stdout, ended } = await launch('sh', ['-c', script], { ...env, GIVEN: 'this' });
  expect(await text(stdout)).toBe('this .\n');
  expect(await ended).toEqual({ code: 3, killedBy: null, complaint: 'no\n' });
});

test('one that reads nothing and says why is heard', async () => {
  const { stdin, stdout, ended } = await shell('exec 0<&-; echo because; exit 1');
  stdin.write(Buffer.alloc(5_000_000));
  expect(await text(stdout)).toBe('because\n');
  expect(await ended).toEqual({ code: 1, killedBy: null, complaint: '' });
});

test('a program that is not there is an error', async () => {
  await expect(launch('no-such-program', [], env)).rejects.toThrow('ENOENT');
});

test('a signal ends what it has started, too', async () => {
  const { stdout, ended, signal } = await shell('sleep 3210 & echo; wait');
  await new Promise((resolve) => stdout.once('data', resolve));
  expect(running('^sleep 3210').length).toBe(1);
  signal('SIGKILL');
  stdout.resume();
  expect(await ended).toEqual({ code: null, killedBy: 'SIGKILL', complaint: '' });
  expect(await untilNone('^sleep 3210')).toEqual([]);
  signal('SIGKILL');
});

test('what it may allocate is bounded, in the way that it is told', async () => {
  const limits = async (bounds: Bounds) =>
    text((await launch('sh', ['-c', 'echo $(ulimit -v) $(ulimit -d)'], env, bounds)).stdout);
  expect(await limits({})).toBe('2097152 unlimited\n');
  expect(await limits({ heap: 'unlimited' })).toBe('unlimited unlimited\n');
  expect(await limits({ heap: 100_000 })).toBe('2097152 100000\n');
});

test('its time of a processor is bounded, and what it waits for does not count', async () => {
  const run = async (script: string) => {
    const { stdout, ended } = await launch('sh', ['-c', script], env, { seconds: 1 });
    stdout.resume();
    return ended;
  };
  const [burning, waiting] = await Promise.all([run('while :; do :; done'), run('sleep 2; exit 4')]);
  expect(burning).toEqual({ code: null, killedBy: 'SIGXCPU', complaint: '' });
  expect(waiting).toEqual({ code: 4, killedBy: null, complaint: '' });
});

test('one that is to stand back does, and so does what it starts', async () => {
  const script = 'read line; cut -d" " -f19 /proc/self/stat';
  const niceness = async (bounds: Bounds) => {
    const { stdin, stdout } = await launch('sh', ['-c', script], env, bounds);
    stdin.end('go\n');
    return text(stdout);
  };
  const own = Number(await niceness({}));
  expect(await niceness({ niceness: 3 })).toBe(`${own + 3}\n`);
  expect(await niceness({ niceness: 19 })).toBe('19\n');
});

test('when the process that starts them is killed, programs are ended, their callers told, and the next is started', async () => {
  const { stdout, ended } = await shell('echo $PPID; sleep 3211');
  const [said] = await new Promise<[Buffer]>((resolve) =>
    stdout.once('data', (...data: [Buffer]) => resolve(data)),
  );
  process.kill(Number(said.toString()), 'SIGKILL');
  stdout.on('error', () => {}).resume();
  expect(await ended).toEqual({
    code: null,
    killedBy: null,
    complaint: 'The process that starts programs has ended.',
  });
  expect(await untilNone('^sleep 3211')).toEqual([]);
  const next = await shell('echo again');
  expect(await text(next.stdout)).toBe('again\n');
});

test('when nothing was started for a while, the process that starts them ends, and the next is started', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { stdout, ended } = await shell('echo $PPID');
  const spawner = Number(await text(stdout));
  await ended;
  vi.advanceTimersByTime(20_000);
  vi.useRealTimers();
  await expect.poll(() => existsSync(`/proc/${spawner}/cwd`)).toBe(false);
  expect(await text((await shell('echo again')).stdout)).toBe('again\n');
});

test('when somebody tidies up where its sockets are, that costs one program, and the next is started', async () => {
  const { stdout } = await shell('tr "\\0" " " < /proc/$PPID/cmdline');
  const address = (await text(stdout)).trim().split(' ').at(-1) ?? '';
  expect(address).toMatch(/ashlar-git-\w+\/programs$/);
  rmSync(dirname(address), { recursive: true });
  await expect(shell('echo lost')).rejects.toThrow('The process that starts programs has ended.');
  expect(await text((await shell('echo again')).stdout)).toBe('again\n');
});
