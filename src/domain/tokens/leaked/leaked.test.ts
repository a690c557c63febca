/** Tokens that an owner of a group has found, and ends by their value. */
import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  makeGroup,
  makeMembers,
  makeProject,
  makeUser,
} from '../../../../test/support/factories.ts';

const app = useApp();

test('tokens of a hierarchy are ended by its owners, and no others', async () => {
  const group = await makeGroup(app);
  const inner = await makeGroup(app, { parent_id: group.id });
  const project = await makeProject(app, { namespace_id: inner.id });
  const { owner, maintainer } = await makeMembers(app, `groups/${group.id}`, 'owner', 'maintainer');
  const member = await makeUser(app);
  await addMember(app, `projects/${project.id}`, member, 10);
  const stranger = await makeUser(app);
  const revoke = (token: string, by = owner) =>
    app.as(by.token)(`POST /groups/${group.id}/tokens/revoke`, { body: { token } });
  const make = async (path: string, body: Record<string, unknown> = {}) =>
    bodyOf(await app.root(`POST ${path}`, { body: { name: 'Token', scopes: ['api'], ...body } }), 201);

  expect((await revoke(member.token, maintainer)).status).toBe(403);
  expect((await revoke(member.token, stranger)).status).toBe(404);
  expect((await revoke(stranger.token)).status).toBe(422);
  expect((await revoke('nothing')).status).toBe(422);
  bodyOf(await app.as(stranger.token)('GET /user'), 200);

  expect(bodyOf(await revoke(member.token), 200)).toMatchObject({
    user_id: member.id,
    revoked: true,
    active: false,
  });
  expect((await app.as(member.token)('GET /user')).status).toBe(401);
  // A second time tells the same.
  expect(bodyOf(await revoke(member.token), 200)).toMatchObject({ revoked: true });

  const ofProject = await make(`/projects/${project.id}/access_tokens`);
  expect(bodyOf(await revoke(ofProject.token), 200)).toMatchObject({
    id: ofProject.id,
    resource_type: 'project',
    revoked: true,
  });
  const ofGroup = await make(`/groups/${inner.id}/access_tokens`);
  expect(bodyOf(await revoke(ofGroup.token), 200)).toMatchObject({ resource_type: 'group', revoked: true });
  for (const token of [ofProject.token, ofGroup.token])
    expect((await app.as(token)('GET /user')).status).toBe(401);

  const scopes = { scopes: ['read_repository'] };
  for (const place of [`/groups/${inner.id}`, `/projects/${project.id}`]) {
    const deploy = await make(`${place}/deploy_tokens`, scopes);
    const { token: _, ...record } = deploy;
    expect(bodyOf(await revoke(deploy.token), 200)).toEqual({ ...record, revoked: true });
  }
  const elsewhere = await makeProject(app);
  const foreign = await make(`/projects/${elsewhere.id}/access_tokens`);
  expect((await revoke(foreign.token)).status).toBe(422);
  const { token: deploys } = await make(`/projects/${elsewhere.id}/deploy_tokens`, scopes);
  expect((await revoke(deploys)).status).toBe(422);
  // Impersonation is the administrators'.
  const impersonating = await make(`/users/${maintainer.id}/impersonation_tokens`);
  expect((await revoke(impersonating.token)).status).toBe(422);
  expect(
    (await app.as(owner.token)(`POST /groups/${inner.id}/tokens/revoke`, { body: { token: 'x' } })).body,
  ).toEqual({ message: '400 Bad request - Tokens are revoked by top-level groups' });
});
