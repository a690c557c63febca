/**
 * The spawner: a small process that starts programs for the large one (spawner.ts). It connects each program
 * to the large process by two sockets, reports its end, and exits when that process disconnects.
 */
import { spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { constants, getPriority, setPriority } from 'node:os';
import { dirname } from 'node:path';
import type { Order, Report } from './spawner.ts';

const [address = ''] = process.argv.slice(2);
const MAX_STDERR_BYTES = 65_536;

const report = (what: Report): void => {
  if (process.connected) process.send?.(what);
};

/** A socket to the large process, whose first line identifies it. */
function dial(id: number, stream: 'input' | 'output'): Promise<Socket> {
  const { promise, resolve } = Promise.withResolvers<Socket>();
  const socket = connect({ path: address, allowHalfOpen: true });
  // The program reads its data.
  socket.pause();
  // Without a connection it is useless: the next spawner has a new one.
  socket.once('error', () => process.exit(1));
  socket.write(`${stream} ${id}\n`, () => resolve(socket));
  return promise;
}

/**
 * Lowers a program's priority. Linux may weigh sessions against each other before processes, and each program
 * here has its own session: then the session gets the niceness.
 */
function yieldProcessor(pid: number, niceness: number): void {
  if (niceness === 0) return;
  for (const lower of [
    () => setPriority(pid, Math.min(getPriority() + niceness, constants.priority.PRIORITY_LOW)),
    () => writeFileSync(`/proc/${pid}/autogroup`, String(niceness)),
  ]) {
    try {
      lower();
    } catch {
      // It has ended, or the system lacks this: no harm.
    }
  }
}

async function start({ id, program, args, env, niceness }: Order): Promise<void> {
  const streams = await Promise.all([dial(id, 'input'), dial(id, 'output')]);
  // A process group of its own: children would survive a kill of the program alone.
  const child = spawn(program, args, { env, stdio: [...streams, 'pipe'], detached: true });
  for (const stream of streams) stream.destroy();
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (complaint.length < MAX_STDERR_BYTES) complaint += text;
  });
  child.once('error', ({ message }) => report({ id, failed: message }));
  child.once('close', (code, killedBy) => report({ id, code, killedBy, complaint }));
  if (child.pid === undefined) return;
  yieldProcessor(child.pid, niceness);
  report({ id, pid: child.pid });
}

process.on('message', (order: Order) => {
  start(order).catch(({ message }: Error) => report({ id: order.id, failed: message }));
});
process.on('disconnect', () => {
  rmSync(dirname(address), { recursive: true, force: true });
  process.exit();
});
