/** Names, versions and files of Python packages (facts-packages: 1.1, 1.4; PEP 440, 503 and 625). Pure. */
import { badRequest, invalid } from '../../../platform/failure.ts';
import { normalName } from '../names/python-names.ts';

const NAME = /^[A-Z0-9](?:[A-Z0-9._-]{0,253}[A-Z0-9])?$/i;
const VERSION =
  /^v?(?:\d+!)?\d+(?:\.\d+)*(?:[-_.]?(?:alpha|a|beta|b|preview|pre|c|rc)[-_.]?\d*)?(?:-\d+|[-_.]?(?:post|rev|r)[-_.]?\d*)?(?:[-_.]?dev[-_.]?\d*)?(?:\+[a-z0-9]+(?:[-_.][a-z0-9]+)*)?$/i;
const FILE = /^[A-Za-z0-9._+!-]{1,255}\.(?:tar\.gz|tgz|tar\.bz2|zip|whl|egg|exe)$/;

export const isName = (text: string): boolean => NAME.test(text);

export type PythonFile = {
  name: string;
  version: string;
  fileName: string;
  metadata: { requires_python?: string };
};

/**
 * The package and file that a form describes. 400 for what has no name, version or file name of these formats, and for a digest
 * that the content does not have.
 */
export function pythonFile(
  fields: Readonly<Record<string, string>>,
  filename: string,
  digests: { sha256: string; md5: string },
): PythonFile {
  const { name = '', version = '', requires_python, sha256_digest, md5_digest } = fields;
  if (!isName(name)) throw invalid({ name: ['is invalid'] });
  if (version.length > 255 || !VERSION.test(version)) throw invalid({ version: ['is invalid'] });
  if (!FILE.test(filename)) throw badRequest('content is not the name of a distribution');
  const isOther = (given: string | undefined, actual: string): boolean =>
    given !== undefined && given !== '' && given.toLowerCase() !== actual;
  if (isOther(sha256_digest, digests.sha256)) throw badRequest('sha256_digest is not that of the content');
  if (isOther(md5_digest, digests.md5)) throw badRequest('md5_digest is not that of the content');
  return {
    name: normalName(name),
    version,
    fileName: filename,
    // Longer ones are cut, as the public API does.
    metadata: { ...(requires_python && { requires_python: [...requires_python].slice(0, 255).join('') }) },
  };
}
