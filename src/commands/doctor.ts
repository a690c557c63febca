/** ashlar doctor: looks at what the program stands on, and says what to do about what is wrong. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { access, constants, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Config } from '../kernel/config.ts';
import { createObjectStore } from '../platform/blobs/object-store.ts';
import { DataFolderInUse, openDataFolder } from '../platform/db/data-folder.ts';
import { type ConnectionTarget, connect } from '../platform/db/database.ts';
import { reachEmbedded, startEmbedded } from '../platform/db/embedded/embedded.ts';
import { examineServer, type Finding } from '../platform/db/server-facts.ts';

const marks = { good: 'ok', wrong: 'WRONG', unknown: '?' };

/** Prints what was found, one subject a line; 1 when something is wrong, else 0. */
export async function examine(config: Config, print: (text: string) => void): Promise<number> {
  const findings = [
    ...(await examineDataAndDatabase(config)),
    await examineGit(),
    ...(await Promise.all([...config.storages].map(examineStorage))),
    ...(config.objectStore === undefined ? [] : [await examineObjectStore(config.objectStore)]),
    await examineProxy(config),
  ];
  for (const { subject, state, text, advice } of findings) {
    print(`${marks[state].padEnd(6)} ${subject.padEnd(12)} ${text}`);
    if (advice !== undefined) print(`${' '.repeat(20)}${advice}`);
  }
  return findings.some(({ state }) => state === 'wrong') ? 1 : 0;
}

const reason = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The first of its causes: of a request, what lies above only says that it failed. */
const origin = (error: unknown): unknown =>
  error instanceof Error && error.cause !== undefined ? origin(error.cause) : error;

/** The folder is held while the database is looked at, unless a server holds it: then that server's database is asked. */
async function examineDataAndDatabase(config: Config): Promise<Finding[]> {
  const subject = 'data folder';
  try {
    const folder = await openDataFolder(config.data);
    try {
      const good: Finding = {
        subject,
        state: 'good',
        text: `${folder.path}: writable, and no process holds it`,
      };
      return [good, ...(await examineOwnDatabase(config))];
    } finally {
      await folder.close();
    }
  } catch (error) {
    if (!(error instanceof DataFolderInUse)) {
      const text = reason(error).replace(`${subject} `, '');
      const advice = 'Give the user that runs the program a folder it may write, and name it in ASHLAR_DATA.';
      return [{ subject, state: 'wrong', text, advice }, ...(await examineTarget(config.databaseUrl))];
    }
    const writable = await access(config.data, constants.W_OK).then(
      () => true,
      () => false,
    );
    const finding: Finding = writable
      ? { subject, state: 'good', text: `${config.data}: writable, in use by process ${error.holder}` }
      : {
          subject,
          state: 'wrong',
          text: `${config.data}: cannot be written`,
          advice: 'Run this as its owner.',
        };
    return [finding, ...(await examineTarget(config.databaseUrl ?? (await reachEmbedded(config.data))))];
  }
}

async function examineOwnDatabase(config: Config): Promise<Finding[]> {
  if (config.databaseUrl !== undefined) return examineTarget(config.databaseUrl);
  const begun = ['postgres', 'postgres.log'].some((name) => existsSync(join(config.data, name)));
  if (!begun) return [{ subject: 'database', state: 'good', text: 'embedded; the first start makes it' }];
  try {
    const server = await startEmbedded(config.data);
    try {
      return await examineTarget(server.connection);
    } finally {
      await server.stop();
    }
  } catch (error) {
    return [{ subject: 'database', state: 'wrong', text: reason(error) }];
  }
}

async function examineTarget(target: ConnectionTarget | undefined): Promise<Finding[]> {
  const subject = 'database';
  if (target === undefined)
    return [{ subject, state: 'unknown', text: 'embedded; where it runs is not recorded' }];
  const sql = connect(target, { max: 1, statementTimeout: 10_000, name: 'doctor' });
  try {
    return await examineServer(sql);
  } catch (error) {
    const advice = 'Start it, and see that DATABASE_URL names its host, port, user, password and database.';
    return [{ subject, state: 'wrong', text: `does not answer: ${reason(error)}`, advice }];
  } finally {
    await sql.end({ timeout: 1 });
  }
}

async function examineGit(): Promise<Finding> {
  const advice = 'Install git 2.39 or later (Debian: apt install git).';
  try {
    const { stdout } = await promisify(execFile)('git', ['--version'], { timeout: 10_000 });
    const [text = '', major, minor] = /(\d+)\.(\d+)(?:\.\d+)*/.exec(stdout) ?? [];
    const recent = Number(major) > 2 || (Number(major) === 2 && Number(minor) >= 39);
    return recent
      ? { subject: 'git', state: 'good', text }
      : { subject: 'git', state: 'wrong', text: `${text || 'this version'} is too old`, advice };
  } catch {
    return { subject: 'git', state: 'wrong', text: 'not found', advice };
  }
}

/** A storage is made with its first repository; what is there must be a folder that can be written. */
async function examineStorage([name, folder]: [string, string]): Promise<Finding> {
  const subject = `storage ${name}`;
  try {
    const found = await stat(folder);
    if (!found.isDirectory()) throw new Error('is no folder');
    await access(folder, constants.W_OK);
    return { subject, state: 'good', text: `${folder}: writable` };
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ENOENT')
      return { subject, state: 'good', text: `${folder}: made with its first repository` };
    const advice = 'Give the user that runs the program that folder, or name another in ASHLAR_STORAGES.';
    return { subject, state: 'wrong', text: `${folder}: ${reason(error)}`, advice };
  }
}

async function examineObjectStore(address: string): Promise<Finding> {
  const subject = 'object store';
  const { host, pathname } = new URL(address);
  const shown = `${host}${pathname}`;
  try {
    await createObjectStore(address).check();
    return { subject, state: 'good', text: `${shown}: its bucket can be listed` };
  } catch (error) {
    const advice =
      'See that ASHLAR_OBJECT_STORE has its key, secret, host, bucket and region. Files wait in ASHLAR_FILES.';
    return { subject, state: 'wrong', text: `${shown}: ${reason(origin(error))}`, advice };
  }
}

/** Asks the public address for a path with an encoded slash: only an API that got it as sent speaks of a project. */
async function examineProxy({ url }: Config): Promise<Finding> {
  const subject = 'proxy';
  if (url === undefined) return { subject, state: 'unknown', text: 'not looked at: ASHLAR_URL is not set' };
  let text: string;
  try {
    const response = await fetch(`${url}/api/v4/projects/a%2Fb`, { signal: AbortSignal.timeout(10_000) });
    text = await response.text();
  } catch {
    return {
      subject,
      state: 'unknown',
      text: `${url} does not answer`,
      advice: 'Start the server, and try again.',
    };
  }
  if (text.includes('404 Project Not Found'))
    return { subject, state: 'good', text: `${url} keeps encoded slashes` };
  if (text.includes('404 Not Found')) {
    const advice = 'Let the proxy pass the path on as it came: docs/proxy.md shows how.';
    return { subject, state: 'wrong', text: `${url} decodes encoded slashes`, advice };
  }
  const advice = 'See where the proxy sends /api/v4: docs/proxy.md shows how.';
  return { subject, state: 'wrong', text: `${url} is answered by something else`, advice };
}
