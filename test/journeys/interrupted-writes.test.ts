/** kill -9 between git's commit and its record: the next start shows the repositories' state. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import {
  projectRepository,
  projectWiki,
  repositoryPath,
  snippetRepository,
} from '../../src/domain/repositories/store/containers.ts';
import { connect } from '../../src/platform/db/database.ts';
import { reachEmbedded } from '../../src/platform/db/embedded/embedded.ts';
import { cleanUp, type Program, startProgram } from './support.ts';

afterAll(() => cleanUp());

const read = async (program: Program, request: string, body?: unknown) =>
  JSON.parse(await (await program.root(request, body)).text());

test('the files of a snippet, and the id of a page that was renamed, are right soon after', async () => {
  const dying = await startProgram();
  const { data } = dying;
  const files = [{ file_path: 'a.txt', content: 'a' }];
  const { id: snippet } = await read(dying, 'POST /snippets', {
    title: 'x',
    visibility: 'private',
    files,
  });
  const { id: project } = await read(dying, 'POST /projects', { name: 'x', path: 'x' });
  const page = { title: 'old', content: 'x' };
  const { wiki_page_meta_id } = await read(dying, `POST /projects/${project}/wikis`, page);

  // The record of a write waits for these rows; its beginning does not.
  const target = await reachEmbedded(data);
  if (!target) throw new Error('the database cannot be reached');
  const sql = connect(target, { max: 1, statementTimeout: 0, name: 'tests' });
  const connection = await sql.reserve();
  await connection`begin`;
  await connection`select from snippets for share`;
  await connection`select from wiki_pages for share`;
  const headOf = (key: Parameters<typeof repositoryPath>[0]): string => {
    const folder = join(data, 'repositories', repositoryPath(key));
    const args = ['-c', 'safe.directory=*', `--git-dir=${folder}`, 'rev-parse', 'main'];
    return spawnSync('git', args, { encoding: 'utf8' }).stdout;
  };
  const heads = () => [headOf(snippetRepository(snippet)), headOf(projectWiki(project))];
  const [first, second] = heads();
  const unanswered = [
    dying.root(`PUT /snippets/${snippet}`, {
      files: [{ action: 'create', file_path: 'b.txt', content: 'b' }],
    }),
    dying.root(`PUT /projects/${project}/wikis/old`, { title: 'new' }),
  ].map((response) => response.catch(() => undefined));
  await expect.poll(() => heads()[0], { timeout: 10_000 }).not.toBe(first);
  await expect.poll(() => heads()[1], { timeout: 10_000 }).not.toBe(second);
  dying.kill('SIGKILL');
  await dying.ended;
  await Promise.all(unanswered);
  await sql.end({ timeout: 0 }).catch(() => {});

  const program = await startProgram({ data });
  const paths = async () =>
    (await read(program, `GET /snippets/${snippet}`)).files.map(({ path }: { path: string }) => path);
  // The reconciling jobs run once a minute.
  await expect.poll(paths, { timeout: 120_000, interval: 500 }).toEqual(['a.txt', 'b.txt']);
  const idOfPage = async () => (await read(program, `GET /projects/${project}/wikis/new`)).wiki_page_meta_id;
  await expect.poll(idOfPage, { timeout: 10_000 }).toBe(wiki_page_meta_id);
  expect(await program.stop(), program.output()).toEqual({ code: 0, signal: null });
});

test('an event tells of what requests wrote to a project', async () => {
  const dying = await startProgram();
  const { data } = dying;
  const { id } = await read(dying, 'POST /projects', { name: 'x', path: 'x', initialize_with_readme: true });
  const branches = `/projects/${id}/repository/branches`;
  await read(dying, `POST ${branches}`, { branch: 'old', ref: 'main' });

  // The record of a push waits; its beginning does not.
  const target = await reachEmbedded(data);
  if (!target) throw new Error('the database cannot be reached');
  const sql = connect(target, { max: 1, statementTimeout: 0, name: 'tests' });
  const connection = await sql.reserve();
  await connection`begin`;
  await connection`lock table activity_events in share mode`;
  const actions = [{ action: 'create', file_path: 'a.txt', content: 'a' }];
  const unanswered = [
    dying.root(`POST ${branches}`, { branch: 'new', ref: 'main' }),
    dying.root(`DELETE ${branches}/old`),
    dying.root(`POST /projects/${id}/repository/commits`, { branch: 'main', commit_message: 'x', actions }),
    dying.root(`POST /projects/${id}/repository/tags`, { tag_name: 'v1', ref: 'main' }),
  ].map((response) => response.catch(() => undefined));
  const folder = join(data, 'repositories', repositoryPath(projectRepository(id)));
  const refs = () => {
    const args = ['-c', 'safe.directory=*', `--git-dir=${folder}`];
    const { stdout } = spawnSync('git', [...args, 'for-each-ref', '--format=%(refname:short)'], {
      encoding: 'utf8',
    });
    const commits = spawnSync('git', [...args, 'rev-list', '--count', 'main'], { encoding: 'utf8' }).stdout;
    return [...stdout.trim().split('\n'), Number(commits)];
  };
  await expect.poll(refs, { timeout: 10_000 }).toEqual(['main', 'new', 'v1', 2]);
  dying.kill('SIGKILL');
  await dying.ended;
  await Promise.all(unanswered);
  await sql.end({ timeout: 0 }).catch(() => {});

  const program = await startProgram({ data });
  const told = async () =>
    (await read(program, `GET /projects/${id}/events?action=pushed`)).map(
      ({ push_data: { action, ref } }: { push_data: { action: string; ref: string } }) => `${action} ${ref}`,
    );
  await expect
    .poll(async () => (await told()).sort(), { timeout: 120_000, interval: 500 })
    .toEqual(['created main', 'created new', 'created old', 'created v1', 'pushed main', 'removed old']);
  expect(await program.stop(), program.output()).toEqual({ code: 0, signal: null });
});
