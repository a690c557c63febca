/** The thread that hashes passwords: each takes a core for a while, and all else that the machine has to do goes first. */
import { type Argon2Parameters, argon2Sync } from 'node:crypto';
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';

const LOWEST_PRIORITY = 19;

// Zero is this thread alone where threads are scheduled one by one; elsewhere it would be the whole program.
if (process.platform === 'linux') setPriority(0, LOWEST_PRIORITY);

parentPort?.on('message', (parameters: Argon2Parameters) => {
  parentPort?.postMessage(argon2Sync('argon2id', parameters));
});
