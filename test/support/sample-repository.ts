/** A repository with every kind of entry: modes, bytes, and names that need care. */
import { projectRepository } from '../../src/domain/repositories/store/containers.ts';
import { git, gitText } from '../../src/platform/git/program/program.ts';
import type { TestApp } from './app.ts';
import { makeProject } from './factories.ts';
import { fillProject } from './repositories.ts';

export const SUBMODULE = '1234567890123456789012345678901234567890';
export const BINARY = Buffer.from([0, 1, 2, 255, 10, 13]);

/** The path of a project's repository on disk. */
export const folderOf = (app: TestApp, projectId: number): string =>
  app.app.services.repositories.folder(projectRepository(projectId), 'default');

/** git's output about it. */
export const askGit = async (app: TestApp, projectId: number, args: string[]): Promise<string> =>
  (await gitText(args, { folder: folderOf(app, projectId) })).trim();

/** A commit that the plain stream of the support cannot express: modes, bytes, names with quotes. */
async function commitSpecial(folder: string): Promise<void> {
  const who = 'Grace Hopper <grace@example.com> 1700000100 +0200';
  const parts = [
    `commit refs/heads/main\nauthor ${who}\ncommitter ${who}\ndata 7\nSpecial\nfrom refs/heads/main^0\n`,
    `M 100755 inline bin/run.sh\ndata 10\n#!/bin/sh\n\n`,
    `M 120000 inline link\ndata 9\nREADME.md\n`,
    `M 160000 ${SUBMODULE} lib\n`,
    `M 100644 inline binary.dat\ndata ${BINARY.length}\n`,
  ];
  const input = Buffer.concat([Buffer.from(parts.join('')), BINARY, Buffer.from('\n')]);
  await git(['fast-import', '--quiet'], { folder, input });
}

export type Sample = { id: number; path: string; head: string };

/** A private project of root's with the sample: three commits by Ada, one by Grace. */
export async function makeSample(app: TestApp): Promise<Sample> {
  const { id, path_with_namespace } = await makeProject(app);
  await fillProject(app, id, [
    { 'README.md': 'one\ntwo\n', 'src/main.ts': 'let a;\n', 'src/deep/er/x.py': 'pass\n', 'empty.txt': '' },
    { 'README.md': 'one\nTWO\nthree\n' },
    { 'with space.txt': 'space', 'größe/ñandú ✓.txt': 'unicode', 'star*.txt': 'star', ':colon': 'colon' },
  ]);
  await commitSpecial(folderOf(app, id));
  const head = await askGit(app, id, ['rev-parse', 'refs/heads/main']);
  return { id, path: path_with_namespace.split('/')[1] ?? '', head };
}
