/** Stored names of uploaded files. Pure. */
import { extname, posix } from 'node:path';

/** Characters. */
const MAX_NAME_LENGTH = 200;

/** The file's name and extension without folders: letters, digits, `_`, `.`, `-` and `+` of any script. */
export function cleanName(filename: string): string {
  const own = posix.basename(filename.replaceAll('\\', '/'));
  const plain = own.replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc}.+-]/gu, '_');
  if (plain === '') return 'unnamed';
  const named = /^\.+$/.test(plain) ? `_${plain}` : plain;
  if (named.length <= MAX_NAME_LENGTH) return named;
  const ending = extname(named).slice(0, MAX_NAME_LENGTH / 4);
  return `${named.slice(0, MAX_NAME_LENGTH - ending.length)}${ending}`.toWellFormed();
}
