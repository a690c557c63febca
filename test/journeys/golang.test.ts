/** go, which gets modules from the proxy of their project: the newest version, one that is named, one in a folder, and a commit. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mustRun, runDebian } from './debian.ts';
import { useGitbeaker } from './gitbeaker-client.ts';
import { makeFolder } from './support.ts';

const gitbeaker = useGitbeaker();

const GO = { program: 'go', pack: 'golang-go' };

test('go gets what is tagged', async () => {
  const { root, url } = gitbeaker;
  const group = await gitbeaker.makeGroup('Quarry', { visibility: 'public' });
  const project = await root.Projects.create({ name: 'Stone', namespaceId: group.id, visibility: 'public' });
  const module = `${new URL(url).hostname}/${project.path_with_namespace}`;
  const commit = (what: string, action: 'create' | 'update') =>
    root.Commits.create(
      project.id,
      'main',
      what,
      Object.entries({
        'go.mod': `module ${module}\n\ngo 1.18\n`,
        'stone.go': `package stone\n\nconst Kind = "${what}"\n`,
        'lib/go.mod': `module ${module}/lib\n\ngo 1.18\n`,
        'lib/lib.go': `package lib\n\nconst Kind = "${what} lib"\n`,
      }).map(([filePath, content]) => ({ action, filePath, content })),
    );
  await commit('old', 'create');
  for (const tag of ['v1.0.0', 'lib/v0.1.0']) await root.Tags.create(project.id, tag, 'main');
  await commit('new', 'update');
  await root.Tags.create(project.id, 'v1.1.0', 'main');
  const last = await commit('newest', 'update');

  const folder = makeFolder();
  const env = {
    GOPROXY: `${url}/api/v4/projects/${project.id}/packages/go`,
    GONOSUMDB: '*',
    GOTOOLCHAIN: 'local',
    // What is downloaded can be removed again.
    GOFLAGS: '-modcacherw -mod=mod',
  };
  mkdirSync(join(folder, 'app'));
  const app = join(folder, 'app');
  const go = (...args: string[]) => mustRun(GO, app, args, { ...env, HOME: folder });
  await go('mod', 'init', 'example.com/app');
  writeFileSync(
    join(app, 'main.go'),
    `package main\n\nimport (\n\t"fmt"\n\n\tstone "${module}"\n\t"${module}/lib"\n)\n\nfunc main() { fmt.Println(stone.Kind, lib.Kind) }\n`,
  );
  await go('get', `${module}@latest`, `${module}/lib@v0.1.0`);
  expect(await go('run', '.')).toBe('new old lib\n');
  await go('get', `${module}@v1.0.0`);
  expect(await go('run', '.')).toBe('old old lib\n');
  const stamp = new Date(last.committed_date ?? '').toISOString().replaceAll(/\D/g, '').slice(0, 14);
  await go('get', `${module}@v1.1.1-0.${stamp}-${last.id.slice(0, 12)}`);
  expect(await go('run', '.')).toBe('newest old lib\n');
  const missing = await runDebian(GO, app, ['get', `${module}@v1.5.0`], { ...env, HOME: folder });
  expect(missing).toMatchObject({ code: 1, output: expect.stringContaining('404') });
});
