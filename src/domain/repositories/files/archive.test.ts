/** Archives, contributors and languages over HTTP. */
import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeProject } from '../../../../test/support/factories.ts';
import { fillProject } from '../../../../test/support/repositories.ts';
import { makeSample } from '../../../../test/support/sample-repository.ts';

const ashlar = useApp();
let id = 0;
let path = '';
let head = '';
let base = '';

beforeAll(async () => {
  ({ id, path, head } = await makeSample(ashlar));
  base = `/projects/${id}/repository`;
});

const uses = (projectId: number): Promise<number> =>
  ashlar.app.services.repositories.uses('project', projectId, ['read', 'write', 'tend']);

describe('an archive', () => {
  const download = async (address: string): Promise<{ bytes: Buffer; headers: Headers; status: number }> => {
    const response = await fetch(`${ashlar.url}/api/v4${base}/${address}`, {
      headers: { 'private-token': 'glpat-root-token-of-the-tests' },
    });
    const { headers, status } = response;
    return { bytes: Buffer.from(await response.arrayBuffer()), headers, status };
  };

  test.each([
    ['archive', 'tar.gz', '1f8b'],
    ['archive.tar.gz', 'tar.gz', '1f8b'],
    ['archive.tar.bz2', 'tar.bz2', '425a68'],
    ['archive.tbz2', 'tar.bz2', '425a68'],
    ['archive.zip', 'zip', '504b'],
    ['archive?format=zip', 'zip', '504b'],
    ['archive.tar', 'tar', ''],
  ])('%s', async (address, ending, start) => {
    const { status, bytes, headers } = await download(address);
    expect([status, bytes.toString('hex').startsWith(start)]).toEqual([200, true]);
    expect(headers.get('content-disposition')).toBe(`attachment; filename="${path}-main-${head}.${ending}"`);
    await expect.poll(() => uses(id)).toBe(0);
  });

  test('holds what was asked for, in a folder of its name', async () => {
    const { bytes, headers } = await download(`archive.tar?sha=${head}&path=src&exclude_paths=src/deep,no`);
    expect(headers.get('content-disposition')).toBe(`attachment; filename="${path}-${head}-src.tar"`);
    const text = bytes.toString('latin1');
    expect(text).toContain(`${path}-${head}-src/src/main.ts`);
    expect(text).not.toContain('x.py');
    const colon = await download('archive.tar?path=%3Acolon');
    expect(colon.bytes.toString('latin1')).toContain(`${path}-main-${head}-:colon/:colon`);
    expect(colon.bytes.toString('latin1')).not.toContain('README');
    const starred = (await download('archive.tar?exclude_paths=%2A')).bytes.toString('latin1');
    expect(starred).toContain('README.md');
  });

  test('404 for what is not there, 400 for a format that is none', async () => {
    for (const query of ['sha=nowhere', 'sha=--remote%3Dx', 'path=nowhere', 'path=..'])
      expect([query, (await download(`archive.tar?${query}`)).status]).toEqual([query, 404]);
    expect((await download('archive.exe')).status).toBe(400);
    const etag = (await download('archive.zip')).headers.get('etag') ?? '';
    const again = await ashlar.root(`GET ${base}/archive.zip`, {
      headers: { 'if-none-match': `"x", ${etag}` },
    });
    const other = await ashlar.root(`GET ${base}/archive.tar`, { headers: { 'if-none-match': etag } });
    expect([again.status, again.text, other.status]).toEqual([304, '', 200]);
    const head = await ashlar.root(`HEAD ${base}/archive.zip`);
    expect([head.status, head.headers.get('content-type')]).toEqual([200, 'application/zip']);
    await expect.poll(() => uses(id)).toBe(0);
  });

  test('a client that hangs up leaves nothing behind', async () => {
    const project = await makeProject(ashlar);
    const noise = Array.from({ length: 40_000 }, (_, index) =>
      createHash('sha256').update(`${index}`).digest('hex'),
    );
    const text = noise.join('\n');
    await fillProject(ashlar, project.id, [Object.fromEntries([1, 2, 3, 4].map((n) => [`f${n}`, text + n]))]);
    const gone = new AbortController();
    const response = await fetch(`${ashlar.url}/api/v4/projects/${project.id}/repository/archive.tar`, {
      headers: { 'private-token': 'glpat-root-token-of-the-tests' },
      signal: gone.signal,
    });
    expect(response.status).toBe(200);
    expect(await uses(project.id)).toBe(1);
    gone.abort();
    await expect.poll(() => uses(project.id), { timeout: 10_000 }).toBe(0);
  });
});

describe('who and what', () => {
  test('contributors, in the order asked for', async () => {
    const list = async (query: string) =>
      bodyOf(await ashlar.root(`GET ${base}/contributors`, { query }), 200);
    const ada = { name: 'Ada Lovelace', email: 'ada@example.com', commits: 3, additions: 0, deletions: 0 };
    const grace = { ...ada, name: 'Grace Hopper', email: 'grace@example.com', commits: 1 };
    expect(await list('')).toEqual([grace, ada]);
    expect(await list('order_by=commits&sort=desc')).toEqual([ada, grace]);
    expect(await list('order_by=name')).toEqual([ada, grace]);
    expect(await list('order_by=email&sort=desc&per_page=1&page=2')).toEqual([ada]);
    expect(await list('ref=main~1')).toEqual([ada]);
    expect((await ashlar.root(`GET ${base}/contributors`, { query: 'ref=--all' })).status).toBe(404);
  });

  test('languages by their bytes', async () => {
    const languages = bodyOf(await ashlar.root(`GET /projects/${id}/languages`), 200);
    expect(Object.entries(languages)).toEqual([
      ['Shell', 45.45],
      ['TypeScript', 31.82],
      ['Python', 22.73],
    ]);
  });

  test('nobody and nothing in a project without commits', async () => {
    const { id: empty } = await makeProject(ashlar);
    expect(bodyOf(await ashlar.root(`GET /projects/${empty}/repository/contributors`), 200)).toEqual([]);
    expect(bodyOf(await ashlar.root(`GET /projects/${empty}/languages`), 200)).toEqual({});
    expect((await ashlar.root(`GET /projects/${empty}/repository/archive`)).status).toBe(404);
    expect((await ashlar.root(`GET /projects/${empty}/repository/files/a`)).status).toBe(404);
  });
});
