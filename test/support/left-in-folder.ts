/** What labs have on this machine: their folders, and the processes that are at work in one. */
import { existsSync, globSync, readFileSync, readlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Folders of labs that a process started, itself or by others, and the process of each: other labs of this machine are not its. */
export const labsOf = (ancestor: number): { folder: string; pid: number }[] =>
  globSync([...new Set(['/dev/shm', tmpdir()])].map((parent) => join(parent, 'ashlar-lab-*', 'owner')))
    .map((file) => ({ folder: dirname(file), pid: Number(read(file)?.split(' ')[0]) }))
    .filter(({ pid }) => descends(pid, ancestor));

function descends(pid: number, ancestor: number): boolean {
  if (pid === ancestor) return true;
  // After the name in parentheses: state, then the parent.
  const parent = Number(/^.*\) \S+ (\d+)/s.exec(read(`/proc/${pid}/stat`) ?? '')?.[1]);
  return parent > 1 && descends(parent, ancestor);
}

/** Processes that work in a folder, or are told of it by their arguments. */
export const processesOf = (folder: string): string[] =>
  globSync('/proc/[0-9]*').filter((process) =>
    [read(join(process, 'cmdline')), target(join(process, 'cwd'))].some((text) => text?.includes(folder)),
  );

function read(file: string): string | undefined {
  try {
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  } catch {
    // It ended meanwhile.
    return undefined;
  }
}

function target(link: string): string | undefined {
  try {
    return readlinkSync(link);
  } catch {
    return undefined;
  }
}
