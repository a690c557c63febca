/** null for an optional parameter, as public clients send it: not given, unless null is one of its values. */
import { beforeAll, describe, expect, test } from 'vitest';
import { useApp } from '../support/app.ts';
import { bodyOf, type MadeProject, makeProject, uniqueName } from '../support/factories.ts';

const ashlar = useApp();

let project: MadeProject;
beforeAll(async () => {
  project = await makeProject(ashlar, { initialize_with_readme: true, visibility: 'internal' });
});
const inProject = (request: string): string => request.replace(':id', `${project.id}`);
const send = async (request: string, body: Record<string, unknown>, status: number) =>
  bodyOf(await ashlar.root(inProject(request), { body }), status);

describe('null that is not a value', () => {
  test('a file is saved as python-gitlab saves it', async () => {
    const file = {
      branch: 'main',
      start_branch: null,
      encoding: null,
      author_email: null,
      author_name: null,
      content: 'x',
      commit_message: 'Write',
    };
    await send('POST /projects/:id/repository/files/a.txt', file, 201);
    await send('PUT /projects/:id/repository/files/a.txt', { ...file, content: 'y' }, 200);
    const { content } = bodyOf(
      await ashlar.root(inProject('GET /projects/:id/repository/files/a.txt'), { query: 'ref=main' }),
      200,
    );
    expect(Buffer.from(content, 'base64').toString()).toBe('y');
  });

  test('within the actions of a commit', async () => {
    const action = {
      action: 'create',
      file_path: 'b.txt',
      previous_path: null,
      last_commit_id: null,
      execute_filemode: null,
    };
    const body = { branch: 'main', commit_message: 'Write', start_sha: null, actions: [action] };
    await send('POST /projects/:id/repository/commits', body, 201);
  });

  test('a project and a user get their defaults, and keep what they have', async () => {
    const path = uniqueName('project');
    const optional = { namespace_id: null, visibility: null, issues_access_level: null, lfs_enabled: null };
    const made = await send('POST /projects', { name: path, ...optional }, 201);
    expect(made).toMatchObject({ visibility: 'private', issues_access_level: 'enabled' });
    const kept = await send('PUT /projects/:id', { ...optional, default_branch: null, name: null }, 200);
    expect(kept).toMatchObject({ visibility: 'internal', default_branch: 'main', lfs_enabled: true });

    const username = uniqueName('user');
    const user = await send(
      'POST /users',
      {
        username,
        name: username,
        email: `${username}@example.com`,
        password: 'correct horse battery staple',
        admin: null,
        external: null,
        projects_limit: null,
      },
      201,
    );
    expect(user).toMatchObject({ is_admin: false, external: false });
    expect(
      await send(`PUT /users/${user.id}`, { admin: null, projects_limit: null, name: null }, 200),
    ).toMatchObject({ is_admin: false, projects_limit: user.projects_limit, name: username });
  });

  test('a confidential issue stays confidential', async () => {
    const { iid } = await send('POST /projects/:id/issues', { title: 'Secret', confidential: true }, 201);
    expect(
      await send(`PUT /projects/:id/issues/${iid}`, { confidential: null, title: 'Still' }, 200),
    ).toMatchObject({ confidential: true, title: 'Still' });
  });
});

describe('null that is a value', () => {
  test('takes a date, a description and the assignees away', async () => {
    const { id } = bodyOf(await ashlar.root('GET /user'), 200);
    const { iid } = await send(
      'POST /projects/:id/issues',
      { title: 'Due', due_date: '2030-01-01', description: 'x', assignee_ids: [id] },
      201,
    );
    const nothing = { due_date: null, description: null, assignee_ids: null };
    expect(await send(`PUT /projects/:id/issues/${iid}`, nothing, 200)).toMatchObject({
      due_date: null,
      description: null,
      assignees: [],
    });
  });
});

test('null for a required parameter is refused by name', async () => {
  const { message } = await send('POST /projects/:id/issues', { title: null }, 400);
  expect(message).toEqual({ title: ['is invalid'] });
});
