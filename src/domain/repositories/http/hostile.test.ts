import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, expect, test } from 'vitest';
import { ROOT_TOKEN, useApp } from '../../../../test/support/app.ts';
import { type MadeProject, makeProject, makeUser, uniqueName } from '../../../../test/support/factories.ts';
import { addressOf, commitFiles, makeHome, mustGit, runGit } from '../../../../test/support/git.ts';
import { fillProject } from '../../../../test/support/repositories.ts';
import { NO_OBJECT } from '../../../platform/git/names.ts';
import { FLUSH, pktLine } from '../../../platform/git/program/pkt-line.ts';
import { gitText } from '../../../platform/git/program/program.ts';
import { projectRepository } from '../store/containers.ts';

const app = useApp();
const home = makeHome();
afterAll(() => rmSync(home, { recursive: true, force: true }));

const diskFolder = (project: MadeProject) =>
  app.app.services.repositories.folder(projectRepository(project.id), 'default');

const authorization = `Basic ${Buffer.from(`oauth2:${ROOT_TOKEN}`).toString('base64')}`;

type Service = 'upload-pack' | 'receive-pack';

/** Begins a request by hand; the caller writes its body, and reads its response or does not. */
function begin(project: MadeProject, service: Service, headers: Record<string, string> = {}): ClientRequest {
  const request = httpRequest(`${app.url}/${project.path_with_namespace}.git/git-${service}`, {
    method: 'POST',
    headers: { authorization, 'content-type': `application/x-git-${service}-request`, ...headers },
  });
  request.on('error', () => {});
  return request;
}

async function post(
  project: MadeProject,
  service: Service,
  body: Buffer,
  headers: Record<string, string> = {},
) {
  const response = await fetch(`${app.url}/${project.path_with_namespace}.git/git-${service}`, {
    method: 'POST',
    headers: { authorization, 'content-type': `application/x-git-${service}-request`, ...headers },
    body: new Uint8Array(body),
  });
  return { status: response.status, text: await response.text() };
}

/** Processes that were started with the folder in their arguments. */
function processesOf(folder: string, word: string): number[] {
  const found: number[] = [];
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    try {
      const line = readFileSync(`/proc/${name}/cmdline`, 'utf8');
      if (line.includes(folder) && line.includes(word)) found.push(Number(name));
    } catch {
      // It has ended meanwhile.
    }
  }
  return found;
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 400; tries += 1) {
    if (await condition()) return;
    await sleep(25);
  }
  throw new Error('it never came to be');
}

async function nothingHeld(project: MadeProject): Promise<boolean> {
  const { sql } = app.app.services.database;
  return (await sql`select from repository_uses where container_id = ${project.id}`).length === 0;
}

const command = (ref: string, after: string, before = NO_OBJECT) =>
  Buffer.concat([pktLine(`${before} ${after} ${ref}\0report-status side-band-64k`), FLUSH]);

const someId = 'a'.repeat(40);

const emptyPack = (() => {
  const head = Buffer.concat([Buffer.from('PACK'), Buffer.from([0, 0, 0, 2, 0, 0, 0, 0])]);
  return Buffer.concat([head, createHash('sha1').update(head).digest()]);
})();

async function withSettings(values: Record<string, unknown>): Promise<void> {
  const { services } = app.app;
  await services.settings.write(services.database.db, values);
  services.settings.forget();
}
afterEach(() => withSettings({ receive_max_input_size: null }));

test('a client that hangs up in the middle of a clone leaves no process', async () => {
  const project = await makeProject(app);
  const noise = randomBytes(12_000_000).toString('base64');
  const head = await fillProject(app, project.id, [{ 'noise.txt': noise }]);
  const request = begin(project, 'upload-pack');
  // It never reads: git waits to write, and is there until the client goes.
  request.on('response', (response) => response.pause());
  request.end(Buffer.concat([pktLine(`want ${head}\n`), FLUSH, pktLine('done\n')]));
  await until(() => processesOf(diskFolder(project), 'upload-pack').length > 0);
  expect(await nothingHeld(project)).toBe(false);
  request.destroy();
  await until(() => processesOf(diskFolder(project), '').every((pid) => !isService(pid)));
  await until(() => nothingHeld(project));
});

/** Readers of objects stay for a while on purpose. */
const isService = (pid: number): boolean => {
  try {
    return !readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('cat-file');
  } catch {
    return false;
  }
};

test('a client that hangs up in the middle of a push leaves nothing', async () => {
  const project = await makeProject(app);
  await fillProject(app, project.id);
  const request = begin(project, 'receive-pack');
  const pack = Buffer.concat([Buffer.from('PACK'), Buffer.from([0, 0, 0, 2, 0, 0, 16, 0])]);
  request.write(Buffer.concat([command('refs/heads/half', someId), pack]));
  await until(() => processesOf(diskFolder(project), 'receive-pack').length > 0);
  const [pid = 0] = processesOf(diskFolder(project), 'receive-pack');
  // The limit holds whatever sizes a pack gives its objects. It is a shell first, which sets the limit and
  // becomes git.
  await until(() => /Max address space +2147483648/.test(readFileSync(`/proc/${pid}/limits`, 'utf8')));
  request.destroy();
  await until(() => processesOf(diskFolder(project), '').every((each) => !isService(each)));
  await until(() => nothingHeld(project));
  const left = readdirSync(join(diskFolder(project), 'objects')).filter((name) => name.startsWith('tmp_'));
  expect(left).toEqual([]);
  await runGit(home, ['ls-remote', addressOf(app.url, project.path_with_namespace, ROOT_TOKEN)]).then(
    ({ output }) => expect(output).not.toContain('half'),
  );
});

test('an object that says it has 3 GiB is refused', async () => {
  const project = await makeProject(app);
  await fillProject(app, project.id);
  // A tree: size in groups of seven bits after the first four.
  const size = [0x20 | 0x80];
  for (let rest = (3 * 2 ** 30) / 16; rest > 0; rest = Math.floor(rest / 128))
    size.push((rest % 128) | (rest >= 128 ? 0x80 : 0));
  const pack = Buffer.concat([
    Buffer.from('PACK'),
    Buffer.from([0, 0, 0, 2, 0, 0, 0, 1]),
    Buffer.from(size),
    Buffer.alloc(1_000),
  ]);
  const response = await post(
    project,
    'receive-pack',
    Buffer.concat([command('refs/heads/bomb', someId), pack]),
  );
  expect(response.status).toBe(200);
  expect(response.text).toContain('ng refs/heads/bomb unpacker error');
  expect(response.text).toContain('Out of memory');
});

test('a push over the limit is refused, by what it says and by what it has', async () => {
  const project = await makeProject(app);
  await fillProject(app, project.id);
  const work = join(home, uniqueName('large'));
  await mustGit(home, ['clone', '-q', addressOf(app.url, project.path_with_namespace, ROOT_TOKEN), work]);
  await commitFiles(work, { 'noise.txt': randomBytes(3_000_000).toString('base64') });
  await withSettings({ receive_max_input_size: 1 });
  const said = await runGit(work, ['-c', 'http.postBuffer=10000000', 'push', 'origin', 'main']);
  expect(said.output).toContain('HTTP 413');
  const had = await runGit(work, ['push', 'origin', 'main']);
  expect(had.output).toContain('pack exceeds maximum allowed size');
  expect(had.code).not.toBe(0);
  await withSettings({ receive_max_input_size: null });
  await mustGit(work, ['push', '-q', 'origin', 'main']);
});

test('what git must not store is refused: a tree with .git in it', async () => {
  const project = await makeProject(app);
  await fillProject(app, project.id);
  const work = join(home, uniqueName('dotgit'));
  await mustGit(home, ['clone', '-q', addressOf(app.url, project.path_with_namespace, ROOT_TOKEN), work]);
  const blob = (await mustGit(work, ['hash-object', '-w', '--stdin'], 'x')).trim();
  writeFileSync(join(work, 'tree'), Buffer.concat([Buffer.from('100644 .git\0'), Buffer.from(blob, 'hex')]));
  const tree = await mustGit(work, ['hash-object', '-t', 'tree', '-w', '--literally', 'tree']);
  const commit = (await mustGit(work, ['commit-tree', tree.trim(), '-m', 'x'])).trim();
  const { code, output } = await runGit(work, ['push', 'origin', `${commit}:refs/heads/bad`]);
  expect(code).not.toBe(0);
  expect(output).toContain('hasDotgit');
});

test('no hook and no configuration of a repository runs anything', async () => {
  const project = await makeProject(app);
  await fillProject(app, project.id);
  const folder = diskFolder(project);
  const mark = join(home, 'it-ran');
  const script = join(folder, 'hooks', 'pre-receive');
  mkdirSync(join(folder, 'hooks'));
  for (const name of [
    'pre-receive',
    'update',
    'post-receive',
    'post-update',
    'reference-transaction',
    'proc-receive',
  ]) {
    writeFileSync(join(folder, 'hooks', name), `#!/bin/sh\ntouch ${mark}\n`);
    chmodSync(join(folder, 'hooks', name), 0o755);
  }
  const config = readFileSync(join(folder, 'config'), 'utf8');
  writeFileSync(
    join(folder, 'config'),
    `${config}\thooksPath = ${join(folder, 'hooks')}\n\tfsmonitor = ${script}\n\talternateRefsCommand = ${script}\n[uploadpack]\n\tpackObjectsHook = ${script}\n[receive]\n\tprocReceiveRefs = refs/heads\n`,
  );
  const work = join(home, uniqueName('hooks'));
  await mustGit(home, ['clone', '-q', addressOf(app.url, project.path_with_namespace, ROOT_TOKEN), work]);
  await commitFiles(work, { 'a.txt': 'a' });
  await runGit(work, ['push', 'origin', 'main', 'HEAD:refs/heads/other']);
  expect(existsSync(mark)).toBe(false);
});

test('nobody changes what an id stands for', async () => {
  const project = await makeProject(app);
  const head = await fillProject(app, project.id, [{ a: '1' }, { a: '2' }]);
  const folder = diskFolder(project);
  const forged = (
    await gitText(['commit-tree', `${head}^{tree}`], {
      folder,
      input: 'forged',
      environment: {
        GIT_AUTHOR_NAME: 'M',
        GIT_AUTHOR_EMAIL: 'm@x',
        GIT_COMMITTER_NAME: 'M',
        GIT_COMMITTER_EMAIL: 'm@x',
      },
    })
  ).trim();
  const refused = await post(project, 'receive-pack', command(`refs/replace/${head}`, forged), {});
  expect(refused.text).toContain('cannot be the name of a branch or tag here');
  // git does not obey a replacement that came by another way either.
  await gitText(['update-ref', `refs/replace/${head}`, forged], { folder });
  const shown = await app.root(`GET /projects/${project.id}/repository/commits/${head}`);
  expect(shown.body.title).toBe('Commit 2');
});

test('requests that are no requests of git', async () => {
  const project = await makeProject(app);
  const head = await fillProject(app, project.id);
  for (const [service, body, headers, status] of [
    ['receive-pack', Buffer.from('hello'), {}, 400],
    ['receive-pack', pktLine(`${NO_OBJECT} ${someId} refs/heads/x\0report-status`), {}, 400],
    ['receive-pack', Buffer.concat([pktLine(`${NO_OBJECT} ${someId} refs/heads/x\0`), FLUSH]), {}, 400],
    // git would read these lists of capabilities in another way than we do.
    ...['report-status quiet\tside-band-64k', 'report-status\0side-band-64k'].map(
      (list) =>
        [
          'receive-pack',
          Buffer.concat([pktLine(`${NO_OBJECT} ${someId} refs/heads/x\0${list}`), FLUSH]),
          {},
          400,
        ] as const,
    ),
    ['receive-pack', FLUSH, {}, 200],
    ['receive-pack', Buffer.from('hello'), { 'content-encoding': 'gzip' }, 400],
    ['upload-pack', FLUSH, { 'content-encoding': 'br' }, 415],
    ['upload-pack', Buffer.from('nonsense'), { 'content-encoding': 'gzip' }, 200],
  ] as const)
    expect([service, headers, (await post(project, service, body, headers)).status]).toEqual([
      service,
      headers,
      status,
    ]);
  const request = Buffer.concat([pktLine(`want ${head}\n`), FLUSH, pktLine('done\n')]);
  const response = await post(project, 'upload-pack', gzipSync(request), { 'content-encoding': 'gzip' });
  expect(response.text).toContain('NAK\nPACK');
  // 200 MB of zeros in 200 kB.
  const bomb = gzipSync(Buffer.concat([pktLine(`want ${head}\n`), Buffer.alloc(200_000_000, '0')]));
  const refused = await post(project, 'upload-pack', bomb, { 'content-encoding': 'gzip' });
  expect(refused.text).not.toContain('PACK');
  await until(() => nothingHeld(project));
});

/** Commands without their end. */
const unending = (count: number): Buffer =>
  Buffer.concat(
    Array.from({ length: count }, (_, index) =>
      pktLine(`${NO_OBJECT} ${someId} refs/tags/${'x'.repeat(200)}${index}`),
    ),
  );

const answerTo = async (request: ClientRequest): Promise<IncomingMessage> => {
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.resume();
  return response;
};

test('who may not push is told so before any of the push is read', async () => {
  const project = await makeProject(app, { visibility: 'public' });
  await fillProject(app, project.id);
  const reader = await makeUser(app);
  const password = Buffer.from(`${reader.username}:${reader.token}`).toString('base64');
  for (const [headers, status] of [
    [{ authorization: '' }, 401],
    [{ authorization: `Basic ${password}` }, 403],
  ] as const) {
    const request = begin(project, 'receive-pack', headers);
    // A line that no push has: a server that read it would say 400.
    request.write('nonsense');
    expect((await answerTo(request)).statusCode).toBe(status);
    request.destroy();
  }
});

test('the commands of all pushes together are bounded; small pushes go on', async () => {
  const project = await makeProject(app);
  const head = await fillProject(app, project.id);
  const commands = unending(100_000);
  const first = begin(project, 'receive-pack');
  await new Promise((written) => first.write(commands, written));
  const second = begin(project, 'receive-pack');
  second.write(commands);
  const refused = await answerTo(second);
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '5']);
  second.destroy();
  const small = await post(
    project,
    'receive-pack',
    Buffer.concat([command('refs/tags/small', head), emptyPack]),
  );
  expect([small.status, small.text]).toEqual([200, expect.stringContaining('ok refs/tags/small')]);
  first.destroy();
  // Requests the refs, as the beginning of a fetch or a push.
  const list = Buffer.concat([commands, pktLine(`${NO_OBJECT} ${someId} refs/tags/one-too-many`)]);
  await until(async () => (await post(project, 'receive-pack', list)).text.includes('100000 refs at most'));
});

/** A push in the middle of its pack. */
function beginHalf(project: MadeProject, headers: Record<string, string> = {}) {
  const push = begin(project, 'receive-pack', headers);
  push.write(Buffer.concat([command('refs/heads/half', someId), Buffer.from('PACK')]));
  return push;
}

const places = availableParallelism() * 8;

/** As many half pushes of each administrator as one may have at once; root's last. */
async function takePlaces(...others: string[]) {
  const project = await makeProject(app);
  await fillProject(app, project.id);
  const running = () => processesOf(diskFolder(project), 'receive-pack').length;
  const pushes: ClientRequest[] = [];
  for (const authorization of [...others, authorizationOf(ROOT_TOKEN)]) {
    pushes.push(...Array.from({ length: places / 2 }, () => beginHalf(project, { authorization })));
    await until(() => running() >= pushes.length);
  }
  return { project, pushes, running };
}

const authorizationOf = (token: string) => `Basic ${Buffer.from(`oauth2:${token}`).toString('base64')}`;
const anotherAdmin = async () => authorizationOf((await makeUser(app, { admin: true })).token);

test('questions of all fetches together are bounded too, whoever asks', async () => {
  const project = await makeProject(app, { visibility: 'public' });
  const head = await fillProject(app, project.id);
  const request = Buffer.alloc(30_000_000, '0');
  const first = begin(project, 'upload-pack', { authorization: '' });
  await new Promise((written) => first.write(request, written));
  const second = begin(project, 'upload-pack', { authorization: '' });
  second.write(request);
  const refused = await answerTo(second);
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '5']);
  second.destroy();
  const small = Buffer.concat([pktLine(`want ${head}\n`), FLUSH, pktLine('done\n')]);
  expect((await post(project, 'upload-pack', small)).text).toContain('PACK');
  first.destroy();
  await until(async () => (await post(project, 'upload-pack', request)).status === 200);
});

test('a caller has half of the places, waits in a line of its own, and is told whose line it is; others go on', {
  timeout: 600_000,
}, async () => {
  const { project, pushes } = await takePlaces();
  const told = [429, '5', '429 Too Many Requests: too many pushes of yours at once\n'];
  const toldTo = async (push: ClientRequest) => {
    const [response] = (await once(push, 'response')) as [IncomingMessage];
    return [response.statusCode, response.headers['retry-after'], await text(response)];
  };
  // One more than may wait: one of them is refused at once, the others after their timeout.
  const waiting = Array.from({ length: 51 }, () => beginHalf(project));
  const responses = waiting.map(toldTo);
  expect(await Promise.race(responses)).toEqual(told);
  const other = command('refs/tags/other', someId);
  expect(
    (
      await post(project, 'receive-pack', Buffer.concat([other, emptyPack]), {
        authorization: await anotherAdmin(),
      })
    ).status,
  ).toBe(200);
  for (const response of await Promise.all(responses)) expect(response).toEqual(told);
  for (const push of [...pushes, ...waiting]) push.destroy();
  await until(() => nothingHeld(project));
  expect((await post(project, 'receive-pack', Buffer.from('0000'))).status).toBe(200);
});

test('no more run at once than there are places; the next waits for one, and clones for none of them', {
  timeout: 600_000,
}, async () => {
  const { project, pushes, running } = await takePlaces(await anotherAdmin());
  const third = await anotherAdmin();
  const refused = beginHalf(project, { authorization: third });
  const [response] = (await once(refused, 'response')) as [IncomingMessage];
  expect([response.statusCode, response.headers['retry-after'], await text(response)]).toEqual([
    503,
    '5',
    '503 Service Unavailable: too many pushes\n',
  ]);
  const next = beginHalf(project, { authorization: third });
  const held = async () => {
    const { sql } = app.app.services.database;
    return (await sql`select from repository_uses where container_id = ${project.id} and purpose = 'write'`)
      .length;
  };
  await until(async () => (await held()) === places + 1);
  const address = addressOf(app.url, project.path_with_namespace, ROOT_TOKEN);
  expect((await runGit(home, ['ls-remote', address])).code).toBe(0);
  expect(running()).toBe(places);
  pushes[0]?.destroy();
  await until(async () => (await held()) === places && running() === places);
  for (const push of [...pushes, next]) push.destroy();
  await until(() => nothingHeld(project));
  expect(running()).toBe(0);
});
