/** Names and addresses of generic packages (facts-packages: 1.1, 1.2). Pure. */
import { badRequest } from '../../../platform/failure.ts';

const NAME = /^[A-Za-z0-9._+-]{1,255}$/;
const VERSION = /^(?!.*\.\.)[\w.+-]{1,255}$/;

const isName = (text: string): boolean => NAME.test(text) && text !== '.' && text !== '..';

export type GenericFile = { name: string; version: string; fileName: string };

/**
 * The package and file of an address, whose end is the version, the folders of the file where it has some, and the file. The
 * folders become a part of the stored name. 400 for a part that is not allowed there.
 */
export function genericFile(name: string, rest: string): GenericFile {
  const [version = '', ...path] = rest.split('/');
  const file = path.pop() ?? '';
  if (!isName(name)) throw badRequest('package_name is invalid');
  if (!VERSION.test(version)) throw badRequest('package_version is invalid');
  if (!isName(file)) throw badRequest('file_name is invalid');
  if (!path.every(isName)) throw badRequest('path is invalid');
  return { name, version, fileName: [...path, file].map(encodeURIComponent).join('%2F') };
}
