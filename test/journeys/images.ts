/** Images made by hand, for programs that push them. */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

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

/** An image of one layer, made by hand as an OCI layout; its manifest's digest. */
export function makeImage(folder: string, content: string): string {
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
