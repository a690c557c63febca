/** A plain git server on loopback, by git's own `http-backend`: what stands at the other end of mirrors. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mustGit } from './git.ts';

export type GitServer = {
  readonly url: string;
  readonly port: number;
  /** Each request, as `GET /one.git/info/refs`. */
  readonly asked: string[];
  /** The bare repository of this name, made where there is none. */
  folderOf(name: string): string;
  make(name: string): Promise<string>;
  stop(): Promise<void>;
};

/** Takes a request over where it returns true. */
export type Fault = (request: IncomingMessage, reply: ServerResponse) => boolean;

/** `credentials` are `name:password` that each request must have. */
export async function startGitServer(
  options: { credentials?: () => string | undefined; fault?: () => Fault | undefined; port?: number } = {},
): Promise<GitServer> {
  const root = mkdtempSync(join(tmpdir(), 'git-server-'));
  const asked: string[] = [];
  const server = createServer((request, reply) => {
    const url = new URL(request.url ?? '', 'http://localhost');
    asked.push(`${request.method} ${url.pathname}`);
    const needed = options.credentials?.();
    const given = request.headers.authorization;
    if (needed !== undefined && given !== `Basic ${Buffer.from(needed).toString('base64')}`) {
      request.resume();
      reply.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end('no');
      return;
    }
    if (options.fault?.()?.(request, reply)) return;
    const backend = spawn('git', ['-c', 'http.receivepack=true', 'http-backend'], {
      env: {
        PATH: process.env.PATH,
        HOME: root,
        GIT_PROJECT_ROOT: root,
        GIT_HTTP_EXPORT_ALL: '1',
        GIT_CONFIG_NOSYSTEM: '1',
        REQUEST_METHOD: request.method,
        PATH_INFO: url.pathname,
        QUERY_STRING: url.search.slice(1),
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        ...(request.headers['content-length'] && { CONTENT_LENGTH: request.headers['content-length'] }),
        REMOTE_USER: 'somebody',
        REMOTE_ADDR: '127.0.0.1',
      },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    backend.stdin.on('error', () => {});
    request.pipe(backend.stdin);
    let head: Buffer | undefined = Buffer.alloc(0);
    backend.stdout.on('data', (chunk: Buffer) => {
      if (head === undefined) return void reply.write(chunk);
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) return;
      const lines = head.toString('latin1', 0, end).split('\r\n');
      let status = 200;
      for (const line of lines) {
        const [name = '', value = ''] = line.split(/: (.*)/s);
        if (name === 'Status') status = Number.parseInt(value, 10);
        else reply.setHeader(name, value);
      }
      reply.writeHead(status);
      reply.write(head.subarray(end + 4));
      head = undefined;
    });
    backend.once('close', () => {
      reply.end();
      // What it has not read would be in the way of the next request.
      request.unpipe().resume();
    });
    reply.once('close', () => backend.kill());
  });
  await new Promise<void>((listening) => server.listen(options.port ?? 0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const folderOf = (name: string) => join(root, name);
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    asked,
    folderOf,
    async make(name) {
      const folder = folderOf(name);
      await mustGit(root, ['init', '--quiet', '--bare', '-b', 'main', folder]);
      return folder;
    },
    stop: () =>
      new Promise((stopped) => {
        server.close(() => {
          rmSync(root, { recursive: true, force: true });
          stopped();
        });
        server.closeAllConnections();
      }),
  };
}
