/** All files below a tree, as git lists them, up to a bound for ordinary repositories. */
import type { GitFolder } from '../objects.ts';
import { decode } from '../parse.ts';
import { endingError, LONG_RUN_TIMEOUT_MS, longRuns, spawnGit, tooLarge } from '../program/program.ts';
import { countFiles, MAX_FILES } from '../trees.ts';

export type ListedFile = {
  path: string;
  /** `100644`, `100755`, or `120000` for a symbolic link. */
  mode: string;
  size: number;
  oid: string;
};

const MAX_LIST_BYTES = 96 * 1_048_576;

const entry = /^(\d{6}) blob ([0-9a-f]+) +(\d+)\t(.*)$/s;

/** Parses a line of `git ls-tree -r -l -z`, read as latin1; undefined for a submodule. */
export function parseFile(line: string): ListedFile | undefined {
  const [, mode, oid, size, path] = entry.exec(line) ?? [];
  if (mode === undefined || oid === undefined || path === undefined) return undefined;
  return { mode, oid, size: Number(size), path: decode(Buffer.from(path, 'latin1')) };
}

/** Calls `visit` for each file below the tree or commit, without submodules; 422 where they are too many. */
export async function eachFile(
  git: GitFolder,
  tree: string,
  visit: (file: ListedFile) => void,
): Promise<void> {
  await countFiles(git, tree);
  await longRuns.run(() => list(git, tree, visit));
}

async function list({ folder }: GitFolder, tree: string, visit: (file: ListedFile) => void): Promise<void> {
  const deadline = AbortSignal.timeout(LONG_RUN_TIMEOUT_MS);
  const args = ['ls-tree', '-r', '-l', '-z', '--full-tree', tree];
  const program = await spawnGit(args, { folder, kind: 'long', signal: deadline });
  program.stdin.end();
  let files = 0;
  let bytes = 0;
  let rest = '';
  try {
    for await (const chunk of program.stdout as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      const lines = `${rest}${chunk.toString('latin1')}`.split('\0');
      rest = lines.pop() ?? '';
      files += lines.length;
      if (files > MAX_FILES || bytes > MAX_LIST_BYTES) throw tooLarge();
      for (const line of lines) {
        const file = parseFile(line);
        if (file) visit(file);
      }
    }
    const ending = await program.ended;
    if (ending.code === 0) return;
    throw deadline.aborted ? tooLarge() : endingError(args, folder, ending);
  } finally {
    program.signal('SIGKILL');
    program.stdout.destroy();
  }
}
