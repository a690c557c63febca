/** The project's repository: commits, branches, tags, files and statuses by each user's name. */

import { importStream } from '../../../test/support/repositories.ts';
import type { Samples } from '../../../test/support/samples.ts';
import { git } from '../../platform/git/program/program.ts';
import { readRef } from '../../platform/git/refs.ts';
import { projectRepository } from './index.ts';

/** The object that a file with Hello in it is. */
const HELLO = '5ab2f8a4323abafb10abb68657d9d39f1a775057';

/** Branches, tags and files are called as the users. */
const named = { table: 'users', column: 'username', where: () => `username like 'person-%'` };
/** The last commit is that of the last pipeline. */
const head = { table: 'pipelines', column: 'sha', newest: true } as const;
const created = { actions: [{ action: 'create', file_path: 'new', content: 'Hello' }] };

export const samples: Samples = {
  /** A commit by each user, and one more that adds a file and templates for each. The last is also the branch `1`. */
  async fill(app, count, { project }) {
    const { database, repositories } = app.app.services;
    const people = Array.from({ length: count }, (_, index) => `person-${index + 1}`);
    const commits = people.map((name, index) =>
      importStream([{ [name]: 'Hello' }], 'main', { start: 1_700_000_000 + index }).replaceAll(
        'Ada Lovelace <ada@example.com>',
        `${name} <${name}@example.org>`,
      ),
    );
    const folders = ['docs', '.gitlab/issue_templates', '.gitlab/merge_request_templates'];
    const files = folders.flatMap((folder) =>
      people.map((name) => [`${folder}/${name}${folder === 'docs' ? '' : '.md'}`, name]),
    );
    // A pipeline can be made of the last commit, and a package.
    const pipeline = ['.gitlab-ci.yml', 'build:\n  script: make\n'];
    const composer = ['composer.json', '{"name": "acme/stone"}'];
    const last = importStream([Object.fromEntries([...files, pipeline, composer])]);
    const refs = people.flatMap((name) => [`refs/heads/${name}`, `refs/tags/${name}`]);
    const resets = ['refs/heads/1', ...refs].map((ref) => `reset ${ref}\nfrom refs/heads/main\n\n`);
    const input = [...commits, last, ...resets].join('');
    const sha = await repositories.write(projectRepository(project), 'main', async (folder) => {
      await git(['fast-import', '--quiet'], { folder: folder.folder, input });
      return readRef(folder, 'refs/heads/main');
    });
    await database.sql.unsafe(`
      update projects set empty_repo = false, default_branch = 'main' where id = ${project};
      insert into project_counters as c (project_id, pipelines) values (${project}, 1)
        on conflict (project_id) do update set pipelines = c.pipelines + 1;
      with pipeline as (
        insert into pipelines (project_id, iid, sha, before_sha, ref, tag, source, status, protected, created_at, updated_at)
        values (${project}, (select pipelines from project_counters where project_id = ${project}), '${sha}', repeat('0', 40), 'main', false, 'external', 'success', false, now(), now()) returning id)
      insert into ci_jobs (pipeline_id, project_id, kind, stage, stage_index, name, status, user_id, created_at, updated_at)
        select p.id, ${project}, 'status', 'external', 1000000, username, 'success', u.id, now(), now()
        from pipeline p, users u where username like 'person-%'`);
  },
  /** The branch `behind`, from the commit before the last, with a submodule. */
  async guardedFill({ project }, { app }) {
    const [who, message] = ['Ada Lovelace <ada@example.com> 1700000100 +0000', 'data 6\nBehind\n'];
    const input = `commit refs/heads/behind\nauthor ${who}\ncommitter ${who}\n${message}from refs/heads/main~1\nM 160000 ${'2'.repeat(40)} lib\n`;
    await app.app.services.repositories.write(projectRepository(project), 'main', ({ folder }) =>
      git(['fast-import', '--quiet'], { folder, input }),
    );
  },
  objects: {
    'blobs/:sha': { value: HELLO },
    'branches/:branch': named,
    'commits/:noteable_id': head,
    'commits/:sha': head,
    'files/:file_path': named,
    'issues/:name': named,
    'merge_requests/:name': named,
    'repository/:format': { value: 'zip' },
    'statuses/:sha': head,
    'submodules/:submodule': { value: 'lib' },
    'tags/:tag_name': named,
  },
  // The commit that a file was changed by last.
  fields: {
    pipeline_id: 'pipelines',
    last_commit_id: null,
    source_template_project_id: 'projects',
  },
  requests: () => ({
    'GET /projects/:id/repository/compare': { with: { from: 'person-1', to: 'main' } },
    'GET /projects/:id/repository/merge_base': { with: { refs: ['person-1', 'main'] } },
    'POST /projects/:id/repository/branches': { with: { branch: 'new', ref: 'main' } },
    'POST /projects/:id/repository/files/:file_path': { at: { file_path: 'new' } },
    'POST /projects/:id/repository/files/:file_path, on a protected branch': {
      at: { file_path: 'new' },
      with: { branch: 'person-2' },
    },
    'POST /projects/:id/repository/tags': { with: { tag_name: 'new', ref: 'main' } },
    'POST /projects/:id/repository/tags, protected': { with: { tag_name: 'held', ref: 'main' } },
    'DELETE /projects/:id/repository/tags/:tag_name, protected': { at: { tag_name: 'person-2' } },
    'POST /projects/:id/repository/commits': { with: created },
    'POST /projects/:id/repository/commits, on a protected branch': {
      with: { branch: 'person-2', ...created },
    },
    'POST /projects/:id/repository/commits/:sha/cherry_pick': { with: { branch: 'behind' } },
    'POST /projects/:id/repository/commits/:sha/revert, on a protected branch': {
      with: { branch: 'person-2' },
    },
    'PUT /projects/:id/repository/submodules/:submodule': {
      with: { branch: 'behind', commit_sha: '1'.repeat(40) },
    },
  }),
};
