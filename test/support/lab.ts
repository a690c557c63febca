/** A lab as the command starts it, from source. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Described } from '../../src/lab/types.ts';
import { packageFolder } from '../../src/package.ts';
import { type Site, siteAt } from './app.ts';
import { labsOf } from './left-in-folder.ts';

export type Started = { child: ChildProcess; described: Described; site: Site; folder: string };

export async function startLab(args: string[] = []): Promise<Started> {
  const child = spawn(process.execPath, [join(packageFolder, 'src', 'cli.ts'), 'lab', ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    },
  });
  let said = '';
  child.stderr.on('data', (text) => (said += text));
  const line = await Promise.race([
    once(createInterface(child.stdout), 'line').then(([text]) => String(text)),
    once(child, 'close').then(() => Promise.reject(new Error(said))),
  ]);
  const described: Described = JSON.parse(line);
  const folder = labsOf(child.pid ?? 0)[0]?.folder ?? 'no folder';
  return { child, described, site: siteAt(described.url, described.token), folder };
}
