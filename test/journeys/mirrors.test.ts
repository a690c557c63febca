/**
 * Mirrors between two programs and a plain git server: what is pushed to the one is in the others, by git itself; and a pull
 * whose process is killed in the midst goes on after the next start.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addressOf, commitFiles, makeHome, mustGit } from '../support/git.ts';
import { type Fault, type GitServer, startGitServer } from '../support/git-server.ts';
import { mustEnd, startPython } from './python.ts';
import { cleanUp, makeFolder, type Program, ROOT_TOKEN, startProgram } from './support.ts';

let plain: GitServer;
let fault: Fault | undefined;

beforeAll(async () => {
  plain = await startGitServer({ fault: () => fault });
});
afterAll(async () => {
  await cleanUp();
  await plain.stop();
});

const body = async (response: Promise<Response>) => {
  const got = await response;
  const text = await got.text();
  if (!got.ok) throw new Error(`${got.status}: ${text}`);
  return text === '' ? undefined : JSON.parse(text);
};

/** A program that may call this network, with a project. */
async function open(
  name: string,
  data = join(makeFolder(), 'data'),
): Promise<{ program: Program; id: number }> {
  const program = await startProgram({ data, env: { ASHLAR_TIER: 'premium' } });
  await body(
    program.root('PUT /application/settings', { allow_local_requests_from_web_hooks_and_services: true }),
  );
  const { id } = await body(program.root('POST /projects', { name, path: name }));
  return { program, id };
}

/** What git says that is at an address: branches and tags. */
const refsAt = (address: string) => mustGit('/', ['ls-remote', '--heads', '--tags', address]);

async function until(isSo: () => Promise<boolean>, complaint: () => Promise<string>): Promise<void> {
  for (let waited = 0; waited < 90_000; waited += 200) {
    if (await isSo()) return;
    await sleep(200);
  }
  throw new Error(await complaint());
}

test('what is pushed to one is in the other and in a plain server, and comes back by a pull', async () => {
  const [source, target] = await Promise.all([open('source'), open('target')]);
  const { url } = source.program;
  const from = addressOf(url, 'root/source', ROOT_TOKEN);
  const to = addressOf(target.program.url, 'root/target', ROOT_TOKEN);
  const there = await plain.make('mirror.git');
  for (const address of [to, `${plain.url}/mirror.git`])
    await body(
      source.program.root(`POST /projects/${source.id}/remote_mirrors`, { url: address, enabled: true }),
    );
  const home = makeHome();
  await mustGit(home, ['init', '--quiet', '.']);
  await commitFiles(home, { 'README.md': 'hello' });
  await mustGit(home, ['tag', '-a', 'v1', '-m', 'one']);
  await mustGit(home, ['branch', 'side']);
  await mustGit(home, ['push', '--quiet', from, 'main', 'side', 'v1']);
  const mirrors = () => body(source.program.root(`GET /projects/${source.id}/remote_mirrors`));
  const shown = async () => JSON.stringify(await mirrors());
  const same = async () => {
    const refs = await refsAt(from);
    return refs !== '' && refs === (await refsAt(to)) && refs === (await refsAt(there));
  };
  await until(same, shown);
  for (const { url: address, update_status } of await mirrors()) {
    expect(address).not.toContain(ROOT_TOKEN);
    expect(['started', 'finished']).toContain(update_status);
  }
  expect(source.program.output()).not.toContain(ROOT_TOKEN);

  // A third project follows the first, by the client that people use.
  const script = `
import gitlab, sys, time
url, token, name, mirrored, remote = sys.argv[1:]
api = gitlab.Gitlab(url, private_token=token)
project = api.projects.create({'name': name})
mirror = project.pull_mirror.create({'enabled': True, 'url': mirrored})
assert '*****:*****@' in mirror.url and token not in mirror.url, mirror.url
for _ in range(300):
    details = project.pull_mirror.get()
    if details.update_status in ('finished', 'failed'):
        break
    time.sleep(0.2)
assert details.update_status == 'finished', details.attributes
project.pull_mirror.start()
push = project.remote_mirrors.create({'url': remote, 'enabled': True, 'only_protected_branches': False})
push.keep_divergent_refs = True
push.save()
assert [(each.id, each.keep_divergent_refs) for each in project.remote_mirrors.list()] == [(push.id, True)]
push.sync()
for _ in range(300):
    now = project.remote_mirrors.list()[0]
    if now.update_status in ('finished', 'failed'):
        break
    time.sleep(0.2)
assert now.update_status == 'finished', now.attributes
push.delete()
assert project.remote_mirrors.list() == []
imported = api.projects.create({'name': 'imported', 'import_url': mirrored})
for _ in range(300):
    state = imported.imports.get()
    if state.import_status in ('finished', 'failed'):
        break
    time.sleep(0.2)
assert state.import_status == 'finished', state.attributes
print('done')
`;
  await plain.make('second.git');
  const folder = makeFolder();
  const ran = startPython(folder, [
    '-c',
    script,
    target.program.url,
    ROOT_TOKEN,
    'follower',
    from,
    `${plain.url}/second.git`,
  ]);
  expect(await mustEnd(ran)).toContain('done');
  const refs = await refsAt(from);
  for (const path of ['root/follower', 'root/imported'])
    expect([path, await refsAt(addressOf(target.program.url, path, ROOT_TOKEN))]).toEqual([path, refs]);
  expect(await refsAt(`${plain.url}/second.git`)).toBe(refs);
  await Promise.all([source.program.stop(), target.program.stop()]);
});

test('a pull that is killed in the midst goes on after the next start', async () => {
  const data = join(makeFolder(), 'data');
  const first = await open('killed', data);
  await plain.make('long.git');
  const home = makeHome();
  await mustGit(home, ['init', '--quiet', '.']);
  await commitFiles(home, { 'README.md': 'hello' });
  await mustGit(home, ['push', '--quiet', `${plain.url}/long.git`, 'main']);
  let asked = false;
  fault = (request, reply) => {
    if (request.method !== 'POST') return false;
    asked = true;
    reply.writeHead(200, { 'content-type': 'application/x-git-upload-pack-result' }).write('0008NAK\n');
    return true;
  };
  const path = `/projects/${first.id}/mirror/pull`;
  await body(first.program.root(`PUT ${path}`, { enabled: true, url: `${plain.url}/long.git` }));
  await until(
    async () => asked,
    async () => 'never asked',
  );
  first.program.kill('SIGKILL');
  await first.program.ended;
  fault = undefined;

  const second = await startProgram({ data, env: { ASHLAR_TIER: 'premium' } });
  const read = () => body(second.root(`GET ${path}`));
  await until(
    async () => (await read()).update_status === 'finished',
    async () => JSON.stringify(await read()),
  );
  expect(await refsAt(addressOf(second.url, 'root/killed', ROOT_TOKEN))).toBe(
    await refsAt(`${plain.url}/long.git`),
  );
  await second.stop();
});
