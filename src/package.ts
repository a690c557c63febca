/** The package: its folder, its version, and the version of the public API. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Sources and build output are one level below it. */
export const packageFolder = fileURLToPath(new URL('..', import.meta.url));

const own = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as { version: string };

export const version = {
  /** Of this package. */
  own: own.version,
  /** The API release that this program follows, which clients compare features with. */
  api: '18.9.0-ee',
  revision: `ashlar-${own.version}`,
};
