/** Where packages are published in tests, and the credentials with which their programs come. */
import type { TestApp } from './app.ts';
import {
  bodyOf,
  type MadeGroup,
  type MadeProject,
  type MadeUser,
  makeGroup,
  makeMembers,
  makeProject,
} from './factories.ts';

export type Team = {
  group: MadeGroup;
  project: MadeProject;
  maintainer: MadeUser;
  developer: MadeUser;
  reporter: MadeUser;
  guest: MadeUser;
};

/** A private project in a private group, with a member of each role. */
export async function makeTeam(app: TestApp): Promise<Team> {
  const group = await makeGroup(app);
  const project = await makeProject(app, { namespace_id: group.id });
  const roles = ['maintainer', 'developer', 'reporter', 'guest'] as const;
  return { group, project, ...(await makeMembers(app, `projects/${project.id}`, ...roles)) };
}

/** From now on everybody reads the project. */
export async function openToAll(app: TestApp, { group, project }: Pick<Team, 'group' | 'project'>) {
  for (const path of [`groups/${group.id}`, `projects/${project.id}`])
    bodyOf(await app.root(`PUT /${path}`, { body: { visibility: 'public' } }), 200);
}

export type Headers = Record<string, string>;
/** The header of a user's own token. */
export const own = ({ token }: { token: string }): Headers => ({ 'private-token': token });
export const bearer = ({ token }: { token: string }): Headers => ({ authorization: `Bearer ${token}` });
export const basic = (username: string, token: string): Headers => ({
  authorization: `Basic ${Buffer.from(`${username}:${token}`).toString('base64')}`,
});
