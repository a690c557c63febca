/**
 * Containers by podman, with images, containers and volumes of the journeys' own, apart from those of whoever runs them.
 * No registry of images is needed: the base is made of Debian's packages, and has this process's Node.
 */
import { execFile, execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { found, type Ran } from './debian.ts';
import { makeFolder } from './support.ts';

const root = join(import.meta.dirname, '..', '..');
const kept = join(homedir(), '.cache', 'ashlar', 'containers');

/** None runs as long, unless it hangs. */
const LONGEST_MS = 600_000;

/** podman's own defaults are above what some machines permit, and not every runtime knows older control groups. */
const configuration = `
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1000:1000"]
[engine]
runtime = "runc"
`;

let configured: string | undefined;

/** Runs podman: its exit code, and its output on both streams. */
export function podman(...args: string[]): Promise<Ran> {
  if (configured === undefined) {
    configured = join(makeFolder(), 'containers.conf');
    writeFileSync(configured, configuration);
  }
  const own = [
    '--root',
    join(kept, 'storage'),
    '--runroot',
    join(kept, 'run'),
    '--tmpdir',
    join(kept, 'tmp'),
  ];
  const options = {
    env: { PATH: process.env.PATH, HOME: homedir(), CONTAINERS_CONF: configured },
    timeout: LONGEST_MS,
    killSignal: 'SIGKILL',
    maxBuffer: 16 * 1024 * 1024,
  } as const;
  return new Promise((resolve) => {
    execFile(found('podman', 'podman'), [...own, ...args], options, (error, output, complaints) =>
      resolve({
        code: typeof error?.code === 'number' ? error.code : error ? -1 : 0,
        // Without systemd nobody asks for the health by the clock: podman says so each time.
        output: `${output}${complaints.replace(/^.*unable to get systemd connection.*\n/gm, '')}`,
      }),
    );
  });
}

/** The same of what has to end well; its output. */
export async function mustPodman(...args: string[]): Promise<string> {
  const { code, output } = await podman(...args);
  if (code !== 0) throw new Error(`podman ${args.join(' ')} ended with ${code}: ${output}`);
  return output.trim();
}

/** The files that the base has beside Debian's packages: Node, npm, and whom this machine trusts. */
function makeFiles(): string {
  const files = makeFolder();
  const [programs, libraries] = [join(files, 'usr', 'local', 'bin'), join(files, 'usr', 'local', 'lib')];
  const [settings, trusted] = [join(files, 'usr', 'local', 'etc'), join(files, 'etc', 'ssl', 'certs')];
  for (const folder of [programs, libraries, settings, trusted]) mkdirSync(folder, { recursive: true });
  copyFileSync(process.execPath, join(programs, 'node'));
  // It is bin/npm-cli.js in its folder, which the path names by a link.
  const npm = dirname(dirname(realpathSync(found('npm', 'npm'))));
  execFileSync('cp', ['--recursive', npm, join(libraries, 'npm')]);
  symlinkSync('../lib/npm/bin/npm-cli.js', join(programs, 'npm'));
  copyFileSync('/etc/ssl/certs/ca-certificates.crt', join(trusted, 'ca-certificates.crt'));
  writeFileSync(join(settings, 'npmrc'), 'cafile=/etc/ssl/certs/ca-certificates.crt\n');
  return files;
}

/** The base of the images, made once for each version of Node; its name. */
export async function baseImage(): Promise<string> {
  const name = `localhost/ashlar-base:${process.version}`;
  if ((await podman('image', 'exists', name)).code === 0) return name;
  const tar = join(makeFolder(), 'base.tar');
  const hook = `--customize-hook=sync-in ${makeFiles()} /`;
  const made = ['--quiet', '--variant=minbase', '--include=ca-certificates', hook, 'bookworm', tar];
  await new Promise<void>((resolve, reject) => {
    execFile(found('mmdebstrap', 'mmdebstrap'), made, { timeout: LONGEST_MS }, (error) =>
      error ? reject(error) : resolve(),
    );
  });
  await mustPodman('import', tar, name);
  return name;
}

let context: string | undefined;

/** Builds an image of the packed program by a recipe, whose base is ours. */
export async function buildImage(name: string, recipe: string): Promise<void> {
  const base = await baseImage();
  if (context === undefined) {
    context = makeFolder();
    const quietly = ['--ignore-scripts', '--loglevel=error'];
    execFileSync('npm', ['pack', '--pack-destination', context, ...quietly], { cwd: root });
    if (!readdirSync(context).some((file) => file.endsWith('.tgz'))) throw new Error('nothing was packed');
  }
  await mustPodman(
    ...['build', '--isolation', 'chroot', '--network', 'host', '--format', 'docker'],
    ...['--build-arg', `BASE=${base}`, '--file', recipe, '--tag', name, context],
  );
}

/** Waits until a question is answered with yes; what the container said where it never is. */
export async function waitFor(container: string, answer: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    if (await answer()) return;
    await sleep(200);
  }
  throw new Error(`${container} says: ${await mustPodman('logs', container)}`);
}
