/**
 * The baseline of the program's repositories: a bare Node server that hands git's own requests to `git
 * http-backend`, and answers reads by a git process for each. It asks git's clients for a credential, as
 * every server that takes pushes does, and checks neither that nor any ability. Usage: node
 * bench/http-backend.ts FOLDER; the repository is FOLDER/bench.git. Prints its address.
 */
import { execFile, spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gitEnvironment } from '../src/platform/git/program/program.ts';
import { portOf } from '../src/platform/http/server/server.ts';

const [folder = ''] = process.argv.slice(2);
const repository = join(folder, 'bench.git');
const run = promisify(execFile);

/** git's own gateway, with the configuration that the program's repositories have. */
function gateway(request: IncomingMessage, response: ServerResponse): void {
  if (request.headers.authorization === undefined) {
    response.writeHead(401, { 'www-authenticate': 'Basic realm="bench"' }).end();
    return;
  }
  const [path = '', query = ''] = (request.url ?? '').split('?');
  const child = spawn('git', ['http-backend'], {
    env: {
      ...gitEnvironment,
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: '1',
      REMOTE_USER: 'bench',
      PATH_INFO: path,
      QUERY_STRING: query,
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      ...(request.headers['content-encoding'] && {
        HTTP_CONTENT_ENCODING: request.headers['content-encoding'],
      }),
      ...(request.headers['git-protocol'] && { GIT_PROTOCOL: String(request.headers['git-protocol']) }),
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.on('error', () => {});
  request.pipe(child.stdin);
  let head = Buffer.alloc(0);
  const readHead = (chunk: Buffer) => {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) return;
    child.stdout.off('data', readHead);
    for (const line of head.toString('latin1', 0, end).split('\r\n')) {
      const [name = '', value = ''] = line.split(': ');
      if (name === 'Status') response.statusCode = Number.parseInt(value, 10);
      else response.setHeader(name, value);
    }
    response.write(head.subarray(end + 4));
    child.stdout.pipe(response);
  };
  child.stdout.on('data', readHead);
}

/** The same JSON, more or less, that the API gives, by a process for each request. */
const reads: Record<string, () => Promise<unknown>> = {
  '/tree': async () => {
    const { stdout } = await run(
      'git',
      ['--git-dir', repository, 'ls-tree', 'refs/heads/main:area-1/part-1'],
      {
        env: gitEnvironment,
      },
    );
    return stdout
      .split('\n')
      .map((line) => ({ mode: line.slice(0, 6), id: line.slice(12, 52), name: line.slice(53) }));
  },
  '/file': async () => {
    const { stdout } = await run(
      'git',
      ['--git-dir', repository, 'cat-file', 'blob', 'refs/heads/main:area-1/part-1/file-1.txt'],
      { env: gitEnvironment },
    );
    return { content: Buffer.from(stdout).toString('base64') };
  },
  '/commits': async () => {
    const { stdout } = await run(
      'git',
      ['--git-dir', repository, 'log', '-20', '--format=%H %an %ae %aI %s', 'refs/heads/main'],
      {
        env: gitEnvironment,
      },
    );
    return stdout.split('\n').map((line) => ({ id: line.slice(0, 40), title: line.slice(41) }));
  },
};

const server = createServer((request, response) => {
  const read = reads[request.url ?? ''];
  if (!read) return gateway(request, response);
  void read().then((value) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(value));
  });
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`http://127.0.0.1:${portOf(server)}\n`));
