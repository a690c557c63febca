/** Identity tokens of jobs, as a service reads them that trusts the published keys. */
import { createLocalJWKSet, jwtVerify } from 'jose';
import { expect, test } from 'vitest';
import { type TestApp, useApp } from '../../../../test/support/app.ts';
import { addMember, bodyOf, makeGroup, makeProject, makeUser } from '../../../../test/support/factories.ts';
import { makeRunner, startPipeline } from '../../../../test/support/runner.ts';

const app: TestApp = useApp();
const FILE = `variables: { VAULT: https://vault.example }
live:
  script: deploy
  id_tokens:
    ONE: { aud: $VAULT }
    MANY: { aud: [first, second] }
  environment: { name: live, deployment_tier: production }
`;

test('are signed by the keys that are published, for the receivers that the file names', async () => {
  const group = await makeGroup(app);
  const project = await makeProject(app, { namespace_id: group.id });
  const user = await makeUser(app);
  await addMember(app, `groups/${group.id}`, user, 40);
  const runner = await makeRunner(app, project);
  const access = { name: 'live', deploy_access_levels: [{ access_level: 40 }] };
  bodyOf(await app.root(`POST /projects/${project.id}/protected_environments`, { body: access }), 201);
  await startPipeline(app, project, user, FILE);
  const job = await runner.take();

  const [one, many] = ['ONE', 'MANY'].map((name) => job.variables.find(({ key }) => key === name));
  expect([one, many]).toEqual([
    expect.objectContaining({ masked: true, public: false, raw: true }),
    expect.objectContaining({ masked: true, public: false, raw: true }),
  ]);
  const keys = createLocalJWKSet(bodyOf(await app.call('GET /oauth/discovery/keys', { raw: true }), 200));
  const issuer = app.app.services.baseUrl();
  const { payload, protectedHeader } = await jwtVerify(one?.value ?? '', keys, {
    issuer,
    audience: 'https://vault.example',
  });
  expect(protectedHeader).toMatchObject({ alg: 'RS256', kid: expect.any(String) });
  expect(payload).toMatchObject({
    sub: `project_path:${project.path_with_namespace}:ref_type:branch:ref:main`,
    project_id: String(project.id),
    namespace_path: group.full_path,
    user_login: user.username,
    user_access_level: 'maintainer',
    job_id: String(job.id),
    ref_protected: 'true',
    environment: 'live',
    environment_protected: 'true',
    deployment_tier: 'production',
    groups_direct: [group.full_path],
    sha: job.git_info.sha,
  });
  expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(3_600);
  const other = await jwtVerify(many?.value ?? '', keys, { issuer, audience: 'second' });
  expect(other.payload.aud).toEqual(['first', 'second']);
  expect(other.payload.jti).not.toBe(payload.jti);
  await expect(jwtVerify(many?.value ?? '', keys, { issuer, audience: 'third' })).rejects.toThrow();
  // It opens nothing here.
  for (const headers of [
    { authorization: `Bearer ${one?.value}` },
    { 'private-token': one?.value ?? '' },
    { 'job-token': one?.value ?? '' },
  ])
    expect((await app.call('GET /job', { headers })).status).toBe(401);
});
