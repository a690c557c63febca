/** skopeo, which pushes, lists, inspects, copies and deletes images. */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { makeImage } from './images.ts';
import { callAs, cleanUp, makeFolder, ROOT_TOKEN, startProgram } from './support.ts';

const run = promisify(execFile);

afterAll(() => cleanUp());

test('an image goes there, is seen there, comes back, and is deleted', async () => {
  if (!existsSync('/usr/bin/skopeo')) throw new Error('no /usr/bin/skopeo: apt-get install skopeo');
  const program = await startProgram();
  const made = await program.root('POST /projects', { name: 'House', path: 'House', visibility: 'private' });
  const { id } = (await made.json()) as { id: number };
  const body = { name: 'd', scopes: ['read_registry', 'write_registry'] };
  const given = await program.root(`POST /projects/${id}/deploy_tokens`, body);
  const deploy = (await given.json()) as { username: string; token: string };
  const home = makeFolder();
  const login = (username: string, password: string) => ['--creds', `${username}:${password}`];
  const skopeo = async (...args: string[]): Promise<string> => {
    const env = { PATH: process.env.PATH, HOME: home, XDG_RUNTIME_DIR: home };
    const { stdout } = await run('/usr/bin/skopeo', ['--insecure-policy', ...args], {
      env,
      timeout: 120_000,
    });
    return stdout;
  };
  const image = `docker://${new URL(program.url).host}/root/house/web`;
  const layout = join(home, 'layout');
  const digest = makeImage(layout, 'a house of stone');
  const pushes = login(deploy.username, deploy.token);
  const push = (tag: string) =>
    skopeo(
      ...['copy', '--dest-tls-verify=false', '--preserve-digests'],
      ...pushes.map((each) => each.replace('--creds', '--dest-creds')),
      ...[`oci:${layout}:made`, `${image}:${tag}`],
    );
  await push('v1');
  // Its blobs are there already.
  await push('v2');
  const reads = ['--tls-verify=false', ...pushes];
  const { Tags } = JSON.parse(await skopeo('list-tags', ...reads, image));
  expect(Tags).toEqual(['v1', 'v2']);
  const seen = JSON.parse(await skopeo('inspect', ...reads, `${image}:v1`));
  expect(seen).toMatchObject({ Digest: digest, Labels: { by: 'mason' }, Os: 'linux' });

  const back = join(home, 'back');
  await skopeo(
    ...['copy', '--src-tls-verify=false', '--preserve-digests', '--src-creds', pushes[1] ?? ''],
    ...[`${image}@${digest}`, `oci:${back}:made`],
  );
  for (const name of readdirSync(join(layout, 'blobs', 'sha256')))
    expect(readFileSync(join(back, 'blobs', 'sha256', name))).toEqual(
      readFileSync(join(layout, 'blobs', 'sha256', name)),
    );

  // From one image to another of the project: its blobs are mounted.
  const root = login('root', ROOT_TOKEN);
  const both = ['--src-tls-verify=false', '--dest-tls-verify=false'];
  const copy = [...both, '--src-creds', root[1] ?? '', '--dest-creds', root[1] ?? ''];
  await skopeo('copy', ...copy, '--preserve-digests', `${image}:v1`, `${image}/copy:v1`);
  expect(JSON.parse(await skopeo('inspect', '--tls-verify=false', ...root, `${image}/copy:v1`)).Digest).toBe(
    digest,
  );

  await expect(skopeo('delete', ...reads, `${image}:v1`)).rejects.toThrow();
  await skopeo('delete', '--tls-verify=false', ...root, `${image}:v1`);
  await expect(skopeo('inspect', ...reads, `${image}:v2`)).rejects.toThrow(/unknown/);
  await expect(skopeo('inspect', '--tls-verify=false', ...login('x', 'wrong'), image)).rejects.toThrow(
    /unauthorized|authentication/i,
  );

  // Public images need no credential.
  await callAs(program.url, ROOT_TOKEN, `PUT /projects/${id}`, { visibility: 'public' });
  await skopeo('inspect', '--tls-verify=false', '--no-creds', `${image}/copy:v1`);
  await program.stop();
});
