/** The health of repositories over HTTP, as git leaves them. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeMembers, makeProject } from '../../../../test/support/factories.ts';
import { fillProject } from '../../../../test/support/repositories.ts';
import { repackRepository } from '../../../platform/git/copies/housekeeping.ts';
import { git, gitText } from '../../../platform/git/program/program.ts';
import { projectRepository } from '../store/containers.ts';

const app = useApp();

test('a repository is told of before and after a repack', async () => {
  const { id } = await makeProject(app);
  await fillProject(app, id, [{ 'a.txt': 'a' }, { 'b.txt': 'b' }]);
  const read = async () => bodyOf(await app.root(`GET /projects/${id}/repository/health`), 200);
  const { folder } = app.app.services.repositories.open(projectRepository(id), 'default');
  await git(['hash-object', '-w', '--stdin'], { folder, input: 'loose' });
  const counted = async (name: string) => {
    const text = await gitText(['count-objects', '-v'], { folder });
    return Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(text)?.[1]);
  };
  const before = await read();
  expect(before).toMatchObject({
    references: { loose_count: 1, packed_size: 0, reference_backend: 'REFERENCE_BACKEND_FILES' },
    objects: {
      packfile_count: await counted('packs'),
      loose_objects_count: await counted('count'),
      stale_loose_objects_count: 0,
      loose_objects_garbage_count: 0,
    },
    commit_graph: null,
    alternates: null,
    last_full_repack: null,
    updated_at: expect.any(String),
  });
  expect(before.objects.loose_objects_count).toBeGreaterThan(0);
  await writeFile(join(folder, 'objects/pack/tmp_pack_x'), 'x');
  await repackRepository(folder, { whole: false });
  const after = await read();
  expect(after).toMatchObject({
    references: { loose_count: 0 },
    objects: { packfile_count: await counted('packs'), loose_objects_garbage_count: 1 },
    commit_graph: { commit_graph_chain_length: 1, has_generation_data: true },
    multi_pack_index: { packfile_count: await counted('packs'), version: 1 },
    multi_pack_index_bitmap: { version: 1 },
  });
  expect(after.references.packed_size).toBeGreaterThan(0);
  expect(after.objects.size).toBe(after.objects.recent_size + after.objects.stale_size);
  await repackRepository(folder, { whole: true });
  expect((await read()).bitmap).toMatchObject({ version: 1 });
});

test('it is for Maintainers, and 404 without a repository', async () => {
  const { id } = await makeProject(app);
  const { developer, maintainer } = await makeMembers(app, `projects/${id}`, 'developer', 'maintainer');
  const path = `GET /projects/${id}/repository/health`;
  expect((await app.as(developer.token)(path)).status).toBe(403);
  const none = await app.as(maintainer.token)(path);
  expect([none.status, none.body]).toEqual([404, { message: '404 Repository Not Found' }]);
  await fillProject(app, id);
  expect((await app.as(maintainer.token)(path)).status).toBe(200);
});
