/** How commits stand to each other: how far apart two are, and which of many another one contains. */
import type { GitFolder } from '../objects.ts';
import { textInTime } from '../program/long-runs.ts';
import { endingError, LONG_RUN_TIMEOUT_MS, longRuns, spawnGit, tooLarge } from '../program/program.ts';
import type { ObjectFolder } from './history.ts';

export type Divergence = {
  /** The number of commits that only the first has. */
  left: number;
  /** The number of commits that only the second has. */
  right: number;
};

/** Counts the commits that only one of the two has; all of them where the two are unrelated. */
export async function countDivergence(place: ObjectFolder, left: string, right: string): Promise<Divergence> {
  const args = ['rev-list', '--left-right', '--count', `${left}...${right}`, '--'];
  const [ofLeft, ofRight] = (await textInTime(args, place)).trim().split('\t').map(Number);
  return { left: ofLeft ?? 0, right: ofRight ?? 0 };
}

/**
 * Those of the commits that `target` contains, by one process; a commit that is not there is not contained.
 * 422 where they have too many commits of their own.
 */
export async function containedIn(
  git: GitFolder,
  target: string,
  commits: readonly string[],
): Promise<Set<string>> {
  const infos = await Promise.all([...new Set(commits)].map((oid) => git.info(oid)));
  const contained = new Set(infos.flatMap((info) => (info?.type === 'commit' ? info.oid : [])));
  if (contained.size === 0) return contained;
  await listed(git.folder, ['rev-list', '--stdin'], [...contained, `^${target}`], (oid) => {
    contained.delete(oid);
    return contained.size > 0;
  });
  return contained;
}

/** Those of the commits that contain `commit`, itself among them, by one process; what is not there does not contain it. */
export async function containing(
  git: GitFolder,
  commit: string,
  commits: readonly string[],
): Promise<Set<string>> {
  const infos = await Promise.all([...new Set(commits)].map((oid) => git.info(oid)));
  const sought = new Set(infos.flatMap((info) => (info?.type === 'commit' ? info.oid : [])));
  const found = new Set(sought.delete(commit) ? [commit] : []);
  if (sought.size === 0) return found;
  // Only what has the commit is listed.
  await listed(git.folder, ['rev-list', '--ancestry-path', '--stdin'], [...sought, `^${commit}`], (oid) => {
    if (sought.delete(oid)) found.add(oid);
    return sought.size > 0;
  });
  return found;
}

/** Runs git, and looks at each commit that it lists as long as `look` wants more. */
const listed = (
  folder: string,
  args: readonly string[],
  input: readonly string[],
  look: (oid: string) => boolean,
): Promise<void> =>
  longRuns.run(async () => {
    const deadline = AbortSignal.timeout(LONG_RUN_TIMEOUT_MS);
    const program = await spawnGit(args, { folder, kind: 'long', signal: deadline });
    program.stdin.end([...input, ''].join('\n'));
    try {
      let rest = '';
      for await (const chunk of program.stdout) {
        const lines = `${rest}${(chunk as Buffer).toString('latin1')}`.split('\n'); // a stream without an encoding gives buffers
        rest = lines.pop() ?? '';
        for (const oid of lines) if (!look(oid)) return;
      }
      const ending = await program.ended;
      if (ending.code !== 0) throw deadline.aborted ? tooLarge() : endingError(args, folder, ending);
    } finally {
      program.signal('SIGKILL');
      program.stdout.destroy();
    }
  });
