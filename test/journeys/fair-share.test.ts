/**
 * One caller who wants to stop everybody: each of the attackers works at full strength from one address or account, while
 * another client reads, writes and clones. It waits for less than a second, is refused nothing, and memory stays bounded.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ownMemory } from '../../bench/processes.ts';
import { type AttackerName, attackers, type Target } from './attackers.ts';
import { type Client, machineFor, workFor } from './other-client.ts';
import { callAs, cleanUp, type Program, startProgram } from './support.ts';

const ATTACK_MS = 5_000;
const MAX_WAIT_MS = 1_000;
/** A machine that has even a server which does nothing wait is given so many times its wait. */
const MACHINE_SHARE = 10;
/** Of the program's own process. */
const MAX_MEMORY_MB = 400;

let program: Program;
let target: Target;
let client: Client;

async function json<T>(answer: Promise<Response>, status = 201): Promise<T> {
  const { status: given, ...rest } = await answer.then(async (each) => ({
    status: each.status,
    text: await each.text(),
  }));
  expect([given, rest.text]).toEqual([status, expect.any(String)]);
  return JSON.parse(rest.text) as T;
}

/** An account with a token and a project of its own. */
async function account(name: string, visibility: string): Promise<Client> {
  const user = await json<{ id: number }>(
    program.root('POST /users', {
      username: name,
      name,
      email: `${name}@example.com`,
      force_random_password: true,
    }),
  );
  const { token } = await json<{ token: string }>(
    program.root(`POST /users/${user.id}/personal_access_tokens`, { name, scopes: ['api'] }),
  );
  const project = await json<{ id: number; path_with_namespace: string }>(
    callAs(program.url, token, 'POST /projects', { name: 'Wall', visibility, initialize_with_readme: true }),
  );
  return { url: program.url, token, projectId: project.id, projectPath: project.path_with_namespace };
}

beforeAll(async () => {
  program = await startProgram();
  // The other client writes as fast as it is answered.
  await json(program.root('PUT /application/settings', { issues_create_limit: 0 }), 200);
  target = await account('greedy', 'public');
  client = await account('modest', 'private');
  const description = 'hello there '.repeat(80_000);
  for (let made = 0; made < 25; made++)
    await json(
      callAs(program.url, target.token, `POST /projects/${target.projectId}/issues`, {
        title: 'hello',
        description,
      }),
    );
});
afterAll(() => cleanUp());

function begin(name: AttackerName) {
  const script = join(import.meta.dirname, 'attack.ts');
  const child = spawn(process.execPath, [script, name, JSON.stringify(target)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    begun: lines.next(),
    async end(): Promise<Record<string, number>> {
      const exited = once(child, 'exit');
      child.stdin.end();
      const { value } = await lines.next();
      await exited;
      return JSON.parse(value ?? '{}');
    },
  };
}

test.each(Object.keys(attackers) as AttackerName[])('%s', async (name) => {
  const attack = begin(name);
  await attack.begun;
  let memory = 0;
  const watching = setInterval(() => {
    memory = Math.max(memory, ownMemory(program.pid));
  }, 500);
  const [waits, machine] = await Promise.all([workFor(client, ATTACK_MS), machineFor(ATTACK_MS)]);
  clearInterval(watching);
  const statuses = await attack.end();
  const bound = MAX_WAIT_MS + MACHINE_SHARE * machine;
  const figures = Object.entries(waits).map(
    ([kind, { p99, count }]) => `${kind} ${p99.toFixed(0)} ms (${count})`,
  );
  process.stdout.write(
    `${name}: ${figures.join(', ')}; machine ${machine.toFixed(0)} ms; ${memory.toFixed(0)} MB; ${JSON.stringify(statuses)}\n`,
  );
  for (const [kind, { p99, count, failures }] of Object.entries(waits)) {
    expect([kind, failures]).toEqual([kind, []]);
    expect(count, kind).toBeGreaterThan(0);
    expect(p99, kind).toBeLessThan(bound);
  }
  expect(memory).toBeLessThan(MAX_MEMORY_MB);
  // It did attack, and was never answered with a fault.
  expect(Object.values(statuses).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
  expect(Object.keys(statuses)).not.toContain('500');
});
