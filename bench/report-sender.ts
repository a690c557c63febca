/** A process that sends reports evenly: each when it is due, or as soon as a connection is free after that. */
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { reports } from './reports.ts';

export type Steady = {
  url: string;
  paths: readonly string[];
  /** Reports a second. */
  rate: number;
  seconds: number;
  connections: number;
  first: number;
};

const { url, paths, rate, seconds, connections, first }: Steady = JSON.parse(process.argv[2] ?? '');
const agent = new Agent({ keepAlive: true, maxSockets: connections });
const report = reports(first);

function send(path: string): Promise<void> {
  const body = report();
  const headers = {
    'content-encoding': 'gzip',
    'content-type': 'application/x-sentry-envelope',
    'content-length': body.length,
  };
  return new Promise((resolve, reject) => {
    const sent = request(`${url}${path}`, { agent, method: 'POST', headers }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`a report is answered with ${response.statusCode}`));
      response.resume().once('end', resolve);
    });
    sent.once('error', reject).end(body);
  });
}

const pending: Promise<void>[] = [];
const begin = performance.now();
const passed = () => (performance.now() - begin) / 1_000;
while (passed() < seconds) {
  const due = Math.floor(passed() * rate);
  while (pending.length < due) pending.push(send(paths[pending.length % paths.length] ?? ''));
  await sleep(1);
}
await Promise.all(pending);
console.log(JSON.stringify({ accepted: pending.length, seconds: passed() }));
agent.destroy();
