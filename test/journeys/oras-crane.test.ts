/** oras and crane, which push artifacts and images, attach to them, copy, list and delete them. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { useGitbeaker } from './gitbeaker-client.ts';
import { runGo } from './programs.ts';
import { makeFolder } from './support.ts';

const gitbeaker = useGitbeaker();

/** A private project with these members, and how a program runs as one of them. */
async function makeRegistry(name: string) {
  const { id: group } = await gitbeaker.makeGroup(name);
  const { id: project } = await gitbeaker.root.Projects.create({ name: 'house', namespaceId: group });
  const host = new URL(gitbeaker.url).host;
  const member = async (role: string, accessLevel: 20 | 30 | 40) => {
    const user = await gitbeaker.makeUser(`${name}-${role}`);
    await gitbeaker.root.GroupMembers.add(group, accessLevel, { userId: user.id });
    const home = makeFolder();
    const run = (program: string, ...args: string[]) => runGo(program, args, { folder: home, home, env: {} });
    const must = async (program: string, ...args: string[]): Promise<string> => {
      const { code, output } = await run(program, ...args);
      expect(code, output).toBe(0);
      return output;
    };
    await must('oras', 'login', host, '--plain-http', '-u', `${name}-${role}`, '-p', user.token);
    await must('crane', 'auth', 'login', host, '--insecure', '-u', `${name}-${role}`, '-p', user.token);
    const api = (line: string, body?: unknown) => {
      const [method = 'GET', path = ''] = line.split(' ');
      return fetch(`${gitbeaker.url}/api/v4/projects/${project}/registry${path}`, {
        method,
        headers: { 'private-token': user.token, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
    };
    return { home, run, must, api };
  };
  return { image: `${host}/${name}/house`, member };
}

test('oras pushes artifacts, attaches to them, and finds what is attached', async () => {
  const { image, member } = await makeRegistry('quarry');
  const { home, run, must } = await member('maintainer', 40);
  const reporter = await member('reporter', 20);
  writeFileSync(join(home, 'stone.txt'), 'granite');
  writeFileSync(join(home, 'bill.json'), '{"stones":1}');
  const plain = '--plain-http';
  await must(
    'oras',
    'push',
    plain,
    `${image}/stones:v1`,
    'stone.txt:text/plain',
    '--artifact-type',
    'a/stone',
  );
  await must('oras', 'tag', plain, `${image}/stones:v1`, 'v2', 'latest');
  expect((await must('oras', 'repo', 'tags', plain, `${image}/stones`)).trim().split('\n')).toEqual([
    'latest',
    'v1',
    'v2',
  ]);
  for (const type of ['a/bill', 'a/seal'])
    await must('oras', 'attach', plain, '--artifact-type', type, `${image}/stones:v1`, 'bill.json');
  const found = async (...more: string[]) => {
    const text = await must(
      'oras',
      ...['discover', plain, '--format', 'json', ...more],
      `${image}/stones:v1`,
    );
    const { referrers } = JSON.parse(text) as { referrers: { artifactType: string }[] };
    return referrers.map(({ artifactType }) => artifactType).sort();
  };
  expect(await found()).toEqual(['a/bill', 'a/seal']);
  expect(await found('--artifact-type', 'a/seal')).toEqual(['a/seal']);

  await reporter.must('oras', 'pull', plain, `${image}/stones:v2`);
  expect(readFileSync(join(reporter.home, 'stone.txt'), 'utf8')).toBe('granite');
  const refused = await reporter.run('oras', 'tag', plain, `${image}/stones:v1`, 'mine');
  expect(refused.code).not.toBe(0);

  const both = ['--from-plain-http', '--to-plain-http'];
  await must('oras', 'copy', '-r', ...both, `${image}/stones:v1`, `${image}/yard:v1`);
  const yard = await must('oras', 'discover', plain, '--format', 'json', `${image}/yard:v1`);
  expect(JSON.parse(yard).referrers).toHaveLength(2);
  await must('oras', 'manifest', 'delete', plain, '--force', `${image}/stones:v1`);
  expect((await run('oras', 'pull', plain, `${image}/stones:v2`)).output).toContain('not found');
  await must('oras', 'pull', plain, `${image}/yard:v1`);
});

test('crane makes, copies, checks and deletes images, and is told what a rule keeps', async () => {
  const { image, member } = await makeRegistry('kiln');
  const maintainer = await member('maintainer', 40);
  const { home, must, run } = await member('developer', 30);
  // A layer without a file: the end of an archive alone.
  writeFileSync(join(home, 'layer.tar'), Buffer.alloc(1_024));
  const insecure = '--insecure';
  await must('crane', 'append', insecure, '-f', 'layer.tar', '-t', `${image}/brick:1.0`);
  const digest = (await must('crane', 'digest', insecure, `${image}/brick:1.0`)).trim();
  expect(digest).toMatch(/^sha256:/);
  await must('crane', 'validate', insecure, '--remote', `${image}/brick:1.0`);
  await must('crane', 'tag', insecure, `${image}/brick:1.0`, 'latest');
  await must('crane', 'copy', insecure, `${image}/brick:1.0`, `${image}/wall:1.0`);
  expect((await must('crane', 'digest', insecure, `${image}/wall:1.0`)).trim()).toBe(digest);
  await must('crane', 'mutate', insecure, '-l', 'by=mason', '-t', `${image}/brick:1.1`, `${image}/brick:1.0`);
  expect((await must('crane', 'ls', insecure, `${image}/brick`)).trim().split('\n')).toEqual([
    '1.0',
    '1.1',
    'latest',
  ]);

  const levels = {
    minimum_access_level_for_push: 'maintainer',
    minimum_access_level_for_delete: 'maintainer',
  };
  const rule = await maintainer.api('POST /protection/tag/rules', { tag_name_pattern: '^2', ...levels });
  expect(rule.status).toBe(201);
  const tagged = await run('crane', 'tag', insecure, `${image}/brick:1.0`, '2.0');
  expect([tagged.code === 0, tagged.output]).toEqual([false, expect.stringContaining('DENIED')]);
  expect(tagged.output).toContain('protected by the pattern ^2');
  await maintainer.must('crane', 'tag', insecure, `${image}/brick:1.0`, '2.0');

  expect((await run('crane', 'delete', insecure, `${image}/brick@${digest}`)).code).not.toBe(0);
  await maintainer.must('crane', 'delete', insecure, `${image}/wall@${digest}`);
  expect((await run('crane', 'digest', insecure, `${image}/wall:1.0`)).code).not.toBe(0);
  const listed = await maintainer.api('GET /repositories?tags=true');
  const repositories = (await listed.json()) as { name: string; tags: { name: string }[] }[];
  expect(repositories.map(({ name, tags }) => [name, tags.map((tag) => tag.name)])).toEqual([
    ['brick', ['1.0', '1.1', '2.0', 'latest']],
  ]);
});
