/** Repositories with commits, made faster than through the API. */

import { recordPush } from '../../src/domain/repositories/pushes/pushes.ts';
import { projectRepository } from '../../src/domain/repositories/store/containers.ts';
import { NO_OBJECT } from '../../src/platform/git/names.ts';
import { git } from '../../src/platform/git/program/program.ts';
import { readRef } from '../../src/platform/git/refs.ts';
import type { TestApp } from './app.ts';

/** A `git fast-import` stream of one commit on a branch for each set of files, each upon the one before, the first upon `from`. */
export function importStream(
  commits: readonly Record<string, string>[],
  branch = 'main',
  { start = 1_700_000_000, from }: { start?: number; from?: string | undefined } = {},
): string {
  return commits
    .map((files, index) => {
      const message = `Commit ${index + 1}`;
      const who = `Ada Lovelace <ada@example.com> ${start + index} +0000`;
      const changes = Object.entries(files).map(
        ([path, text]) => `M 100644 inline ${path}\ndata ${Buffer.byteLength(text)}\n${text}\n`,
      );
      const upon = index === 0 && from !== undefined ? `from ${from}\n` : '';
      return `commit refs/heads/${branch}\nauthor ${who}\ncommitter ${who}\ndata ${Buffer.byteLength(message)}\n${message}\n${upon}${changes.join('')}\n`;
    })
    .join('');
}

/** Gives a project commits on a branch, as if root had pushed them; returns the branch's head. */
export async function fillProject(
  app: TestApp,
  projectId: number,
  commits: readonly Record<string, string>[] = [{ 'README.md': '# Hello\n' }],
  branch = 'main',
): Promise<string> {
  const { services } = app.app;
  const ref = `refs/heads/${branch}`;
  return services.repositories.write(projectRepository(projectId), branch, async (folder) => {
    const before = (await readRef(folder, ref)) ?? NO_OBJECT;
    await git(['fast-import', '--quiet', '--force'], {
      folder: folder.folder,
      input: importStream(commits, branch, { from: before === NO_OBJECT ? undefined : before }),
    });
    const after = (await readRef(folder, ref)) ?? NO_OBJECT;
    const root = { id: 1, username: 'root', name: 'Administrator' };
    await recordPush(services, { id: projectId, empty: true }, root, folder, [{ ref, before, after }]);
    return after;
  });
}
