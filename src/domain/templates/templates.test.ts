/** Templates of the instance and of projects: what there is, and who reads it. */
import { describe, expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import { bodyOf, makeProject, makeUser } from '../../../test/support/factories.ts';
import { dockerfiles } from './dockerfiles.ts';

const app = useApp();
const kinds = ['dockerfiles', 'gitignores', 'gitlab_ci_ymls'] as const;
const year = new Date().getUTCFullYear();

describe('of the instance', () => {
  test.each([
    ['dockerfiles', 'Node', 'FROM node:'],
    ['gitignores', 'C++', '*.o'],
    ['gitlab_ci_ymls', 'Getting-Started', 'stages:'],
    ['gitlab_ci_ymls', 'Workflows/Branch-Pipelines', 'workflow:'],
  ])('%s has %s', async (kind, name, text) => {
    const path = `/templates/${kind}`;
    const all = bodyOf(await app.call(`GET ${path}`, { query: 'per_page=100' }), 200);
    const names = [...all];
    if (all.length === 100)
      names.push(...bodyOf(await app.call(`GET ${path}`, { query: 'per_page=100&page=2' }), 200));
    expect(names).toContainEqual({ key: name, name });
    const one = bodyOf(await app.call(`GET ${path}/${encodeURIComponent(name)}`), 200);
    expect(one).toEqual({ name, content: expect.stringContaining(text) });
  });

  test('a list has pages', async () => {
    const { headers, body } = await app.call('GET /templates/gitignores', { query: 'per_page=50&page=2' });
    const shown = ['x-total', 'x-total-pages', 'x-page'].map((name) => headers.get(name));
    expect([body.length, ...shown]).toEqual([50, '180', '4', '2']);
    expect(headers.get('link')).toContain('rel="next"');
  });

  test('404 for what there is not', async () => {
    for (const kind of [...kinds, 'licenses'])
      for (const name of ['nothing', 'constructor', '__proto__', '..%2Fdata', '%00'])
        expect([kind, name, (await app.call(`GET /templates/${kind}/${name}`)).status]).toEqual([
          kind,
          name,
          404,
        ]);
    expect((await app.call('GET /templates/issues')).status).toBe(404);
  });

  test('licenses are whole, and popular ones are asked for', async () => {
    const all = bodyOf(await app.call('GET /templates/licenses', { query: 'per_page=100' }), 200);
    expect(all).toHaveLength(13);
    for (const license of all) {
      expect(license.content.length).toBeGreaterThan(900);
      expect(license.permissions).toContain('commercial-use');
      expect(license.limitations).toContain('warranty');
    }
    const popular = async (value: string) =>
      bodyOf(await app.call('GET /templates/licenses', { query: `popular=${value}` }), 200).map(
        ({ key }: { key: string }) => key,
      );
    expect(await popular('true')).toEqual(['apache-2.0', 'gpl-3.0', 'mit']);
    expect(await popular('false')).toHaveLength(10);
  });

  test('the text of a license has its year, its program and its holder', async () => {
    const read = async (name: string, query = '') =>
      bodyOf(await app.call(`GET /templates/licenses/${name}`, { query }), 200);
    const mit = await read('mit', 'fullname=Ada%20%24%26&project=Engine');
    expect(mit).toMatchObject({
      key: 'mit',
      name: 'MIT License',
      nickname: null,
      popular: true,
      html_url: 'https://choosealicense.com/licenses/mit/',
      conditions: ['include-copyright'],
    });
    expect(mit.content).toContain(`Copyright (c) ${year} Ada $&\n`);
    expect((await read('MIT')).content).toContain(`Copyright (c) ${year} [fullname]\n`);
    expect((await read('gpl-3.0', 'project=Engine')).content).toContain('Engine');
    const user = await makeUser(app);
    const { name } = bodyOf(await app.as(user.token)('GET /user'), 200);
    expect(bodyOf(await app.as(user.token)('GET /templates/licenses/apache-2.0'), 200).content).toContain(
      `Copyright ${year} ${name}`,
    );
    const long = await app.call('GET /templates/licenses/mit', { query: `fullname=${'a'.repeat(1_001)}` });
    expect(long.status).toBe(400);
  });
});

describe('of a project', () => {
  test('are those of the instance, for those who read it', async () => {
    const project = await makeProject(app);
    const user = await makeUser(app);
    for (const kind of kinds) {
      const line = `GET /projects/${project.id}/templates/${kind}`;
      const names = bodyOf(await app.root(line), 200);
      expect(names).toEqual(bodyOf(await app.call(`GET /templates/${kind}`), 200));
      const name = encodeURIComponent(names[0].name);
      expect(bodyOf(await app.root(`${line}/${name}`), 200)).toEqual(
        bodyOf(await app.call(`GET /templates/${kind}/${name}`), 200),
      );
      for (const each of [line, `${line}/${name}`]) {
        expect((await app.call(each)).status).toBe(404);
        expect((await app.as(user.token)(each)).status).toBe(404);
      }
    }
    const line = `GET /projects/${project.id}/templates/licenses`;
    expect(bodyOf(await app.root(line), 200)).toContainEqual({ key: 'mit', name: 'MIT License' });
    const one = bodyOf(await app.root(`${line}/mit`, { query: 'fullname=Ada' }), 200);
    expect(one.content).toContain(`${year} Ada`);
    expect((await app.root(`GET /projects/${project.id}/templates/metrics`)).status).toBe(404);
  });
});

test.each([...dockerfiles])(
  'the Dockerfile %s begins from an image, and has known instructions',
  (_name, text) => {
    const instructions = text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.split(' ')[0] ?? '');
    expect(instructions[0]).toBe('FROM');
    const known = ['FROM', 'RUN', 'COPY', 'WORKDIR', 'ENV', 'USER', 'EXPOSE', 'CMD'];
    expect(instructions.filter((each) => !known.includes(each))).toEqual([]);
    // What is copied from a stage is copied from one that there is.
    for (const [, stage] of text.matchAll(/--from=(\w+)/g))
      expect(text).toMatch(new RegExp(`^FROM \\S+ AS ${stage}$`, 'm'));
  },
);
