/** Mirrors that run: pulled from and pushed to a plain git server on loopback, and projects made from it. */
import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeProject } from '../../../../test/support/factories.ts';
import { type Fault, type GitServer, startGitServer } from '../../../../test/support/git-server.ts';
import { mailsTo } from '../../../../test/support/mailbox.ts';
import { makeTeam } from '../../../../test/support/packages.ts';
import { fillProject } from '../../../../test/support/repositories.ts';
import { makeHistory, type Step } from '../../../../test/support/shaped-history.ts';
import { until } from '../../../../test/support/waiting.ts';
import { moveClock } from '../../../platform/clock.ts';
import { gitText } from '../../../platform/git/program/program.ts';
import { projectRepository } from '../../repositories/index.ts';
import { type MirrorRow, selectSource } from '../queries.ts';

const ashlar = useApp({ env: { ASHLAR_TIER: 'premium' } });
let server: GitServer;
let fault: Fault | undefined;
let credentials: string | undefined;
let name = '';
let there = '';
let made = 0;
let back: (() => void)[] = [];

beforeAll(async () => {
  server = await startGitServer({ fault: () => fault, credentials: () => credentials });
});
beforeEach(async () => {
  const body = { allow_local_requests_from_web_hooks_and_services: true, import_sources: ['git'] };
  bodyOf(await ashlar.root('PUT /application/settings', { body }), 200);
  made++;
  name = `${made}.git`;
  there = await server.make(name);
});
afterEach(() => {
  fault = undefined;
  credentials = undefined;
  for (const each of back) each();
  back = [];
});
afterAll(() => server.stop());

const later = (minutes: number) => void back.push(moveClock(minutes * 60_000));
const address = () => `${server.url}/${name}`;
const folderOf = (id: number) => {
  const { repositories } = ashlar.app.services;
  return repositories.folder(projectRepository(id), 'default');
};
const refsIn = async (folder: string) =>
  gitText(['for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads', 'refs/tags'], { folder });
const main: Step = { name: 'main', files: { a: '1' } };
const side: Step = { name: 'side', parents: ['main'], files: { b: '2' } };

/** Waits for a status of what the project is pulled from, for a failure after so many; its row. */
async function pulled(id: number, status: 'finished' | 'failed', failures = 1): Promise<MirrorRow> {
  const read = () => selectSource(ashlar.app.services.database.db, { id });
  const isSo = async () => {
    const row = await read();
    return row?.status === status && (status === 'finished' || row.failures >= failures);
  };
  await until(isSo, `no ${status}`).catch(async (error: Error) => {
    throw new Error(`${error.message}: ${JSON.stringify(await read())}`);
  });
  const row = await read();
  if (!row) throw new Error('it is gone');
  return row;
}

describe('a project made from an address', () => {
  it('has its branches, its tags and its default branch, and no pipelines and events', async () => {
    await makeHistory(there, [
      { ...main, name: 'trunk' },
      { ...side, parents: ['trunk'] },
    ]);
    await gitText(['tag', 'v1', 'trunk'], { folder: there });
    await gitText(['symbolic-ref', 'HEAD', 'refs/heads/trunk'], { folder: there });
    credentials = 'ada:s3cret';
    const import_url = address().replace('://', '://ada:s3cret@');
    const body = { name: `imported-${made}`, import_url, initialize_with_readme: true };
    const project = bodyOf(await ashlar.root('POST /projects', { body }), 201);
    expect(['scheduled', 'started', 'finished']).toContain(project.import_status);
    await pulled(project.id, 'finished');
    expect(await refsIn(folderOf(project.id))).toBe(await refsIn(there));
    const whole = bodyOf(await ashlar.root(`GET /projects/${project.id}`), 200);
    expect(whole).toMatchObject({
      default_branch: 'trunk',
      empty_repo: false,
      import_status: 'finished',
      import_type: 'git',
      import_url: address().replace('://', '://*****:*****@'),
      mirror: false,
    });
    expect(bodyOf(await ashlar.root(`GET /projects/${project.id}/import`), 200)).toMatchObject({
      id: project.id,
      import_status: 'finished',
      import_error: null,
      import_type: 'git',
    });
    expect(bodyOf(await ashlar.root(`GET /projects/${project.id}/protected_branches`), 200)).toHaveLength(1);
    const events = bodyOf(await ashlar.root(`GET /projects/${project.id}/events`), 200);
    expect(events.map((event: { action_name: string }) => event.action_name)).toEqual(['created']);
    expect(ashlar.log.join('\n')).not.toContain('s3cret');
    expect((await ashlar.root(`GET /projects/${project.id}/mirror/pull`)).status).toBe(400);
  });

  it('is not made where the address cannot be read, or nothing is imported', async () => {
    credentials = 'ada:s3cret';
    const body = { name: `refused-${made}`, import_url: address() };
    const refused = await ashlar.root('POST /projects', { body });
    expect([refused.status, refused.body.message]).toEqual([
      400,
      '400 Bad request - Unable to access repository with the URL and credentials provided',
    ]);
    credentials = undefined;
    const local = { allow_local_requests_from_web_hooks_and_services: false };
    bodyOf(await ashlar.root('PUT /application/settings', { body: local }), 200);
    const blocked = await ashlar.root('POST /projects', {
      body: { ...body, import_url: `http://localhost:${server.port}/${name}` },
    });
    expect([blocked.status, blocked.body.message]).toEqual([
      400,
      { import_url: ['is blocked: Requests to the local network are not allowed'] },
    ]);
    local.allow_local_requests_from_web_hooks_and_services = true;
    bodyOf(await ashlar.root('PUT /application/settings', { body: { ...local, import_sources: [] } }), 200);
    expect((await ashlar.root('POST /projects', { body })).status).toBe(403);
    bodyOf(await ashlar.root('PUT /application/settings', { body: { import_sources: ['git'] } }), 200);
    expect((await ashlar.root('GET /projects', { query: `search=refused-${made}` })).body).toEqual([]);
  });

  it('says why it failed', async () => {
    await makeHistory(there, [main]);
    let posts = 0;
    fault = (request, reply) => {
      if (request.method !== 'POST') return false;
      posts++;
      reply.writeHead(200, { 'content-type': 'application/x-git-upload-pack-result' }).write('0008NAK\nPACK');
      setTimeout(() => reply.destroy(), 20);
      return true;
    };
    const body = { name: `failed-${made}`, import_url: address() };
    const { id } = bodyOf(await ashlar.root('POST /projects', { body }), 201);
    await pulled(id, 'failed');
    expect(posts).toBe(1);
    expect((await ashlar.root(`GET /projects/${id}/import`)).body).toMatchObject({
      import_status: 'failed',
      import_error: expect.stringContaining('could not be reached'),
    });
  });
});

describe('a pull mirror', () => {
  /** A project that follows the repository, by its maintainer. */
  async function follow(options: Record<string, unknown> = {}) {
    const team = await makeTeam(ashlar);
    const path = `/projects/${team.project.id}`;
    const body = { enabled: true, url: address(), ...options };
    bodyOf(await ashlar.as(team.maintainer.token)(`PUT ${path}/mirror/pull`, { body }), 200);
    return { ...team, path, id: team.project.id };
  }

  it('brings no more than there is room for', async () => {
    const noise = () => randomBytes(900_000).toString('latin1').replace(/\0/g, 'x');
    await makeHistory(there, [{ name: 'main', files: { a: noise() } }]);
    const { id, path } = await follow();
    await pulled(id, 'finished');
    const before = await refsIn(folderOf(id));
    await makeHistory(there, [{ name: 'large', files: { b: noise(), c: noise() } }]);
    bodyOf(await ashlar.root(`POST ${path}/repository_size`), 201);
    bodyOf(await ashlar.root(`PUT ${path}`, { body: { repository_size_limit: 2 } }), 200);
    later(31);
    await pulled(id, 'failed');
    expect((await ashlar.root(`GET ${path}/mirror/pull`)).body.last_error).toMatch(/large/);
    expect(await refsIn(folderOf(id))).toBe(before);
    bodyOf(await ashlar.root(`PUT ${path}`, { body: { repository_size_limit: 100 } }), 200);
    later(31);
    bodyOf(await ashlar.root(`POST ${path}/mirror/pull`), 200);
    await pulled(id, 'finished');
    expect(await refsIn(folderOf(id))).toContain('refs/heads/large');
  });

  it('follows with events by its user, keeps what is here alone, and does not lose what went other ways', async () => {
    await makeHistory(there, [main, side]);
    const { id, path, maintainer } = await follow();
    await pulled(id, 'finished');
    expect(await refsIn(folderOf(id))).toBe(await refsIn(there));
    const events = bodyOf(await ashlar.root(`GET ${path}/events`, { query: 'action=pushed' }), 200);
    expect(new Set(events.map((event: { author: { id: number } }) => event.author.id))).toEqual(
      new Set([maintainer.id]),
    );
    expect(bodyOf(await ashlar.root(`GET ${path}`), 200).default_branch).toBe('main');
    // Here a branch of its own, and one that goes another way.
    await fillProject(ashlar, id, [{ own: '1' }], 'own');
    await fillProject(ashlar, id, [{ here: '1' }], 'side');
    await makeHistory(there, [
      main,
      side,
      { name: 'side', parents: ['side'], files: { there: '2' } },
      { name: 'main', parents: ['main'], files: { a: '2' } },
    ]);
    const before = await gitText(['rev-parse', 'side'], { folder: folderOf(id) });
    later(31);
    await pulled(id, 'failed');
    const { body } = await ashlar.root(`GET ${path}/mirror/pull`);
    expect(body.last_error).toBe('Some refs have not been updated:\n\nrefs/heads/side: has diverged');
    expect(await gitText(['rev-parse', 'side'], { folder: folderOf(id) })).toBe(before);
    expect(await gitText(['rev-parse', 'main'], { folder: folderOf(id) })).toBe(
      await gitText(['rev-parse', 'main'], { folder: there }),
    );
    expect(await refsIn(folderOf(id))).toContain('refs/heads/own');
    // Overwritten, where that is asked for.
    bodyOf(
      await ashlar.root(`PUT ${path}/mirror/pull`, { body: { mirror_overwrites_diverged_branches: true } }),
      200,
    );
    later(6);
    bodyOf(await ashlar.root(`POST ${path}/mirror/pull`), 200);
    await pulled(id, 'finished');
    expect(await gitText(['rev-parse', 'side'], { folder: folderOf(id) })).toBe(
      await gitText(['rev-parse', 'side'], { folder: there }),
    );
  });

  it('begins with a new project that is made as one', async () => {
    await makeHistory(there, [main, side]);
    const body = {
      name: `mirrored-${made}`,
      import_url: address(),
      mirror: true,
      only_mirror_protected_branches: false,
      mirror_trigger_builds: false,
    };
    const { id, mirror } = bodyOf(await ashlar.root('POST /projects', { body }), 201);
    expect(mirror).toBe(true);
    await pulled(id, 'finished');
    expect(await refsIn(folderOf(id))).toBe(await refsIn(there));
    const read = bodyOf(await ashlar.root(`GET /projects/${id}/mirror/pull`), 200);
    expect(read).toMatchObject({ enabled: true, update_status: 'finished', url: address() });
    await makeHistory(there, [main, side, { name: 'third', parents: ['side'], files: { c: '3' } }]);
    later(31);
    await until(async () => (await refsIn(folderOf(id))) === (await refsIn(there)), 'it does not follow');
    // Renamed and moved, it goes on.
    const group = bodyOf(
      await ashlar.root('POST /groups', { body: { name: `g-${made}`, path: `g-${made}` } }),
      201,
    );
    bodyOf(await ashlar.root(`PUT /projects/${id}`, { body: { path: `renamed-${made}` } }), 200);
    bodyOf(await ashlar.root(`PUT /projects/${id}/transfer`, { body: { namespace: group.id } }), 200);
    await gitText(['update-ref', 'refs/heads/fourth', 'main'], { folder: there });
    later(31);
    await until(
      async () => (await refsIn(folderOf(id))) === (await refsIn(there)),
      'it does not follow any more',
    );
    // Archived, it does not.
    bodyOf(await ashlar.root(`POST /projects/${id}/archive`), 201);
    await gitText(['update-ref', 'refs/heads/fifth', 'main'], { folder: there });
    later(31);
    await pulled(id, 'failed');
    expect(await refsIn(folderOf(id))).not.toContain('fifth');
  });

  it('brings the branches of its pattern, and all tags', async () => {
    await makeHistory(there, [main, side]);
    await gitText(['tag', 'v1', 'side'], { folder: there });
    const { id } = await follow({ mirror_branch_regex: '^ma' });
    await pulled(id, 'finished');
    expect((await refsIn(folderOf(id))).match(/refs\/\S+/g)).toEqual(['refs/heads/main', 'refs/tags/v1']);
  });

  it('fails where its user is no maintainer any more, and writes nothing', async () => {
    await makeHistory(there, [main]);
    const { id, path, maintainer } = await follow();
    await pulled(id, 'finished');
    bodyOf(await ashlar.root(`PUT ${path}/members/${maintainer.id}`, { body: { access_level: 30 } }), 200);
    const before = await refsIn(folderOf(id));
    await makeHistory(there, [main, side]);
    later(31);
    const row = await pulled(id, 'failed');
    expect(row.last_error).toBe(
      'The mirror user is not allowed to push code to all branches on this project.',
    );
    expect(await refsIn(folderOf(id))).toBe(before);
  });

  it('is given up after many failures, tells its maintainers once, and starts again when asked', async () => {
    await makeHistory(there, [main]);
    credentials = 'ada:right';
    const { id, path, maintainer } = await follow({ auth_user: 'ada', auth_password: 'wr0ng' });
    await pulled(id, 'failed');
    expect((await ashlar.root(`GET ${path}/mirror/pull`)).body.last_error).toContain('refused the access');
    const { db } = ashlar.app.services.database;
    await db.updateTable('mirrors').set({ failures: 13 }).where('project_id', '=', id).execute();
    later(301);
    const row = await pulled(id, 'failed', 14);
    expect([row.failures, row.due_at]).toEqual([14, null]);
    await until(() => mailsTo(ashlar, maintainer.email).length === 1, 'no mail');
    const [mail] = mailsTo(ashlar, maintainer.email);
    expect(mail?.subject).toContain('Mirroring was given up');
    expect(mail?.text).toContain(address().replace('://', '://*****:*****@'));
    expect(mail?.text).not.toContain('wr0ng');
    credentials = 'ada:wr0ng';
    later(6);
    bodyOf(await ashlar.root(`POST ${path}/mirror/pull`), 200);
    await pulled(id, 'finished');
    expect(await refsIn(folderOf(id))).toBe(await refsIn(there));
  });

  it('starts pipelines where it is to, in the name of its user', async () => {
    const file = { '.gitlab-ci.yml': 'build:\n  script: make\n' };
    await makeHistory(there, [{ name: 'main', files: file }]);
    const silent = await follow();
    await pulled(silent.id, 'finished');
    const { id, path, maintainer } = await follow({ mirror_trigger_builds: true });
    await pulled(id, 'finished');
    const pipelines = async (of: string) => bodyOf(await ashlar.root(`GET ${of}/pipelines`), 200);
    await until(async () => (await pipelines(path)).length === 1, 'no pipeline');
    const [{ id: made }] = await pipelines(path);
    const whole = bodyOf(await ashlar.root(`GET ${path}/pipelines/${made}`), 200);
    expect([whole.ref, whole.user.id]).toEqual(['main', maintainer.id]);
    // Its push was told of before.
    expect(await pipelines(silent.path)).toEqual([]);
  });

  it('leaves what its user may not push, and says so', async () => {
    const locked: Step = { name: 'locked', parents: ['main'], files: { x: '1' } };
    await makeHistory(there, [main, locked]);
    const { id, path } = await follow({ mirror_overwrites_diverged_branches: true });
    await pulled(id, 'finished');
    bodyOf(
      await ashlar.root(`POST ${path}/protected_branches`, {
        body: { name: 'locked', push_access_level: 0 },
      }),
      201,
    );
    // The default branch is protected from force pushes.
    const before = await gitText(['rev-parse', 'main', 'locked'], { folder: folderOf(id) });
    await makeHistory(there, [
      main,
      locked,
      { name: 'locked', parents: ['locked'], files: { x: '2' } },
      { name: 'main', files: { another: '1' } },
      { name: 'free', parents: ['main'], files: { y: '1' } },
    ]);
    later(31);
    const row = await pulled(id, 'failed');
    expect(row.last_error).toContain('refs/heads/main: is protected from force pushes');
    expect(row.last_error).toContain('refs/heads/locked: ');
    expect(await refsIn(folderOf(id))).toContain('refs/heads/free');
    expect(await gitText(['rev-parse', 'main', 'locked'], { folder: folderOf(id) })).toBe(before);
  });

  it('is followed by merge requests, as a push is', async () => {
    await makeHistory(there, [main, side]);
    const { id, path } = await follow();
    await pulled(id, 'finished');
    const body = { source_branch: 'side', target_branch: 'main', title: 'Side' };
    const { iid, sha } = bodyOf(await ashlar.root(`POST ${path}/merge_requests`, { body }), 201);
    const { side: next } = await makeHistory(there, [
      main,
      side,
      { name: 'side', parents: ['side'], files: { more: '1' } },
    ]);
    expect(next).not.toBe(sha);
    later(31);
    await until(
      async () => (await ashlar.root(`GET ${path}/merge_requests/${iid}`)).body.sha === next,
      'it did not follow',
    );
  });

  it('goes on where the process that ran it died', async () => {
    await makeHistory(there, [main]);
    const { id } = await follow();
    await pulled(id, 'finished');
    await makeHistory(there, [main, side]);
    const { db } = ashlar.app.services.database;
    // As a process leaves it that is killed in the midst.
    await db
      .updateTable('mirrors')
      .set({ status: 'started', runner: '00000000-0000-0000-0000-000000000001', due_at: new Date() })
      .where('project_id', '=', id)
      .execute();
    await pulled(id, 'finished');
    expect(await refsIn(folderOf(id))).toBe(await refsIn(there));
  });
});

describe('a push mirror', () => {
  async function mirror(options: Record<string, unknown> = {}) {
    const { id } = await makeProject(ashlar);
    const path = `/projects/${id}`;
    const body = { enabled: true, url: address(), ...options };
    const row = bodyOf(await ashlar.root(`POST ${path}/remote_mirrors`, { body }), 201);
    return { id, path, one: `${path}/remote_mirrors/${row.id}` };
  }
  const reached = (one: string, status: string) =>
    until(async () => (await ashlar.root(`GET ${one}`)).body.update_status === status, `no ${status}`).catch(
      async (error) => {
        throw new Error(`${error.message}: ${(await ashlar.root(`GET ${one}`)).text}`);
      },
    );

  it('has what is pushed here, and loses what is deleted here', async () => {
    const { id, path, one } = await mirror();
    await fillProject(ashlar, id, [{ a: '1' }]);
    ashlar.app.services.wake();
    await reached(one, 'finished');
    expect(await refsIn(there)).toBe(await refsIn(folderOf(id)));
    const branch = { branch: 'other', ref: 'main' };
    bodyOf(await ashlar.root(`POST ${path}/repository/branches`, { body: branch }), 201);
    await makeHistory(there, [{ name: 'theirs', files: { x: '1' } }]);
    later(6);
    await until(async () => (await refsIn(there)) === (await refsIn(folderOf(id))), 'never the same');
    expect(await refsIn(there)).toContain('refs/heads/other');
    await reached(one, 'finished');
    expect((await ashlar.root(`DELETE ${path}/repository/branches/other`)).status).toBe(204);
    later(6);
    await until(async () => !(await refsIn(there)).includes('refs/heads/other'), 'never deleted');
  });

  it('keeps what went other ways there, and says so', async () => {
    const { id, one } = await mirror({ keep_divergent_refs: true });
    await makeHistory(there, [{ name: 'main', files: { x: '1' } }]);
    const before = await refsIn(there);
    await fillProject(ashlar, id, [{ a: '1' }]);
    await fillProject(ashlar, id, [{ a: '1' }], 'new');
    ashlar.app.services.wake();
    await reached(one, 'failed');
    expect((await ashlar.root(`GET ${one}`)).body.last_error).toBe(
      'Some refs have diverged and have not been updated on the remote:\n\nrefs/heads/main',
    );
    expect(await refsIn(there)).toContain(before.trim());
    expect(await refsIn(there)).toContain('refs/heads/new');
  });

  it('tells of refusals and tries again what may go better', async () => {
    const { id, one } = await mirror();
    await gitText(['config', 'receive.denyNonFastForwards', 'true'], { folder: there });
    await makeHistory(there, [{ name: 'main', files: { x: '1' } }]);
    await fillProject(ashlar, id, [{ a: '1' }]);
    ashlar.app.services.wake();
    await reached(one, 'failed');
    expect((await ashlar.root(`GET ${one}`)).body.last_error).toContain('refs/heads/main: non-fast-forward');
    fault = (_, reply) => {
      reply.writeHead(503).end();
      return true;
    };
    expect((await ashlar.root(`POST ${one}/sync`)).status).toBe(204);
    await reached(one, 'to_retry');
    fault = undefined;
    await gitText(['config', 'receive.denyNonFastForwards', 'false'], { folder: there });
    later(2);
    await reached(one, 'finished');
    expect(await refsIn(there)).toBe(await refsIn(folderOf(id)));
  });

  it('that fails is told to the maintainers once, without its password', async () => {
    const { project, maintainer } = await makeTeam(ashlar);
    const path = `/projects/${project.id}`;
    const body = { enabled: true, url: address().replace('://', '://ada:wr0ng@') };
    credentials = 'ada:right';
    const { id } = bodyOf(await ashlar.as(maintainer.token)(`POST ${path}/remote_mirrors`, { body }), 201);
    const one = `${path}/remote_mirrors/${id}`;
    await fillProject(ashlar, project.id, [{ a: '1' }]);
    ashlar.app.services.wake();
    await reached(one, 'failed');
    await until(() => mailsTo(ashlar, maintainer.email).length === 1, 'no mail');
    const [mail] = mailsTo(ashlar, maintainer.email);
    expect(mail?.subject).toContain('Remote mirror update failed');
    expect(mail?.text).toContain('refused the access');
    expect(mail?.text).not.toContain('wr0ng');
    // The next failure of the series is no news.
    await ashlar.app.services.database.db
      .updateTable('mirrors')
      .set({ status: 'none', due_at: new Date() })
      .where('id', '=', id)
      .execute();
    await reached(one, 'failed');
    expect(mailsTo(ashlar, maintainer.email)).toHaveLength(1);
    expect(ashlar.log.join('\n')).not.toContain('wr0ng');
  });

  it('that is deleted while it runs ends soon', async () => {
    const { id, path, one } = await mirror();
    let hung = false;
    let gone = false;
    fault = (request) => {
      hung = true;
      request.socket.once('close', () => {
        gone = true;
      });
      return true;
    };
    await fillProject(ashlar, id, [{ a: '1' }]);
    ashlar.app.services.wake();
    await until(() => hung, 'never asked');
    expect((await ashlar.root(`POST ${one}/sync`)).status).toBe(400);
    expect((await ashlar.root(`DELETE ${one}`)).status).toBe(204);
    await until(() => gone, 'it went on');
    expect(bodyOf(await ashlar.root(`GET ${path}/remote_mirrors`), 200)).toEqual([]);
  });

  it('asks nothing for names of the other server that are none', async () => {
    const { id, one } = await mirror();
    await fillProject(ashlar, id, [{ a: '1' }]);
    const head = (await gitText(['rev-parse', 'main'], { folder: folderOf(id) })).trim();
    const line = (text: string) => `${(Buffer.byteLength(text) + 4).toString(16).padStart(4, '0')}${text}`;
    let posts = 0;
    fault = (request, reply) => {
      if (request.method === 'POST') posts++;
      const refs = [
        'refs/heads/main',
        'refs/heads/a:refs/heads/main',
        'refs/heads/--x y',
        'refs/heads/../../x',
      ];
      const lines = refs.map((ref, index) =>
        line(`${head} ${ref}${index === 0 ? '\0report-status delete-refs' : ''}\n`),
      );
      reply
        .writeHead(200, { 'content-type': 'application/x-git-receive-pack-advertisement' })
        .end(`${line('# service=git-receive-pack\n')}0000${lines.join('')}0000`);
      return true;
    };
    ashlar.app.services.wake();
    await reached(one, 'finished');
    expect(posts).toBe(0);
  });

  it('of protected branches alone has those', async () => {
    const { id, one } = await mirror({ only_protected_branches: true });
    await fillProject(ashlar, id, [{ a: '1' }]);
    await fillProject(ashlar, id, [{ a: '2' }], 'feature');
    ashlar.app.services.wake();
    await reached(one, 'finished');
    expect((await refsIn(there)).match(/refs\/\S+/g)).toEqual(['refs/heads/main']);
  });

  it('can be another project of an Ashlar', async () => {
    const other = await makeProject(ashlar);
    const token = bodyOf(
      await ashlar.root('POST /users/1/personal_access_tokens', {
        body: { name: 'mirror', scopes: ['write_repository'] },
      }),
      201,
    ).token;
    const url = `${ashlar.url.replace('://', `://oauth2:${token}@`)}/${other.path_with_namespace}.git`;
    const { id, one } = await mirror({ url });
    await fillProject(ashlar, id, [{ a: '1' }, { a: '2' }]);
    ashlar.app.services.wake();
    await reached(one, 'finished');
    expect(await refsIn(folderOf(other.id))).toBe(await refsIn(folderOf(id)));
    expect(bodyOf(await ashlar.root(`GET /projects/${other.id}`), 200).default_branch).toBe('main');
  });
});
