/** An independent Python client, of Debian's package python3-gitlab: the tests are in python-gitlab.py. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { gpgKey, sampleKeys } from '../support/sample-keys.ts';
import { cleanUp, makeFolder, ROOT_TOKEN, startProgram } from './support.ts';

const PYTHON = '/usr/bin/python3';

afterAll(() => cleanUp());

test('python-gitlab works as with any other instance', async () => {
  if (!existsSync(PYTHON)) throw new Error(`no ${PYTHON}: install the Debian package python3-gitlab`);
  const storages = makeFolder();
  for (const name of ['default', 'fast']) mkdirSync(join(storages, name));
  const program = await startProgram({
    env: { ASHLAR_STORAGES: `default:${join(storages, 'default')},fast:${join(storages, 'fast')}` },
  });
  const script = spawnSync(PYTHON, [join(import.meta.dirname, 'python-gitlab.py')], {
    encoding: 'utf8',
    timeout: 240_000,
    env: {
      PATH: process.env.PATH,
      ASHLAR_JOURNEY_URL: program.url,
      ASHLAR_JOURNEY_TOKEN: ROOT_TOKEN,
      ASHLAR_JOURNEY_SSH_KEY: sampleKeys.ed25519.key,
      ASHLAR_JOURNEY_SSH_MD5: sampleKeys.ed25519.md5,
      ASHLAR_JOURNEY_GPG_KEY: gpgKey.key,
    },
  });
  process.stdout.write(script.stdout ?? '');
  expect(script.stderr).toBe('');
  expect(script.status).toBe(0);
});
