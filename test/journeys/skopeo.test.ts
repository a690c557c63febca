/** skopeo, which pushes, lists, inspects, copies and deletes images. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { callAs, cleanUp, makeFolder, ROOT_TOKEN, startProgram } from './support.ts';

const run = promisify(execFile);

afterAll(() => cleanUp());

const OCI = 'application/vnd.oci.image';

/** A tar archive of one file. */
function tarOf(name: string, content: string): Buffer {
  const head = Buffer.alloc(512);
  head.write(name);
  head.write('0000644\0', 100);
  head.write('0000000\0', 108);
  head.write('0000000\0', 116);
  head.write(`${content.length.toString(8).padStart(11, '0')}\0`, 124);
  head.write('00000000000\0', 136);
  head.write('        ', 148);
  head.write('0', 156);
  head.write('ustar\x0000', 257);
  const sum = head.reduce((total, byte) => total + byte, 0);
  head.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  const body = Buffer.alloc(Math.ceil(content.length / 512) * 512);
  body.write(content);
  return Buffer.concat([head, body, Buffer.alloc(1_024)]);
}

const sha256 = (content: Buffer | string): string => createHash('sha256').update(content).digest('hex');

/** An image of one layer, made by hand as an OCI layout; its manifest. */
function makeImage(folder: string, content: string): string {
  const blobs = join(folder, 'blobs', 'sha256');
  mkdirSync(blobs, { recursive: true });
  const add = (mediaType: string, bytes: Buffer | string) => {
    writeFileSync(join(blobs, sha256(bytes)), bytes);
    return { mediaType, digest: `sha256:${sha256(bytes)}`, size: Buffer.byteLength(bytes) };
  };
  const tar = tarOf('hello.txt', content);
  const layer = add(`${OCI}.layer.v1.tar+gzip`, gzipSync(tar));
  const rootfs = { type: 'layers', diff_ids: [`sha256:${sha256(tar)}`] };
  const config = add(
    `${OCI}.config.v1+json`,
    JSON.stringify({ architecture: 'amd64', os: 'linux', config: { Labels: { by: 'mason' } }, rootfs }),
  );
  const manifest = add(
    `${OCI}.manifest.v1+json`,
    JSON.stringify({ schemaVersion: 2, mediaType: `${OCI}.manifest.v1+json`, config, layers: [layer] }),
  );
  writeFileSync(join(folder, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}');
  const listed = { ...manifest, annotations: { 'org.opencontainers.image.ref.name': 'made' } };
  writeFileSync(join(folder, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests: [listed] }));
  return manifest.digest;
}

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
