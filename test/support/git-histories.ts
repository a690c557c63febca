/** Histories of any shape for projects, made by git itself, and what git says of them. */
import { projectRepository } from '../../src/domain/repositories/store/containers.ts';
import { git } from '../../src/platform/git/program/program.ts';
import type { TestApp } from './app.ts';
import { bodyOf } from './factories.ts';

/** Runs git in a project's repository; its output, in Latin-1, byte by byte. */
export const gitIn = (
  app: TestApp,
  projectId: number,
  args: readonly string[],
  input?: string | Buffer,
): Promise<string> =>
  app.app.services.repositories.write(projectRepository(projectId), 'main', async ({ folder }) =>
    (await git(args, { folder, ...(input !== undefined && { input }) })).toString('latin1'),
  );

/** A file as it is after a commit, in Latin-1; without a text it is removed. A submodule's text is its commit. */
export type HistoryFile = { path: string; text?: string; mode?: '100644' | '100755' | '120000' | '160000' };

function fileLine({ path, text, mode = '100644' }: HistoryFile): string {
  if (text === undefined) return `D ${path}\n`;
  return mode === '160000'
    ? `M ${mode} ${text} ${path}\n`
    : `M ${mode} inline ${path}\ndata ${text.length}\n${text}\n`;
}

/** Commits the files to a branch, upon `from` or nothing; the commit's id. */
export async function importCommit(
  app: TestApp,
  projectId: number,
  branch: string,
  files: readonly HistoryFile[],
  { from, message = 'Change', time = 1_700_000_000 }: { from?: string; message?: string; time?: number } = {},
): Promise<string> {
  const input = [
    `commit refs/heads/${branch}\ncommitter Ada <ada@example.com> ${time} +0000\n`,
    `data ${message.length}\n${message}\n`,
    ...(from === undefined ? [] : [`from ${from}\n`]),
    ...files.map(fileLine),
    '\n',
  ];
  await gitIn(app, projectId, ['fast-import', '--quiet', '--force'], Buffer.from(input.join(''), 'latin1'));
  return (await gitIn(app, projectId, ['rev-parse', `refs/heads/${branch}`])).trim();
}

/** Opens a merge request of root's between two branches; its record. */
export async function openBetween(app: TestApp, projectId: number, source: string, target = 'main') {
  const body = { title: `Merge ${source}`, source_branch: source, target_branch: target };
  return bodyOf(await app.root(`POST /projects/${projectId}/merge_requests`, { body }), 201);
}
