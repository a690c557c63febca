/** The address of a module's repository for the go command. */
import { beforeAll, describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  type MadeUser,
  makeGroup,
  makeProject,
  makeUser,
} from '../../../../test/support/factories.ts';

const app = useApp();
let member: MadeUser;
/** Both in a group below a group: a path of three segments. */
let open: string;
let hidden: string;

beforeAll(async () => {
  member = await makeUser(app);
  const group = await makeGroup(app, { visibility: 'public' });
  const inner = await makeGroup(app, { parent_id: group.id, visibility: 'public' });
  const make = async (visibility: string) => {
    const project = await makeProject(app, { namespace_id: inner.id, visibility });
    await addMember(app, `projects/${project.id}`, member, 10);
    return project.path_with_namespace;
  };
  open = await make('public');
  hidden = await make('private');
});

async function ask(path: string, credentials?: string, query = 'go-get=1') {
  const headers = {
    ...(credentials !== undefined && {
      authorization: `Basic ${Buffer.from(credentials).toString('base64')}`,
    }),
  };
  const { status, text } = await app.call(`GET /${path}`, { raw: true, query, headers });
  const content = /<meta name="go-import" content="([^"]*)">/.exec(text)?.[1];
  return status === 200 ? content : status;
}

const of = (path: string) => `${new URL(app.url).host}/${path} git ${app.url}/${path}.git`;
const guess = (path: string) => of(path.split('/').slice(0, 2).join('/'));

describe('a module’s path', () => {
  test('leads to the project that it begins with', async () => {
    for (const path of [open, `${open}/v2`, `${open}/internal/deep/package`])
      expect([path, await ask(path)]).toEqual([path, of(open)]);
    expect(await ask(open, undefined, 'a=b&go-get=1')).toBe(of(open));
    expect(await ask(open.toUpperCase())).toBe(of(open.toUpperCase()));
  });

  test('of a project that is not seen is as of one that is not there', async () => {
    const missing = hidden.replace(/[^/]+$/, 'missing');
    expect([await ask(hidden), await ask(missing)]).toEqual([guess(hidden), guess(missing)]);
    expect(await ask('who/knows')).toBe(of('who/knows'));
    const stranger = await makeUser(app);
    expect(await ask(hidden, `any:${stranger.token}`)).toBe(guess(hidden));
    expect(await ask(hidden, 'any:wrong')).toBe(guess(hidden));
  });

  test('is looked up with the token that the go command has', async () => {
    expect(await ask(`${hidden}/v3`, `any:${member.token}`)).toBe(of(hidden));
    const token = async (...scopes: string[]) => {
      const body = { name: 'go', scopes };
      return bodyOf(await app.root(`POST /users/${member.id}/personal_access_tokens`, { body }), 201).token;
    };
    expect(await ask(hidden, `any:${await token('read_repository')}`)).toBe(of(hidden));
    expect(await ask(hidden, `any:${await token('read_user')}`)).toBe(guess(hidden));
  });

  test('has two segments, of what paths are made of, and asks for it', async () => {
    expect(await ask('alone')).toBe(404);
    expect(await ask('a/%22%3E%3Cscript%3E')).toBe(404);
    expect(await ask('a/b%0d%0ac')).toBe(404);
    expect(await ask(`x/${'y/'.repeat(500)}z`)).toBe(of('x/y'));
    for (const query of ['go-get=0', 'go-get', 'go_get=1'])
      expect(await ask(open, undefined, query)).toBeUndefined();
  });
});
