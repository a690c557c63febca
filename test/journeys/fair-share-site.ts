/** A program with an attacker's account and another client's, and the effect of the one on the other. */
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ownMemory } from '../../bench/processes.ts';
import { endlessTree, pushHostile } from '../support/hostile-objects.ts';
import type { Attacked, AttackedSite, AttackerName } from './attackers.ts';
import { type Client, type Kind, machineFor, type Waits, workFor } from './other-client.ts';
import { callAs, makeFolder, type Program, startProgram } from './support.ts';

export type Site = { program: Program; target: AttackedSite; client: Client };

async function made<T>(response: Promise<Response>): Promise<T> {
  const { status, ok, ...rest } = await response.then(async (each) => ({
    status: each.status,
    ok: each.ok,
    text: await each.text(),
  }));
  if (!ok) throw new Error(`${status} ${rest.text}`);
  return JSON.parse(rest.text) as T;
}

type Project = { id: number; path_with_namespace: string };

/** An account with a token and a project of its own. */
async function makeAccount(program: Program, name: string, visibility: string): Promise<Client> {
  const person = { username: name, name, email: `${name}@example.com`, force_random_password: true };
  const user = await made<{ id: number }>(program.root('POST /users', person));
  const wish = { name, scopes: ['api'] };
  const { token } = await made<{ token: string }>(
    program.root(`POST /users/${user.id}/personal_access_tokens`, wish),
  );
  const project = await made<Project>(
    callAs(program.url, token, 'POST /projects', { name: 'Wall', visibility, initialize_with_readme: true }),
  );
  return { url: program.url, token, projectId: project.id, projectPath: project.path_with_namespace };
}

const DESCRIPTION = 'hello there '.repeat(80_000);
const ISSUES = 25;
const MEBIBYTE = 1_048_576;

/** Files that take git long, and exceed the buffers between it and a client; the commit that adds them. */
function pushFiles({ url, token, projectPath }: Client): string {
  const folder = join(makeFolder(), 'wall');
  const address = new URL(`/${projectPath}.git`, url);
  address.username = 'oauth2';
  address.password = token;
  const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8' });
  git('clone', '-q', address.href, folder);
  writeFileSync(join(folder, 'lines.txt'), 'a line of the wall\n'.repeat((7 * MEBIBYTE) / 19));
  writeFileSync(join(folder, 'stone.bin'), randomBytes(24 * MEBIBYTE));
  git('-C', folder, 'add', '.');
  git('-C', folder, '-c', 'user.name=A', '-c', 'user.email=a@example.com', 'commit', '-qm', 'Files');
  git('-C', folder, 'push', '-q', 'origin', 'HEAD');
  return git('-C', folder, 'rev-parse', 'HEAD').trim();
}

/** Starts the program and makes both accounts with their data. */
export async function openSite(): Promise<Site> {
  const program = await startProgram();
  // The other client writes as fast as it gets responses, and no throttle by the hour stands between the attacker and the
  // shares.
  const unlimited = { issues_create_limit: 0, throttle_unauthenticated_api_enabled: false };
  await made(program.root('PUT /application/settings', unlimited));
  const greedy = await makeAccount(program, 'greedy', 'public');
  const client = await makeAccount(program, 'modest', 'private');
  const { url, token, projectId } = greedy;
  const issue = { title: 'hello', description: DESCRIPTION };
  for (let count = 0; count < ISSUES; count++)
    await made(callAs(url, token, `POST /projects/${projectId}/issues`, issue));
  const hostile = await made<Project>(callAs(url, token, 'POST /projects', { name: 'Endless' }));
  await pushHostile(url, hostile.path_with_namespace, token, endlessTree());
  return { program, client, target: { ...greedy, head: pushFiles(greedy), hostileId: hostile.id } };
}

function begin(name: AttackerName, noteable: AttackedSite) {
  const script = join(import.meta.dirname, 'attack.ts');
  const child = spawn(process.execPath, [script, name, JSON.stringify(noteable)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  // Bounded from now on: it ends by itself when it has sent its most.
  const exited = once(child, 'exit');
  return {
    begun: lines.next(),
    async end(): Promise<Attacked> {
      child.stdin.end();
      const { value } = await lines.next();
      await exited;
      // The result of attack().
      return JSON.parse(value ?? '') as Attacked;
    },
  };
}

export type Suffered = {
  waits: Record<Kind, Waits>;
  /**
   * The waits, in milliseconds, that the machine itself causes: of a request to a server that does nothing,
   * and of a start of git.
   */
  machineMs: number;
  /** The peak of the program's own process. */
  memoryMb: number;
  attacked: Attacked;
};

/** The other client's waits for so long while the attacker works at full strength; alone without one. */
export async function suffer(
  { program, target: noteable, client }: Site,
  name: AttackerName | undefined,
  milliseconds: number,
): Promise<Suffered> {
  const attack = name === undefined ? undefined : begin(name, noteable);
  await attack?.begun;
  let memoryMb = 0;
  const watching = setInterval(() => {
    memoryMb = Math.max(memoryMb, ownMemory(program.pid));
  }, 500);
  const [waits, machineMs] = await Promise.all([workFor(client, milliseconds), machineFor(milliseconds)]);
  clearInterval(watching);
  return { waits, machineMs, memoryMb, attacked: (await attack?.end()) ?? { sent: 0, statuses: {} } };
}
