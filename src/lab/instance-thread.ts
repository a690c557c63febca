/** The body of an instance's thread: a clock of its own, and a server in front of the app that is swapped. */
import { mkdir } from 'node:fs/promises';
import module from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import type { LabHandlers, ThreadData, ThreadHandlers } from './types.ts';
import { openWire } from './wire.ts';

if (parentPort === null) throw new Error('it runs in a thread');
const port = parentPort;
// As bin/ashlar.js does for the process: a thread has none by itself.
module.enableCompileCache(join(homedir(), '.cache', 'ashlar', 'node'));
const data: ThreadData = workerData;
await mkdir(data.folder, { recursive: true, mode: 0o700 });
const instance = import('./instance.ts').then(({ createInstance }) => createInstance(data, lab.ask));

const handlers: ThreadHandlers = {
  warm: async () => (await instance).warm(),
  open: async (options) => (await instance).open(options),
  control: async (order) => (await instance).obey(order),
  stop: async () => (await instance).stop(),
};
const lab = openWire<LabHandlers>(
  { send: (message) => port.postMessage(message), receive: (listener) => port.on('message', listener) },
  handlers,
);
