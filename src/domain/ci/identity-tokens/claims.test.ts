import { expect, test } from 'vitest';
import { claimsOf, type JobIdentity } from './claims.ts';

const identity: JobIdentity = {
  issuer: 'https://ashlar.example:8443/sub',
  issuedAt: 1_000,
  timeout: 3_600,
  id: 'one',
  job: { id: 4 },
  pipeline: { id: 3, source: 'push', sha: 'a'.repeat(40), isProtected: true },
  ref: { name: 'main', kind: 'branch', full: 'main' },
  project: {
    id: 2,
    fullPath: 'quarry/app',
    namespaceId: 1,
    namespacePath: 'quarry',
    visibility: 'private',
    configPath: '.gitlab-ci.yml',
  },
  user: { id: 7, username: 'ada', email: 'ada@example.com', role: 'developer', groups: ['quarry'] },
  runnerId: 5,
};

test('a job is who started it, for what, and where', () => {
  expect(claimsOf(identity, ['https://vault.example'])).toEqual({
    iss: 'https://ashlar.example:8443/sub',
    sub: 'project_path:quarry/app:ref_type:branch:ref:main',
    aud: 'https://vault.example',
    iat: 1_000,
    nbf: 995,
    exp: 4_600,
    jti: 'one',
    namespace_id: '1',
    namespace_path: 'quarry',
    project_id: '2',
    project_path: 'quarry/app',
    user_id: '7',
    user_login: 'ada',
    user_email: 'ada@example.com',
    user_access_level: 'developer',
    job_project_id: '2',
    job_project_path: 'quarry/app',
    job_namespace_id: '1',
    job_namespace_path: 'quarry',
    pipeline_id: '3',
    pipeline_source: 'push',
    job_id: '4',
    ref: 'main',
    ref_type: 'branch',
    ref_path: 'refs/heads/main',
    ref_protected: 'true',
    groups_direct: ['quarry'],
    runner_id: 5,
    runner_environment: 'self-hosted',
    sha: 'a'.repeat(40),
    project_visibility: 'private',
    ci_config_ref_uri: 'ashlar.example:8443/sub/quarry/app//.gitlab-ci.yml@refs/heads/main',
    ci_config_sha: 'a'.repeat(40),
  });
});

test.each<[what: string, change: Partial<JobIdentity>, audience: string[], claims: object]>([
  ['several receivers', {}, ['one', 'two'], { aud: ['one', 'two'] }],
  [
    'a tag',
    { ref: { name: 'v1', kind: 'tag', full: 'v1' } },
    ['one'],
    { sub: 'project_path:quarry/app:ref_type:tag:ref:v1', ref_type: 'tag', ref_path: 'refs/tags/v1' },
  ],
  [
    'a merge request',
    { ref: { name: 'feature', kind: 'merge_request', full: 'refs/merge-requests/9/head' } },
    ['one'],
    { ref: 'feature', ref_type: 'branch', ref_path: 'refs/merge-requests/9/head' },
  ],
  [
    'an environment',
    { environment: { name: 'live', isProtected: true, tier: 'production', action: 'start' } },
    ['one'],
    {
      environment: 'live',
      environment_protected: 'true',
      deployment_tier: 'production',
      environment_action: 'start',
    },
  ],
])('%s', (_, change, audience, claims) => {
  expect(claimsOf({ ...identity, ...change }, audience)).toMatchObject(claims);
});

test('of very many groups none is told', () => {
  const groups = Array.from({ length: 201 }, (_, at) => `g${at}`);
  expect(claimsOf({ ...identity, user: { ...identity.user, groups } }, ['one'])).not.toHaveProperty(
    'groups_direct',
  );
});
