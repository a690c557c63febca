/** What this package is: its folder, its version, and the version of the public API that clients find. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The sources, and what is built of them, lie one level below it. */
export const packageFolder = fileURLToPath(new URL('..', import.meta.url));

const own = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as { version: string };

export const version = {
  /** Of this package. */
  own: own.version,
  /** What clients compare features with: the release whose API this program follows. */
  api: '18.9.0-ee',
  revision: `ashlar-${own.version}`,
};
