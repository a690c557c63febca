/** The program's own version, and the version of the public API that clients find. */
import { readFileSync } from 'node:fs';

const own = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

export const version = {
  /** Of this package. */
  own: own.version,
  /** What clients compare features with: the release whose API this program follows. */
  api: '18.9.0-ee',
  revision: `ashlar-${own.version}`,
};
