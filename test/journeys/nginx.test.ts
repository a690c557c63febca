/** Behind Debian's nginx, configured as docs/proxy.md says, and as it warns against. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type IncomingHttpHeaders, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  cleanUp,
  freePort,
  launcher,
  makeFolder,
  type Program,
  ROOT_TOKEN,
  startProgram,
} from './support.ts';

const NGINX = '/usr/sbin/nginx';

const manual = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'proxy.md'), 'utf8');
const [, right = ''] = /```nginx\n([\s\S]*?)```/.exec(manual) ?? [];
const [, mistake = ''] = /Wrong: `(proxy_pass [^`]*)`/.exec(manual) ?? [];
const wrong = right.replace(/proxy_pass [^;]*;/, `${mistake.replace(/;$/, '')};`);

const proxies: ChildProcess[] = [];
afterAll(async () => {
  for (const proxy of proxies) if (proxy.kill('SIGTERM')) await once(proxy, 'exit');
  await cleanUp();
});

/** A port of the loopback address that nothing listens on. */
/**
 * Runs nginx with the manual's lines, in front of `program`, in a folder of its own; resolves when it
 * responds.
 */
async function startNginx(lines: string, port: number, program: Program): Promise<void> {
  if (!existsSync(NGINX)) throw new Error(`no ${NGINX}: install the Debian package nginx-light`);
  const folder = makeFolder();
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  for (const name of temporary) mkdirSync(join(folder, name));
  const config = [
    process.getuid?.() === 0 ? 'user root;' : '',
    'daemon off; master_process off; pid nginx.pid; error_log stderr warn; events {} http { access_log off;',
    ...temporary.map((name) => `${name}_temp_path ${name};`),
    lines.replace('listen 80;', `listen 127.0.0.1:${port};`).replaceAll('http://127.0.0.1:8080', program.url),
    '}',
  ].join('\n');
  expect(config).toContain(`listen 127.0.0.1:${port};`);
  expect(config).toContain(`proxy_pass ${program.url}`);
  writeFileSync(join(folder, 'nginx.conf'), config);
  const nginx = spawn(NGINX, ['-p', folder, '-c', 'nginx.conf', '-e', 'stderr'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  proxies.push(nginx);
  let said = '';
  nginx.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    said += chunk;
  });
  await vi.waitFor(
    async () => {
      const response = await get(port, '/-/liveness').catch(() => undefined);
      if (response?.status !== 200) throw new Error(`nginx does not answer: ${said}`);
    },
    { timeout: 20_000 },
  );
}

/** A GET on the loopback address, its path and its headers as they are. */
async function get(
  port: number,
  path: string,
  headers: Record<string, string> = {},
): Promise<{ status: number | undefined; headers: IncomingHttpHeaders; body: string }> {
  const sent = request({ host: '127.0.0.1', port, path, headers, agent: false });
  const answered = once(sent, 'response');
  sent.end();
  const [response] = await answered;
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

/** Output and exit code of `ashlar doctor` for the address of a proxy. */
function askDoctor(program: Program, port: number): { code: number | null; said: string } {
  const env = { ...process.env, ASHLAR_DATA: program.data, ASHLAR_URL: `http://127.0.0.1:${port}` };
  const doctor = spawnSync(process.execPath, [launcher, 'doctor'], { encoding: 'utf8', env });
  return { code: doctor.status, said: doctor.stdout };
}

const token = { 'private-token': ROOT_TOKEN };
const nextLink = (headers: IncomingHttpHeaders): string | undefined =>
  /<([^>]+)>; rel="next"/.exec(String(headers.link))?.[1];

async function makeProjects(program: Program): Promise<void> {
  for (const path of ['one', 'two']) {
    const made = await program.root('POST /projects', { name: path, path, visibility: 'public' });
    expect(made.status).toBe(201);
  }
}

/** The number of an address's requests, of so many, that were allowed. */
async function countAllowed(port: number, address: string, requests: number): Promise<number> {
  let allowed = 0;
  for (let sent = 0; sent < requests; sent++) {
    const response = await get(port, '/api/v4/projects/root%2Fone', { 'x-forwarded-for': address });
    expect([200, 429]).toContain(response.status);
    if (response.status === 200) allowed += 1;
  }
  return allowed;
}

test('the manual has both configurations', () => {
  expect(right).toContain('proxy_pass http://127.0.0.1:8080;');
  expect(wrong).toContain('proxy_pass http://127.0.0.1:8080/;');
});

describe('a proxy that is trusted', () => {
  let program: Program;
  let port: number;

  beforeAll(async () => {
    port = await freePort();
    const env = { ASHLAR_URL: `http://127.0.0.1:${port}`, ASHLAR_TRUSTED_PROXIES: '127.0.0.1' };
    program = await startProgram({ env });
    await startNginx(right, port, program);
    await makeProjects(program);
  });

  test('keeps encoded slashes, and other reserved characters', async () => {
    expect(await get(port, '/api/v4/projects/root%2Fone', token)).toMatchObject({ status: 200 });
    expect(JSON.parse((await get(port, '/api/v4/projects/root%2Ftwo', token)).body)).toMatchObject({
      path_with_namespace: 'root/two',
      web_url: `http://127.0.0.1:${port}/root/two`,
    });
    // Received as one segment: it is an address without an invitation, and no unknown endpoint.
    const invitation = `/api/v4/projects/root%2Fone/invitations/a%3Fb%2Fc%40example.com`;
    const deleted = await fetch(`http://127.0.0.1:${port}${invitation}`, {
      method: 'DELETE',
      headers: token,
    });
    expect(deleted.status).toBe(404);
    expect(await deleted.json()).toEqual({ message: '404 Not found' });
    expect((await get(port, '/api/v4/projects/root/one', token)).status).toBe(404);
  });

  test('gives links its own origin, and the one it is asked by', async () => {
    const path = '/api/v4/projects?per_page=1&order_by=id';
    const { headers } = await get(port, path, token);
    expect(nextLink(headers)).toContain(`http://127.0.0.1:${port}/api/v4/projects?`);
    const named = await get(port, path, { ...token, host: 'code.example.org' });
    expect(nextLink(named.headers)).toContain('http://code.example.org/api/v4/projects?');
    const next = nextLink(headers)?.replace(`http://127.0.0.1:${port}`, '') ?? '';
    expect(JSON.parse((await get(port, next, token)).body)).toHaveLength(1);
  });

  test('tells clients apart by the address that it forwards', async () => {
    const changed = await program.root('PUT /application/settings', {
      throttle_unauthenticated_api_requests_per_period: 5,
      throttle_unauthenticated_api_period_in_seconds: 86_400,
    });
    expect(changed.status).toBe(200);
    expect(await countAllowed(port, '203.0.113.1', 8)).toBe(5);
    expect(await countAllowed(port, '203.0.113.2', 8)).toBe(5);
    // The client's own header value stands left of the proxy's, and is not trusted.
    expect(await countAllowed(port, '203.0.113.9, 203.0.113.1', 2)).toBe(0);
  });

  test('is found right by the doctor', async () => {
    expect(askDoctor(program, port)).toEqual({
      code: 0,
      said: expect.stringContaining(`http://127.0.0.1:${port} keeps encoded slashes`),
    });
  });
});

describe('a proxy that is not trusted', () => {
  let port: number;
  let program: Program;

  beforeAll(async () => {
    port = await freePort();
    program = await startProgram({ env: { ASHLAR_URL: 'https://code.example.com' } });
    await startNginx(right, port, program);
    await makeProjects(program);
  });

  test('cannot choose the origin of links', async () => {
    const host = { host: 'evil.example.org' };
    const { headers } = await get(port, '/api/v4/projects?per_page=1', { ...token, ...host });
    expect(nextLink(headers)).toContain('https://code.example.com/api/v4/projects?');
  });

  test('is one client, whatever it forwards', async () => {
    const throttle = {
      throttle_unauthenticated_api_requests_per_period: 5,
      throttle_unauthenticated_api_period_in_seconds: 86_400,
    };
    expect((await program.root('PUT /application/settings', throttle)).status).toBe(200);
    expect(await countAllowed(port, '203.0.113.1', 8)).toBe(5);
    expect(await countAllowed(port, '203.0.113.2', 8)).toBe(0);
  });
});

test('a proxy that decodes slashes: 404, and the doctor says why', async () => {
  const program = await startProgram();
  const port = await freePort();
  await startNginx(wrong, port, program);
  await makeProjects(program);
  expect((await program.root('GET /projects/root%2Fone')).status).toBe(200);
  expect((await get(port, '/api/v4/projects/1', token)).status).toBe(200);
  const decoded = await get(port, '/api/v4/projects/root%2Fone', token);
  expect(decoded.status).toBe(404);
  const { code, said } = askDoctor(program, port);
  expect(code).toBe(1);
  expect(said).toMatch(/WRONG +proxy +http:\S+ decodes encoded slashes/);
  expect(said).toContain('docs/proxy.md');
});
