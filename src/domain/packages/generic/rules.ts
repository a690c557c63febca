/** Names and addresses of generic packages (facts-packages: 1.1, 1.2). Pure. */
import { badRequest } from '../../../platform/failure.ts';

const NAME = /^[A-Za-z0-9._+-]{1,255}$/;
const VERSION = /^(?!.*\.\.)[\w.+-]{1,255}$/;

const isName = (text: string): boolean => NAME.test(text) && text !== '.' && text !== '..';

export type GenericFile = {
  name: string;
  version: string;
  /** As it is stored, and without its folders. */
  fileName: string;
  savedAs: string;
};

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
  return { name, version, savedAs: file, fileName: [...path, file].join('%2F') };
}

const statuses = ['default', 'hidden'] as const;

/** What the address says of the package, or else the form; 400 for values that are none. */
export function optionsOf(
  address: { status?: 'default' | 'hidden' | undefined; select?: 'package_file' | undefined },
  fields: Readonly<Record<string, string>>,
): { status?: 'default' | 'hidden'; selects: boolean } {
  const { status: given, select = address.select } = fields;
  const status = address.status ?? statuses.find((each) => each === given);
  if (given !== undefined && status === undefined) throw badRequest('status does not have a valid value');
  if (select !== undefined && select !== 'package_file')
    throw badRequest('select does not have a valid value');
  return { ...(status && { status }), selects: select !== undefined };
}
