/** The data of each released version, made by its own program, are started by this one, and all of them are there. */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { removeProgram, serve } from '../support/program.ts';
import { ask, missingAnswers } from './answers.ts';
import { git, LARGE, PASSWORD, ROOT_TOKEN, TARBALL_SHA1 } from './contents.ts';
import { ageOf, layFiles, readSaid, releasesFolder } from './fixture.ts';
import { isIntended } from './intended-changes.ts';
import { onReleased } from './released.ts';

const releases = readdirSync(releasesFolder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

/** Below 1 MB each, since they are kept for ever. */
const MOST_BYTES = 1_000_000;

afterAll(removeProgram);

/** Runs the work on a database and a data folder as the release left them. */
const asReleased = (
  name: string,
  work: (env: Record<string, string>, folder: string) => Promise<void>,
): Promise<void> =>
  onReleased(name, async ({ user, password, host, database }) => {
    const folder = mkdtempSync(join(tmpdir(), 'ashlar-released-'));
    try {
      const data = join(folder, 'data');
      mkdirSync(data, { mode: 0o700 });
      layFiles(name, data);
      const env = {
        ASHLAR_DATA: data,
        ASHLAR_URL: 'http://ashlar.example',
        DATABASE_URL: `postgres://${user}:${encodeURIComponent(password)}@/${database}?host=${encodeURIComponent(host)}`,
      };
      await work(env, folder);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

test('there are fixtures, and they are small', () => {
  expect(releases).toContain('0.1.0');
  for (const name of releases) {
    const folder = join(releasesFolder, name);
    const size = readdirSync(folder).reduce((all, file) => all + statSync(join(folder, file)).size, 0);
    expect(size, name).toBeLessThan(MOST_BYTES);
  }
});

test.each(releases)('what release %s held is there, and goes on', (name) =>
  asReleased(name, async (env, folder) => {
    const { contents, answers, refs } = readSaid(name);
    const program = await serve({ ...env, ASHLAR_ROOT_TOKEN: ROOT_TOKEN });
    const { url } = program;
    try {
      // Every record, as the release told it.
      const missing = await missingAnswers(url, ROOT_TOKEN, answers, ageOf(name));
      expect(missing.filter((line) => !isIntended(name, line))).toEqual([]);
      expect(Object.keys(answers).length).toBeGreaterThan(500);

      // Git has the same refs, and all objects of them.
      const remote = (path: string) => `${url.replace('://', `://ada:${contents.token}@`)}/${path}.git`;
      for (const [path, before] of Object.entries(refs)) {
        expect(before, path).toMatch(/refs\/heads\/main/);
        expect(git(folder, 'ls-remote', remote(path)), path).toBe(before);
        const clone = join(folder, path.replace('/', '-'));
        git(folder, 'clone', '-q', '--mirror', remote(path), clone);
        git(clone, 'fsck', '--full', '--strict');
      }

      // The password, the token, and bytes of each kind of file.
      const post = (path: string, token: string | undefined, body: unknown) =>
        fetch(`${url}${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...(token && { 'private-token': token }) },
          body: JSON.stringify(body),
        });
      const signIn = async (password: string) =>
        (await post('/oauth/token', undefined, { grant_type: 'password', username: 'ada', password })).status;
      expect(await signIn(PASSWORD)).toBe(200);
      expect(await signIn('another')).not.toBe(200);
      const bytes = async (path: string) => {
        const response = await fetch(`${url}${path}`, { headers: { 'private-token': contents.token } });
        expect(response.status, path).toBe(200);
        return Buffer.from(await response.arrayBuffer());
      };
      const at = `/api/v4/projects/${contents.project}`;
      expect(`${await bytes(contents.upload)}`).toBe('an upload');
      expect(sha256(await bytes(`${at}/packages/generic/tools/1.0.0/hammer.bin`))).toBe(sha256(LARGE));
      const npm = JSON.parse(`${await bytes(`${at}/packages/npm/@workshop%2Ftongs`)}`);
      const tarball = new URL(npm.versions['1.0.0'].dist.tarball).pathname;
      expect(
        createHash('sha1')
          .update(await bytes(tarball))
          .digest('hex'),
      ).toBe(TARBALL_SHA1);
      expect(`${await bytes(`${at}/jobs/artifacts/main/raw/out/anvil.txt?job=build`)}`).toBe('an artifact');
      expect(sha256(await bytes(`${at}/repository/files/large.bin/raw?ref=main&lfs=true`))).toBe(
        sha256(LARGE),
      );

      // What is sealed is opened by the key.
      const sealed = await ask(url, ROOT_TOKEN, `/projects/${contents.project}/variables/SEALED`);
      expect(sealed).toMatchObject({ value: 'sealed for the project' });

      // It is written on, behind what was there.
      const issue = await post(`${at}/issues`, contents.token, { title: 'After the upgrade' });
      expect(issue.status).toBe(201);
      const work = join(folder, 'work');
      git(folder, 'clone', '-q', remote('workshop/anvil'), work);
      git(work, 'commit', '-q', '--allow-empty', '-m', 'After the upgrade');
      git(work, 'push', '-q', 'origin', 'HEAD:refs/heads/after');
      expect(git(work, 'ls-remote', 'origin', 'refs/heads/after')).toContain(
        git(work, 'rev-parse', 'HEAD').trim(),
      );
    } finally {
      await program.stop();
    }
  }),
);
