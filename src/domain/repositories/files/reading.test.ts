/** Trees, files, blobs and blame over HTTP. */
import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeMembers, makeProject, makeUser } from '../../../../test/support/factories.ts';
import { fillProject } from '../../../../test/support/repositories.ts';
import {
  askGit,
  BINARY,
  folderOf,
  makeSample,
  SUBMODULE,
} from '../../../../test/support/sample-repository.ts';
import { git } from '../../../platform/git/program/program.ts';
import { setHead } from '../../../platform/git/write.ts';
import { projectRepository } from '../store/containers.ts';

const ashlar = useApp();
let id = 0;
let head = '';
let base = '';

beforeAll(async () => {
  ({ id, head } = await makeSample(ashlar));
  base = `/projects/${id}/repository`;
});

const inGit = (args: string[], projectId = id): Promise<string> => askGit(ashlar, projectId, args);

const tree = async (query: string) => bodyOf(await ashlar.root(`GET ${base}/tree`, { query }), 200);
const paths = (entries: { path: string }[]): string[] => entries.map((entry) => entry.path);

describe('the tree', () => {
  test('shows folders, then files, then submodules, with their modes', async () => {
    const entries: { name: string; type: string; mode: string; id: string }[] = await tree('');
    expect(entries.map(({ name, type, mode }) => `${mode} ${type} ${name}`)).toEqual([
      '040000 tree bin',
      '040000 tree größe',
      '040000 tree src',
      '100644 blob :colon',
      '100644 blob README.md',
      '100644 blob binary.dat',
      '100644 blob empty.txt',
      '120000 blob link',
      '100644 blob star*.txt',
      '100644 blob with space.txt',
      '160000 commit lib',
    ]);
    expect(entries.at(-1)?.id).toBe(SUBMODULE);
    expect(Object.keys(entries[0] ?? {})).toEqual(['id', 'name', 'type', 'path', 'mode']);
  });

  test('goes into a folder, and through all of them', async () => {
    expect(paths(await tree('path=src'))).toEqual(['src/deep', 'src/main.ts']);
    expect(paths(await tree('path=/src/deep/'))).toEqual(['src/deep/er']);
    expect(paths(await tree('path=src&recursive=true'))).toEqual([
      'src/deep',
      'src/deep/er',
      'src/deep/er/x.py',
      'src/main.ts',
    ]);
    expect(paths(await tree('ref=main~3&recursive=true'))).toHaveLength(7);
  });

  test('has pages by offset, with totals', async () => {
    const page = await ashlar.root(`GET ${base}/tree`, { query: 'per_page=3&page=2' });
    expect(paths(page.body)).toEqual([':colon', 'README.md', 'binary.dat']);
    expect(page.headers.get('x-total')).toBe('11');
    expect(page.headers.get('x-next-page')).toBe('3');
    const deep = await ashlar.root(`GET ${base}/tree`, { query: 'per_page=4&recursive=true' });
    expect(deep.headers.get('x-total')).toBe('17');
    expect(await tree('page=99')).toEqual([]);
    expect(await tree('pagination=none&per_page=2')).toHaveLength(11);
  });

  test.each(['', '&recursive=true', '&recursive=true&path=src'])(
    'a keyset walk meets every entry once (%s)',
    async (query) => {
      const all = paths(await tree(`per_page=100${query}`));
      const seen: string[] = [];
      let address: string | undefined =
        `${ashlar.url}/api/v4${base}/tree?pagination=keyset&per_page=2${query}`;
      for (let step = 0; address !== undefined && step < 20; step++) {
        const response: Response = await fetch(address, {
          headers: { 'private-token': 'glpat-root-token-of-the-tests' },
        });
        expect(response.headers.get('x-total')).toBeNull();
        const entries: { path: string }[] = JSON.parse(await response.text());
        address = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
        if (address === undefined) expect(entries).toEqual([]);
        seen.push(...paths(entries));
      }
      expect(address).toBeUndefined();
      expect(seen).toEqual(all);
    },
  );

  test('a page token may be the id of an entry; one that names nothing is refused', async () => {
    const [first, ...rest] = await tree('');
    expect(await tree(`pagination=keyset&page_token=${first.id}`)).toEqual(rest);
    const nowhere = Buffer.from('["src","nowhere"]').toString('base64url');
    for (const token of ['x', 'e30', 'W10', nowhere, '0'.repeat(40)]) {
      const query = `pagination=keyset&recursive=true&page_token=${token}`;
      const refused = await ashlar.root(`GET ${base}/tree`, { query });
      expect([refused.status, refused.body.message]).toEqual([400, { page_token: ['is invalid'] }]);
    }
  });

  test.each([
    'path=nowhere',
    'path=README.md',
    'path=lib',
    'path=..%2Fsrc',
    'path=src%2F..',
    'path=.git',
    'ref=nowhere',
    'ref=--upload-pack%3Dx',
    'ref=main%0Ainfo%20HEAD',
    'ref=-n1',
  ])('404 for %s', async (query) => {
    const missing = await ashlar.root(`GET ${base}/tree`, { query });
    expect([missing.status, missing.body.message]).toEqual([404, '404 Tree Not Found']);
  });

  test('404 while there is nothing, 400 for what no query can carry', async () => {
    const empty = await makeProject(ashlar);
    const missing = await ashlar.root(`GET /projects/${empty.id}/repository/tree`);
    expect([missing.status, missing.body.message]).toEqual([404, '404 Tree Not Found']);
    expect((await ashlar.root(`GET ${base}/tree`, { query: 'path=a%00b' })).status).toBe(400);
    expect((await ashlar.root(`GET ${base}/tree`, { query: 'page=9007199254740991' })).status).toBe(400);
  });
});

describe('a file', () => {
  test('comes with its content and all that is known of it', async () => {
    const { body, headers } = await ashlar.root(`GET ${base}/files/README.md`, { query: 'ref=main' });
    const text = 'one\nTWO\nthree\n';
    expect(body).toEqual({
      file_name: 'README.md',
      file_path: 'README.md',
      size: 14,
      encoding: 'base64',
      content_sha256: createHash('sha256').update(text).digest('hex'),
      ref: 'main',
      blob_id: await inGit(['rev-parse', 'main:README.md']),
      commit_id: head,
      last_commit_id: await inGit(['log', '-1', '--format=%H', 'main', '--', 'README.md']),
      execute_filemode: false,
      content: Buffer.from(text).toString('base64'),
    });
    expect(headers.get('x-gitlab-blob-id')).toBe(body.blob_id);
  });

  test.each([
    ['with%20space.txt', 'with space.txt', 'space'],
    ['src%2Fdeep%2Fer%2Fx.py', 'src/deep/er/x.py', 'pass\n'],
    [`${encodeURIComponent('größe/ñandú ✓.txt')}`, 'größe/ñandú ✓.txt', 'unicode'],
    ['star%2A.txt', 'star*.txt', 'star'],
    ['%3Acolon', ':colon', 'colon'],
    ['empty.txt', 'empty.txt', ''],
    ['link', 'link', 'README.md'],
  ])('%s', async (encoded, plain, content) => {
    const file = bodyOf(await ashlar.root(`GET ${base}/files/${encoded}`), 200);
    expect([file.file_path, Buffer.from(file.content, 'base64').toString()]).toEqual([plain, content]);
    expect(file.last_commit_id).toBe(
      await inGit(['--literal-pathspecs', 'log', '-1', '--format=%H', 'main', '--', plain]),
    );
    const raw = await ashlar.root(`GET ${base}/files/${encoded}/raw`);
    expect([raw.status, raw.text]).toEqual([200, content]);
    expect(raw.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  });

  test('HEAD says the same as headers', async () => {
    const file = bodyOf(await ashlar.root(`GET ${base}/files/bin%2Frun.sh`), 200);
    for (const address of ['bin%2Frun.sh', 'bin%2Frun.sh/blame']) {
      const { status, headers, text } = await ashlar.root(`HEAD ${base}/files/${address}`);
      expect([status, text]).toEqual([200, '']);
      for (const name of Object.keys(file).filter((each) => each !== 'content'))
        expect(headers.get(`x-gitlab-${name.replaceAll('_', '-')}`)).toBe(String(file[name]));
    }
    expect(file.execute_filemode).toBe(true);
    const unicode = await ashlar.root(`HEAD ${base}/files/${encodeURIComponent('größe/ñandú ✓.txt')}`);
    const name = unicode.headers.get('x-gitlab-file-name') ?? '';
    expect(Buffer.from(name, 'latin1').toString('utf8')).toBe('ñandú ✓.txt');
  });

  test('raw bytes stay as they are, and are not sent twice', async () => {
    const response = await fetch(`${ashlar.url}/api/v4${base}/files/binary.dat/raw?ref=main`, {
      headers: { 'private-token': 'glpat-root-token-of-the-tests' },
    });
    expect(Buffer.from(await response.arrayBuffer())).toEqual(BINARY);
    expect(response.headers.get('content-type')).toBe('application/octet-stream');
    expect(response.headers.get('content-disposition')).toBe('inline; filename="binary.dat"');
    const headers = { 'if-none-match': response.headers.get('etag') ?? '' };
    expect((await ashlar.root(`GET ${base}/files/binary.dat/raw`, { headers })).status).toBe(304);
  });

  test.each([
    ['nowhere.txt', '404 File Not Found'],
    ['src', '404 File Not Found'],
    ['lib', '404 File Not Found'],
    ['..%2FREADME.md', '404 File Not Found'],
    ['src%2F..%2FREADME.md', '404 File Not Found'],
    ['.git%2Fconfig', '404 File Not Found'],
    ['%2Fetc%2Fpasswd', '404 File Not Found'],
    ['--output%3Dx', '404 File Not Found'],
    ['README.md%00', '404 Not found'],
    ['README.md?ref=nowhere', '404 Commit Not Found'],
    ['README.md?ref=--upload-pack%3Dx', '404 Commit Not Found'],
  ])('404 for %s', async (address, message) => {
    const [name, query = ''] = address.split('?');
    for (const kind of ['', '/raw', '/blame']) {
      const missing = await ashlar.root(`GET ${base}/files/${name}${kind}`, { query });
      expect([kind, missing.status, missing.body.message]).toEqual([kind, 404, message]);
    }
  });

  test('blame tells the lines of each commit, of a range too', async () => {
    const blamed = bodyOf(await ashlar.root(`GET ${base}/files/README.md/blame`, { query: 'ref=main' }), 200);
    const first = await inGit(['rev-parse', 'main~3']);
    const second = await inGit(['rev-parse', 'main~2']);
    expect(
      blamed.map((each: { commit: { id: string }; lines: string[] }) => [each.commit.id, each.lines]),
    ).toEqual([
      [first, ['one']],
      [second, ['TWO', 'three']],
    ]);
    expect(blamed[1].commit).toEqual({
      id: second,
      parent_ids: [first],
      message: 'Commit 2',
      authored_date: '2023-11-14T22:13:21.000+00:00',
      author_name: 'Ada Lovelace',
      author_email: 'ada@example.com',
      committed_date: '2023-11-14T22:13:21.000+00:00',
      committer_name: 'Ada Lovelace',
      committer_email: 'ada@example.com',
    });
    const address = `GET ${base}/files/README.md/blame`;
    const part = await ashlar.root(address, { query: 'ref=main&range[start]=2&range[end]=2' });
    expect(part.body).toEqual([{ ...blamed[1], lines: ['TWO'] }]);
    for (const range of ['range[start]=9&range[end]=12', 'range[start]=2&range[end]=1', 'range[start]=1'])
      expect((await ashlar.root(address, { query: `ref=main&${range}` })).status).toBe(400);
  });
});

test('the last commit of a path is what git says, across merges too', async () => {
  const project = await makeProject(ashlar);
  await fillProject(ashlar, project.id, [{ a: '1', 'd/b': '1' }, { a: '2' }]);
  await fillProject(ashlar, project.id, [{ 'd/b': 'side' }, { c: 'side' }], 'side');
  const who = 'Ada <ada@example.com> 1700000200 +0000';
  const merge = `commit refs/heads/main\nauthor ${who}\ncommitter ${who}\ndata 5\nMerge\nfrom refs/heads/main^0\nmerge refs/heads/side\nM 100644 inline d/b\ndata 4\nside\nM 100644 inline c\ndata 4\nside\n`;
  await git(['fast-import', '--quiet'], { folder: folderOf(ashlar, project.id), input: merge });
  for (const file of ['a', 'd/b', 'c']) {
    const address = `GET /projects/${project.id}/repository/files/${encodeURIComponent(file)}`;
    const { last_commit_id } = bodyOf(await ashlar.root(address), 200);
    const args = ['log', '-1', '--format=%H', 'main', '--', file];
    expect([file, last_commit_id]).toEqual([file, await inGit(args, project.id)]);
  }
});

test('a name in another encoding is read, and what no program can be told of it is refused', async () => {
  const project = await makeProject(ashlar);
  await fillProject(ashlar, project.id, [{ '"caf\\351"': 'latin', '"fol\\351/x"': 'x' }]);
  const files = `GET /projects/${project.id}/repository`;
  expect(bodyOf(await ashlar.root(`${files}/files/caf%C3%A9`), 200).file_path).toBe('café');
  expect((await ashlar.root(`${files}/files/caf%C3%A9/blame`)).status).toBe(422);
  expect((await ashlar.root(`${files}/archive`, { query: 'path=fol%C3%A9' })).status).toBe(404);
  expect((await ashlar.root(`${files}/archive`, { query: `path=${'a'.repeat(5_000)}` })).status).toBe(400);
});

test('the last commit is found behind a long history, too', async () => {
  const project = await makeProject(ashlar);
  const changes = Array.from({ length: 620 }, (_, index) => ({ counter: String(index) }));
  await fillProject(ashlar, project.id, [{ 'old file': 'x', counter: '' }, ...changes]);
  const file = bodyOf(await ashlar.root(`GET /projects/${project.id}/repository/files/old%20file`), 200);
  expect(file.last_commit_id).toBe(await inGit(['rev-list', '--max-parents=0', 'main'], project.id));
});

describe('a blob', () => {
  test('comes as a record and raw, by its id or the beginning of it', async () => {
    const sha = await inGit(['rev-parse', 'main:README.md']);
    const text = 'one\nTWO\nthree\n';
    const record = { size: 14, encoding: 'base64', content: Buffer.from(text).toString('base64'), sha };
    expect(bodyOf(await ashlar.root(`GET ${base}/blobs/${sha}`), 200)).toEqual(record);
    expect(bodyOf(await ashlar.root(`GET ${base}/blobs/${sha.slice(0, 10)}`), 200)).toEqual(record);
    expect((await ashlar.root(`GET ${base}/blobs/${sha}/raw`)).text).toBe(text);
  });

  test('404 for everything else', async () => {
    for (const sha of [head, 'HEAD', 'main', '0'.repeat(40), '--batch', 'main%3AREADME.md', 'a%0Ab'])
      for (const kind of ['', '/raw']) {
        const missing = await ashlar.root(`GET ${base}/blobs/${sha}${kind}`);
        expect([sha, missing.status, missing.body.message]).toEqual([sha, 404, '404 Blob Not Found']);
      }
  });

  test('a large one is streamed whole, and not sent to whoever has it', async () => {
    const project = await makeProject(ashlar);
    const large = 'x'.repeat(5 * 1_048_576);
    await fillProject(ashlar, project.id, [{ large }]);
    const address = `/projects/${project.id}/repository/files/large`;
    const raw = await ashlar.root(`GET ${address}/raw`);
    expect([raw.status, raw.text === large]).toEqual([200, true]);
    expect(raw.headers.get('content-length')).toBe(String(large.length));
    const headers = { 'if-none-match': raw.headers.get('etag') ?? '' };
    expect((await ashlar.root(`GET ${address}/raw`, { headers })).status).toBe(304);
    const described = await ashlar.root(`HEAD ${address}`);
    expect(described.headers.get('x-gitlab-content-sha256')).toBe(
      createHash('sha256').update(large).digest('hex'),
    );
    const head = await ashlar.root(`HEAD ${address}/raw`);
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(large.length)]);
    const { repositories } = ashlar.app.services;
    await expect.poll(() => repositories.uses('project', project.id, ['read'])).toBe(0);
  });
});

test('only those who may read code, do', async () => {
  const stranger = await makeUser(ashlar);
  const { guest, reporter } = await makeMembers(ashlar, `projects/${id}`, 'guest', 'reporter');
  const sha = await inGit(['rev-parse', 'main:README.md']);
  const addresses = [
    'tree',
    'files/README.md',
    'files/README.md/raw',
    'files/README.md/blame',
    `blobs/${sha}`,
  ];
  for (const address of [
    ...addresses,
    `blobs/${sha}/raw`,
    'archive',
    'archive.zip',
    'contributors',
    '../languages',
  ]) {
    const url = `GET /projects/${id}/repository/${address}`.replace('repository/../', '');
    const statuses = [
      ashlar.call,
      ashlar.as(stranger.token),
      ashlar.as(guest.token),
      ashlar.as(reporter.token),
    ];
    const got = await Promise.all(statuses.map(async (call) => (await call(url)).status));
    expect([address, got]).toEqual([address, [404, 404, 403, 200]]);
  }
});

test('raw files of one path are counted by the minute', async () => {
  await ashlar.root('PUT /application/settings', { body: { raw_blob_request_limit: 2 } });
  const get = async (file: string) => (await ashlar.root(`GET ${base}/files/${file}/raw`)).status;
  const statuses = [
    await get('src%2Fmain.ts'),
    await get('src%2Fmain.ts'),
    await get('src%2Fmain.ts'),
    await get('link'),
  ];
  await ashlar.root('PUT /application/settings', { body: { raw_blob_request_limit: 300 } });
  expect(statuses).toEqual([200, 200, 429, 200]);
});

test('contributors are named by the mail map of their own commit', async () => {
  const mine = await makeProject(ashlar);
  const head = await fillProject(ashlar, mine.id, [{ 'a.txt': 'one' }]);
  const foreign = await makeProject(ashlar);
  await fillProject(ashlar, foreign.id, [{ 'a.txt': 'one' }]);
  await fillProject(
    ashlar,
    foreign.id,
    [{ '.mailmap': 'Mallory <mallory@evil.example> <ada@example.com>\n' }],
    'evil',
  );
  const { sql } = ashlar.app.services.database;
  await sql`update projects set default_branch = 'evil' where id = ${foreign.id}`;
  const { repositories } = ashlar.app.services;
  await setHead(repositories.folder(projectRepository(foreign.id), 'default'), 'evil');
  const ask = async (id: number) =>
    (await ashlar.root(`GET /projects/${id}/repository/contributors`, { query: `ref=${head}` })).body[0].name;
  expect([await ask(foreign.id), await ask(mine.id)]).toEqual(['Ada Lovelace', 'Ada Lovelace']);
});
