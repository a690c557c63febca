/** Small Debian packages for tests, with members as wrong as a test wants them. */
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { tarFile } from './tar.ts';

export type ArMember = { name: string; content: Buffer; size?: string; end?: string };

export const arFile = (...members: ArMember[]): Buffer =>
  Buffer.concat([
    Buffer.from('!<arch>\n'),
    ...members.flatMap(({ name, content, size = String(content.length), end = '`\n' }) => {
      const header = [name.padEnd(16), '0'.padEnd(12), '0'.padEnd(6), '0'.padEnd(6), '100644'.padEnd(8)];
      return [
        Buffer.from(`${header.join('')}${size.padEnd(10)}${end}`),
        content,
        Buffer.alloc(content.length & 1),
      ];
    }),
  ]);

/** A package with this control file, packed as `gzip` unless otherwise. */
export const debOf = (
  control: string,
  { ending = '.gz', pack = gzipSync as (tar: Buffer) => Buffer } = {},
): Buffer =>
  arFile(
    { name: 'debian-binary', content: Buffer.from('2.0\n') },
    {
      name: `control.tar${ending}`,
      content: pack(tarFile({ name: './md5sums', content: 'a' }, { name: './control', content: control })),
    },
    { name: 'data.tar.xz', content: Buffer.from('granite') },
  );

export const controlOf = (fields: Record<string, string> = {}): string =>
  Object.entries({
    Package: 'stone',
    Version: '1.0-1',
    Architecture: 'amd64',
    Maintainer: 'Ann <ann@example.com>',
    Description: 'granite\n dark',
    ...fields,
  })
    .map(([name, value]) => `${name}: ${value}\n`)
    .join('');

const hex = (algorithm: string, content: Buffer): string =>
  createHash(algorithm).update(content).digest('hex');

/** The lists of files in descriptions of sources and uploads; sections are for those of uploads. */
export function listsOf(files: Record<string, Buffer>, section?: string): string {
  const lines = (algorithm: string, more = '') =>
    Object.entries(files)
      .map(([name, content]) => ` ${hex(algorithm, content)} ${content.length}${more} ${name}\n`)
      .join('');
  return `Checksums-Sha1:\n${lines('sha1')}Checksums-Sha256:\n${lines('sha256')}Files:\n${lines(
    'md5',
    section === undefined ? '' : ` ${section} optional`,
  )}`;
}
