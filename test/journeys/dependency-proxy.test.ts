/** skopeo and crane pull images of one server through the dependency proxy of another, whose registry behind it is. */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { makeImage } from './images.ts';
import { runGo } from './programs.ts';
import { cleanUp, makeFolder, ROOT_TOKEN, startProgram } from './support.ts';

const run = promisify(execFile);

afterAll(() => cleanUp());

test('an image comes through the proxy of a group, and is there when the registry behind is not', async () => {
  if (!existsSync('/usr/bin/skopeo')) throw new Error('no /usr/bin/skopeo: apt-get install skopeo');
  const home = makeFolder();
  const env = { PATH: process.env.PATH, HOME: home, XDG_RUNTIME_DIR: home };
  const skopeo = (...args: string[]) =>
    run('/usr/bin/skopeo', ['--insecure-policy', ...args], { env, timeout: 120_000 });

  const behind = await startProgram();
  await behind.root('POST /groups', { name: 'library', path: 'library', visibility: 'public' });
  const { id: library } = (await (await behind.root('GET /groups/library')).json()) as { id: number };
  const project = { name: 'stone', path: 'stone', namespace_id: library, visibility: 'public' };
  expect((await behind.root('POST /projects', project)).status).toBe(201);
  const layout = join(home, 'layout');
  const digest = makeImage(layout, 'granite, from far away');
  await skopeo(
    ...['copy', '--dest-tls-verify=false', '--preserve-digests', '--dest-creds', `root:${ROOT_TOKEN}`],
    ...[`oci:${layout}:made`, `docker://${new URL(behind.url).host}/library/stone:v1`],
  );

  const near = await startProgram();
  const settings = {
    dependency_proxy_enabled: true,
    dependency_proxy_upstream_url: behind.url,
    outbound_local_requests_allowlist: ['127.0.0.1'],
  };
  expect((await near.root('PUT /application/settings', settings)).status).toBe(200);
  const group = (await (await near.root('POST /groups', { name: 'Team', path: 'Team' })).json()) as {
    id: number;
  };
  const given = await near.root(`POST /groups/${group.id}/deploy_tokens`, {
    name: 'pull',
    scopes: ['read_registry', 'write_registry'],
  });
  const deploy = (await given.json()) as { username: string; token: string };
  const { host } = new URL(near.url);
  const image = `${host}/team/dependency_proxy/containers/library/stone`;
  const pulls = async (name: string, reference: string) => {
    const to = join(home, name);
    await skopeo(
      ...['copy', '--src-tls-verify=false', '--preserve-digests'],
      ...[
        '--src-creds',
        `${deploy.username}:${deploy.token}`,
        `docker://${image}${reference}`,
        `oci:${to}:made`,
      ],
    );
    for (const blob of readdirSync(join(layout, 'blobs', 'sha256')))
      expect(readFileSync(join(to, 'blobs', 'sha256', blob))).toEqual(
        readFileSync(join(layout, 'blobs', 'sha256', blob)),
      );
  };
  const crane = (...args: string[]) => runGo('crane', args, { folder: home, home, env: {} });
  const login = ['auth', 'login', host, '--insecure', '-u', deploy.username, '-p', deploy.token];
  expect((await crane(...login)).code).toBe(0);

  await pulls('first', ':v1');
  expect(await crane('digest', '--insecure', `${image}:v1`)).toEqual({ code: 0, output: `${digest}\n` });
  await behind.stop();
  await pulls('by-tag', ':v1');
  await pulls('by-digest', `@${digest}`);
  const saved = await crane('pull', '--insecure', `${image}:v1`, join(home, 'image.tar'));
  expect(saved.code, saved.output).toBe(0);
  await expect(skopeo('inspect', '--tls-verify=false', '--no-creds', `docker://${image}:v1`)).rejects.toThrow(
    /unauthorized|denied|authentication/i,
  );

  expect((await near.root(`DELETE /groups/${group.id}/dependency_proxy/cache`)).status).toBe(202);
  const isGone = async () => (await crane('digest', '--insecure', `${image}@${digest}`)).code !== 0;
  for (let waited = 0; !(await isGone()) && waited < 30_000; waited += 100) await sleep(100);
  await expect(pulls('purged', `@${digest}`)).rejects.toThrow(/upstream registry|unavailable/i);
  await near.stop();
});
