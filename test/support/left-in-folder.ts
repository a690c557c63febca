/** What labs have on this machine: their folders, and the processes that are at work in one. */
import { existsSync, globSync, readFileSync, readlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Folders of all labs, or of the one with this process. */
export const labFolders = (pid?: number): string[] =>
  globSync([...new Set(['/dev/shm', tmpdir()])].map((parent) => join(parent, 'ashlar-lab-*', 'owner')))
    .filter((file) => pid === undefined || (read(file) ?? '').startsWith(`${pid} `))
    .map(dirname);

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
