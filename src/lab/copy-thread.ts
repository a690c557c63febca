/** The body of the thread that copies data folders, in which nothing is written meanwhile. */
import { copyFileSync, linkSync, mkdirSync, readdirSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { isImmutable } from './rules.ts';

/** `to` is not there yet. */
export type CopyOrder = { from: string; to: string };

/** Names as bytes of latin1: those of refs need not be UTF-8. */
const onDisk = (path: string): Buffer => Buffer.from(path, 'latin1');

function copyFolder(from: string, to: string, path: string): void {
  mkdirSync(onDisk(to), { mode: 0o700 });
  for (const entry of readdirSync(onDisk(from), { withFileTypes: true, encoding: 'latin1' })) {
    const [source, target] = [`${from}/${entry.name}`, `${to}/${entry.name}`];
    const inside = path === '' ? entry.name : `${path}/${entry.name}`;
    if (entry.isDirectory()) copyFolder(source, target, inside);
    else if (entry.isFile() && isImmutable(inside)) linkSync(onDisk(source), onDisk(target));
    else if (entry.isFile()) copyFileSync(onDisk(source), onDisk(target));
  }
}

const latin1 = (path: string): string => Buffer.from(path).toString('latin1');

parentPort?.on('message', ({ from, to }: CopyOrder) => {
  try {
    copyFolder(latin1(from), latin1(to), '');
    parentPort?.postMessage({});
  } catch (error) {
    parentPort?.postMessage({ failed: error instanceof Error ? error.message : String(error) });
  }
});
