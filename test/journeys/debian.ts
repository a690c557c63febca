/** Programs of Debian's packages, which .ci/run installs: how a journey runs one. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';

/** Where .ci/run puts those that the system has not. */
const own = join(homedir(), '.cache', 'ashlar', 'journeys', 'bin');

/** None runs as long, unless it hangs. */
const LONGEST_MS = 300_000;

/** The path of a program of the package; a path stays as it is. */
export function found(program: string, pack: string): string {
  const folders = ['/usr/bin', ...(process.env.PATH ?? '').split(delimiter), own];
  const path = folders
    .map((folder) => (isAbsolute(program) ? program : join(folder, program)))
    .find(existsSync);
  if (path === undefined) throw new Error(`no ${program}: install ${pack}, as .ci/run does`);
  return path;
}

export type Ran = { code: number; output: string };

/** Runs it in a folder that is also its home, with no other environment of ours: its exit code, and its output on both streams. */
export const runDebian = (
  { program, pack = program }: { program: string; pack?: string },
  folder: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Ran> =>
  new Promise((resolve) => {
    const options = {
      cwd: folder,
      env: {
        PATH: process.env.PATH ?? '/usr/bin:/bin',
        HOME: folder,
        LC_ALL: 'C.UTF-8',
        GIT_CONFIG_NOSYSTEM: '1',
        ...env,
      },
      timeout: LONGEST_MS,
      killSignal: 'SIGKILL',
    } as const;
    execFile(found(program, pack), args, options, (error, output, complaints) =>
      resolve({
        code: typeof error?.code === 'number' ? error.code : error ? -1 : 0,
        output: `${output}${complaints}`,
      }),
    );
  });

/** The same of one that has to end well; its output. */
export async function mustRun(...asked: Parameters<typeof runDebian>): Promise<string> {
  const { code, output } = await runDebian(...asked);
  if (code !== 0) throw new Error(`${asked[0].program} ${asked[2].join(' ')} ended with ${code}: ${output}`);
  return output;
}
